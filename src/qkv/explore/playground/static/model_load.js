import { formatText } from "./format_text.js";

// A box's model, once: at the reader's first touch.

/**
 * @param {{loadEngine: Function, load: Function}} source
 * @param {Session} session
 * @param {{say: (text: string) => void}} status
 * @param {Object<string, string>} labels words for the reader
 * @param {(engine: object, translator: object) => void} use
 * @returns {() => Promise<boolean>} whether there is a model now; after a failure it tries again
 */
export function modelLoad(source, session, status, labels, use) {
  let loading = null;

  async function loadOnce() {
    if (session.translator) return true;
    status.say(labels.loading);
    const [engine, translator] = await Promise.all([source.loadEngine(), source.load()]);
    if (!session.translator) use(engine, translator);
    return true;
  }

  return () => {
    loading ??= loadOnce().catch((error) => {
      loading = null;
      status.say(formatText(labels["load failed"], { error: error.message }));
      return false;
    });
    return loading;
  };
}
