// Loads the trained translator into a page, at the first touch and not before: the engine, which is
// qkv.javascript in one script, and its parameters in another. Scripts, because a page that was opened from
// a file may load neither modules nor data.
(() => {
  const here = document.currentScript.src;
  const waiting = new Map(); // by address

  // Adds a script once; after a failure, the next call tries again.
  function addScript(address) {
    if (!waiting.has(address)) {
      const script = Object.assign(document.createElement("script"), { src: new URL(address, here) });
      const loaded = new Promise((resolve, reject) => {
        script.onload = resolve;
        const [file] = address.split("?");
        script.onerror = () => reject(new Error(gettext("{file} could not be loaded", { file })));
      });
      waiting.set(address, loaded);
      loaded.catch(() => waiting.delete(address));
      document.head.append(script);
    }
    return waiting.get(address);
  }

  // What qkv.javascript/index.js exports, to open a model of the reader's own with.
  async function loadEngine() {
    await addScript("{{ engine }}");
    return globalThis.qkvEngine;
  }

  // The translator that comes with the book (translator.js there says what it does).
  async function load() {
    const [engine] = await Promise.all([loadEngine(), addScript("{{ parameters }}")]);
    translator ??= engine.openPretrained(globalThis.qkvParameters);
    delete globalThis.qkvParameters; // a megabyte of text
    return translator;
  }

  let translator;
  globalThis.qkvModel = { load, loadEngine, bytes: {{ bytes }} }; // of both scripts
})();
