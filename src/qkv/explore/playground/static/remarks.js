import { formatText } from "./format_text.js";

// What is said of an answer: what was read in place of words, and how far it can be trusted.

/**
 * @param {Session} session with the outcome of a sentence
 * @param {Object<string, string>} labels words for the reader
 * @returns {string[]} sentences
 */
export function remarks({ outcome, translator, readInstead }, labels) {
  const words = readInstead.map((each) => formatText(labels["read instead"], each)).join(", ");
  const said = words ? [formatText(labels.read, { words })] : [];
  const known = translator.isKnownSentence(outcome.ids); // undefined where it cannot be told
  const count = translator.sentences?.size.toLocaleString("en");
  const own = outcome.translation === outcome.untouched ? labels.known : labels.changed;
  if (known !== undefined) said.push(formatText(known ? own : labels.guess, { count }));
  const { length } = outcome.steps;
  if (!outcome.steps.at(-1).isEnd) said.push(formatText(labels.cut, { count: length }));
  return said;
}
