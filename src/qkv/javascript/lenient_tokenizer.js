import { closestMatch } from "./close_matches.js";
import { InputError, shorten } from "./input_error.js";
import { normalizeLetters } from "./normalization.js";
import { spellOut } from "./short_forms.js";
import { Tokenizer } from "./tokenizer.js";

// A word-level tokenizer that forgives case and a full stop, and names unknown words.

const SENTENCE_ENDS = ".!?。 ";
const MOST_NAMED = 4; // unknown words; the others are counted
const LONGEST_WORD = 30; // characters that a message shows, and up to which a near word is looked for

export class LenientTokenizer extends Tokenizer {
  /** @param {object} vocabulary as `Tokenizer` takes it, with the `language` of its words */
  constructor(vocabulary) {
    super(vocabulary);
    this.language = vocabulary.language;
  }

  isClosed(text) {
    const normalized = normalizeLetters(text);
    return withoutStop(normalized) !== normalized;
  }

  /** The words of a text, its case and letters normalized and the stop at its end passed over. */
  split(text) {
    const words = withoutStop(normalizeLetters(text)).split(" ").filter(Boolean);
    return words.map((word, n) => this.matchCase(word, n === 0) ?? word);
  }

  /**
   * The ids (T,) of a sentence.
   * @throws {InputError} it holds a word that is not in the vocabulary; `words` has those that it names
   */
  encode(text) {
    const unknown = [...new Set(this.split(text).filter((word) => !this.ids.has(word)))];
    if (!unknown.length) return super.encode(text);
    const named = unknown.slice(0, MOST_NAMED);
    const words = named.map((word) => ({ word: shorten(word, LONGEST_WORD), near: this.near(word) }));
    const nearest = (near) => (near ? ` (near ${quote(near)})` : "");
    const more = unknown.length > MOST_NAMED ? ` and ${unknown.length - MOST_NAMED} more` : "";
    const list = words.map(({ word, near }) => quote(word) + nearest(near)).join(", ") + more;
    const known = letters(this.ids.keys());
    const foreign = ![...letters(unknown)].some((letter) => known.has(letter));
    const message = foreign
      ? `This model reads ${this.language}, and not ${list}.`
      : `The model does not know ${list}.`;
    throw new InputError(message, "unknown", { words });
  }

  /** The token that differs from a word in case alone; capitalized, if need be, at the start. */
  matchCase(word, isFirst) {
    const lower = word.toLowerCase();
    const capitalized = lower.slice(0, 1).toUpperCase() + lower.slice(1);
    const order = isFirst ? [capitalized, lower] : [lower, capitalized];
    return order.find((token) => this.ids.has(token));
  }

  /** The known words for an unknown one: "do not" for "don't", else the one that is spelt most like it. */
  near(word) {
    if (shorten(word, LONGEST_WORD) !== word) return undefined;
    const spelt = spellOut(word)?.map((part) => this.matchCase(part, false));
    return spelt?.every(Boolean) ? spelt.join(" ") : closestMatch(word.toLowerCase(), this.ids.keys());
  }
}

// From the end, for a regular expression would try each stop of a pasted page.
function withoutStop(text) {
  let end = text.length;
  while (end && SENTENCE_ENDS.includes(text[end - 1])) end--;
  return text.slice(0, end);
}

// As Python writes a text.
const quote = (word) => (word.includes("'") && !word.includes('"') ? `"${word}"` : `'${word}'`);

const letters = (words) => new Set([...words].join("").toLowerCase().match(/\p{L}/gu));
