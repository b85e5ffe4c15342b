import { BytePairEncoder } from "./bpe.js";
import { InputError } from "./input_error.js";
import { normalizeCharacters, normalizeText } from "./normalization.js";

// Tokenizer: a vocabulary of words, BPE pieces or characters, and text to ids and back.

const SPECIAL_TOKENS = ["<pad>", "<sos>", "<eos>", "<unk>"];
export const SOS = SPECIAL_TOKENS.indexOf("<sos>");
export const EOS = SPECIAL_TOKENS.indexOf("<eos>");
const UNK = SPECIAL_TOKENS.indexOf("<unk>");

const TOO_LONG = /^.{1001}|\p{M}{31}/su; // a token that the page takes long to normalize or to lay out

const areTexts = (list) => Array.isArray(list) && list.every((text) => typeof text === "string");

export class Tokenizer {
  /**
   * @param {object} vocabulary as `Tokenizer.save` writes it
   * @param {string[]} vocabulary.tokens by id; the first four are the special ones
   * @param {string[]} [vocabulary.merges] of BPE; without, a token is a whole word
   * @param {boolean} [vocabulary.characters] each token is one character
   * @throws {InputError} it is no vocabulary
   */
  constructor({ tokens, merges, characters = false }) {
    if (!Array.isArray(tokens) || SPECIAL_TOKENS.some((token, id) => tokens[id] !== token))
      throw new InputError(`The tokens must begin with ${SPECIAL_TOKENS.join(" ")}.`, "file");
    if (!areTexts(tokens) || !areTexts(merges ?? []) || new Set(tokens).size !== tokens.length)
      throw new InputError("The tokens and merges must be texts, and each token stands once.", "file");
    if (tokens.some((token) => TOO_LONG.test(token)))
      throw new InputError("A token has more than 1000 characters, or more than 30 marks on one.", "file");
    Object.assign(this, { tokens, characters, bpe: merges && new BytePairEncoder(merges) });
    // A word of the text that is spelt like a special token is not that token.
    this.ids = new Map(tokens.map((token, id) => [token, id]).slice(SPECIAL_TOKENS.length));
  }

  /** Whether a word may be several tokens. */
  get hasSubwords() {
    return this.characters || Boolean(this.bpe);
  }

  /** Whether a text has a stop at its end, behind which no word follows. */
  isClosed() {
    return false;
  }

  /** The token that a word may be spelt as; here none but itself. */
  matchCase(word) {
    return word;
  }

  /** The token that a word is read as; here none but itself. */
  readAs(word) {
    return word;
  }

  /** Words of a text in place of which others are read; here none. */
  readInstead() {
    return [];
  }

  /** The tokens of a text, normalized first. */
  split(text) {
    if (this.characters) return [...normalizeCharacters(text)];
    const normalized = normalizeText(text);
    return this.bpe ? this.bpe.encode(normalized) : normalized.split(" ").filter(Boolean);
  }

  /** The ids (T,) of a text; what the vocabulary lacks becomes <unk>. */
  encode(text) {
    return this.split(text).map((token) => this.ids.get(token) ?? UNK);
  }

  /** The text of ids (T,), special tokens left out. */
  decode(ids) {
    const pieces = ids.filter((id) => id >= SPECIAL_TOKENS.length).map((id) => this.tokens[id]);
    if (this.characters) return pieces.join("");
    return this.bpe ? normalizeText(pieces.join("")) : pieces.join(" ");
  }
}
