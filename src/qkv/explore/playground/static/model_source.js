import { formatText } from "./format_text.js";

// Where the translator comes from: a page of the book holds it, and elsewhere a kernel sends it.

const PATIENCE = 20_000; // ms for a kernel's answer

/** What a kernel sends of its model: configuration and vocabularies, then the bytes of the parameters. */
function askKernel(model, labels) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(labels["no kernel"])), PATIENCE);
    model.on("msg:custom", function answered({ type, content }, [view] = []) {
      if (type !== "model") return;
      clearTimeout(timer);
      model.off("msg:custom", answered);
      resolve([content, view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength)]);
    });
    model.send({ type: "model" });
  });
}

/**
 * Loads at most once, and after a failure again when it is asked again.
 * @param {object} model the widget's
 * @param {object} [engine] what index.js of qkv.javascript exports, where it came with the widget
 * @returns {{isPage: boolean, loadEngine: () => Promise<object>, load: () => Promise<object>}}
 */
export function modelSource(model, engine, labels) {
  if (globalThis.qkvModel || !engine) {
    const page = () => globalThis.qkvModel; // of book/assets/load_model.js
    return { isPage: true, loadEngine: async () => page().loadEngine(), load: async () => page().load() };
  }
  let loading = null;
  const load = async () => new engine.Translator(...(await askKernel(model, labels)));
  return { isPage: false, loadEngine: async () => engine, load() {
    loading ??= load().catch((error) => {
      loading = null;
      throw error;
    });
    return loading;
  } };
}

/**
 * A box's model, at the reader's first touch.
 * @param {{loadEngine: Function, load: Function}} source
 * @param {Session} session
 * @param {{say: Function, replace: Function}} status
 * @param {Object<string, string>} labels words for the reader
 * @param {(engine: object, translator: object) => void} take
 * @returns {() => Promise<boolean>} whether there is a model now; after a failure it tries again
 */
export function modelLoad(source, session, status, labels, take) {
  let loading = null;

  async function loadOnce() {
    if (session.translator) return true;
    status.say(labels.loading);
    try {
      const [engine, translator] = await Promise.all([source.loadEngine(), source.load()]);
      if (!session.translator) take(engine, translator);
      status.replace(labels.loading, labels.loaded); // what was typed meanwhile may have been refused
      return true;
    } catch (error) {
      status.say(formatText(labels["load failed"], { error: error.message }));
      return false;
    }
  }

  return () => {
    loading ??= loadOnce().finally(() => { loading = null; });
    return loading;
  };
}
