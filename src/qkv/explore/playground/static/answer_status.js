import { formatText } from "./format_text.js";
import { html } from "../../framework/static/elements.js";
import { markKorean } from "../../framework/static/korean.js";
import { remarks } from "./remarks.js";
import { replaceWord } from "./near_words.js";
import { translationText } from "./panel_objects.js";

// What a box says of the answer that it shows, and of a sentence that has none.

/**
 * @param {Element} root of the box
 * @param {Session} session
 * @param {{say: Function}} status the line in which it stands
 * @param {Object<string, string>} labels words for the reader
 */
export function answerStatus(root, session, status, labels) {
  const announcement = html("output", { className: "qkv-announcement", ariaLive: "polite" });

  /** Sentences, and whose answer stands below if it is another sentence's. */
  function say(sentences, actions) {
    root.classList.toggle("qkv-stale", session.isStale);
    const sentence = session.isStale && session.translator.source.decode(session.outcome.ids);
    const old = session.isStale ? [formatText(labels["old answer"], { sentence })] : [];
    status.say([...sentences, ...old].join(" "), actions);
  }

  function finish() {
    const translation = translationText(session.outcome.translation, labels);
    announcement.textContent = formatText(labels["translation is"], { translation });
    say(session.isStale ? [] : remarks(session, labels));
    markKorean(root);
  }

  /** What the model cannot take it says itself, with words that it knows. */
  function refuse(error, form) {
    const near = (error.words ?? []).filter((word) => word.near);
    const mend = ({ word, near }) => [formatText(labels.instead, { word, near }),
      () => form.submitText(replaceWord(form.text, word, near))];
    const failed = () => formatText(labels.failed, { error: error.message });
    const text = error.name === "InputError" ? error.translated(labels) : failed();
    say([text], near.map(mend));
    if (error.name !== "InputError") console.error(error);
  }

  return { announcement, say, finish, refuse };
}
