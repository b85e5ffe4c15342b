// Where the translator comes from: a page of the book holds it, and elsewhere a kernel sends it.

const PATIENCE = 20_000; // ms for a kernel's answer

/** On a page of the book, scripts beside it (book/assets/load_model.js). */
const pageSource = {
  isPage: true,
  loadEngine: async () => globalThis.qkvModel.loadEngine(),
  load: async () => globalThis.qkvModel.load(),
};

/** In a notebook, the engine came with the widget, and the kernel sends the parameters. */
function kernelSource(model, engine, labels) {
  const ask = () => new Promise((resolve, reject) => {
    const answered = (message, buffers) => message.type === "model" && settle(resolve, [message.content, buffers[0]]);
    const settle = (end, value) => {
      clearTimeout(timer);
      model.off("msg:custom", answered);
      end(value);
    };
    const timer = setTimeout(settle, PATIENCE, reject, new Error(labels["no kernel"]));
    model.on("msg:custom", answered);
    model.send({ type: "model" });
  });
  return { isPage: false, loadEngine: async () => engine, async load() {
    const [content, view] = await ask();
    const bytes = view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength);
    return new engine.Translator(content, bytes);
  } };
}

/**
 * Loads at most once, and after a failure again when it is asked again.
 * @param {object} model the widget's
 * @param {object} [engine] what index.js of qkv.javascript exports, where it came with the widget
 * @returns {{isPage: boolean, loadEngine: () => Promise<object>, load: () => Promise<object>}}
 */
export function modelSource(model, engine, labels) {
  const source = globalThis.qkvModel || !engine ? pageSource : kernelSource(model, engine, labels);
  let loading = null;
  return { ...source, load() {
    loading ??= source.load().catch((error) => {
      loading = null;
      throw error;
    });
    return loading;
  } };
}
