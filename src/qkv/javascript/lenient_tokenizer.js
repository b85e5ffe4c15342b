import { closestMatch } from "./close_matches.js";
import { InputError, shorten } from "./input_error.js";
import { normalizeLetters } from "./normalization.js";
import { spellOut } from "./short_forms.js";
import { Tokenizer } from "./tokenizer.js";

// A word-level tokenizer that forgives case, a full stop, articles and plurals, and names unknown words.

const SENTENCE_ENDS = ".!?。 ";
// Korean has no articles and needs no plural, so that a translation stays the same.
const ARTICLES = ["a", "an"]; // read as "the"
const PLURALS = [["s", ""], ["es", ""], ["ies", "y"]];
const SHORTEST_NOUN = 3; // characters: "its" is no plural
const ADVICE = new Map([["and", "{word} (write two sentences)"]]);
const NEAR = "{word} (near {near})";
const AND_MORE = "{list} and {count} more";
const UNKNOWN = "The model does not know {list}.";
const FOREIGN = "This model reads {language}, and not {list}.";
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
    const words = this.split(text);
    const ids = words.map((word, n) => this.ids.get(this.readAs(word, n === 0)));
    const unknown = [...new Set(words.filter((_, n) => ids[n] === undefined))];
    if (!unknown.length) return ids;
    const named = unknown.slice(0, MOST_NAMED);
    const nearby = named.map((word) => ({ word: shorten(word, LONGEST_WORD), near: this.near(word) }));
    const shown = nearby.map(({ word, near }) => {
      const values = { word: quote(word), near: near && quote(near) };
      return { template: near ? NEAR : ADVICE.get(word.toLowerCase()) ?? "{word}", values };
    });
    const count = unknown.length - MOST_NAMED;
    const list = count > 0 ? { template: AND_MORE, values: { list: shown, count } } : shown;
    const known = letters(this.ids.keys());
    const foreign = ![...letters(unknown)].some((letter) => known.has(letter));
    const template = foreign ? FOREIGN : UNKNOWN;
    throw new InputError({ template, values: { list, language: this.language } }, "unknown", { words: nearby });
  }

  /** The token that differs from a word in case alone; capitalized, if need be, at the start. */
  matchCase(word, isFirst) {
    const lower = word.toLowerCase();
    const capitalized = lower.slice(0, 1).toUpperCase() + lower.slice(1);
    const order = isFirst ? [capitalized, lower] : [lower, capitalized];
    return order.find((token) => this.ids.has(token));
  }

  /** The token that a word is read as: "the" for "a" and "an", a noun for its plural; else itself. */
  readAs(word, isFirst) {
    if (this.ids.has(word)) return word;
    const lower = word.toLowerCase();
    const stems = PLURALS.filter(([end]) => lower.endsWith(end))
      .map(([end, singular]) => lower.slice(0, -end.length) + singular);
    const nouns = stems.filter((stem) => stem.length >= SHORTEST_NOUN);
    const candidates = ARTICLES.includes(lower) ? ["the"] : nouns;
    return candidates.map((other) => this.matchCase(other, isFirst)).find(Boolean) ?? word;
  }

  /** The words of a text in place of which others are read, each once: [{word, read}]. */
  readInstead(text) {
    const pairs = this.split(text).map((word, n) => [word, this.readAs(word, n === 0)]);
    return [...new Map(pairs.filter(([word, read]) => read !== word))].map(([word, read]) => ({ word, read }));
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
