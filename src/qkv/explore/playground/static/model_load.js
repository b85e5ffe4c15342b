import { formatText } from "./format_text.js";

// A box's model, once: at the reader's first touch.

/**
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
    const [engine, translator] = await Promise.all([source.loadEngine(), source.load()]);
    if (!session.translator) take(engine, translator);
    status.replace(labels.loading, labels.loaded); // what was typed meanwhile may have been refused
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
