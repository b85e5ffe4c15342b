import { beamSearchInSteps } from "./beam_search.js";
import { checkConfig } from "./config.js";
import { greedy } from "./greedy.js";
import { atOnce } from "./in_steps.js";
import { InputError, shortenJson } from "./input_error.js";
import { LenientTokenizer } from "./lenient_tokenizer.js";
import { parameterCount, parameterTree } from "./parameters.js";
import { readSafetensors } from "./safetensors.js";
import { sample } from "./sampling.js";
import { SentenceAutomaton } from "./sentence_automaton.js";
import { suggestions } from "./suggestions.js";
import { EOS, SOS, Tokenizer } from "./tokenizer.js";
import { Transformer } from "./transformer.js";

/*
 * Translator: a Transformer with its tokenizers, from text to text, in the page.
 *
 *   const translator = await qkvModel.load(); // not before the first touch
 *   const ids = translator.encode("The cat sat on the mat"); // throws an InputError that says why not
 *   const state = translator.startDecoding(ids, {
 *     switchedOff: { "decoder.layers.0.cross_attention": [1] }, // heads that write zeros; left out: none
 *     positions: { encoder: false }, // of the source, no token knows where it stands; left out: true
 *   });
 *   state.encoderMaps["encoder.layers.1.self_attention"][0].row(5); // weights (S,) of head 0, query 5
 *   for (const { token, logProbs, sum, attentionMaps } of translator.greedy(state)) …
 *   for (const { token, probabilities } of translator.sample(state, { uniforms, temperature: 2, topK: 5 })) …
 *   const { hypotheses, tree } = translator.beamSearch(state, { beamSize: 4 });
 *   translator.decode(hypotheses[0].tokens); // the text
 *
 * With a large model, `startDecodingInSteps` and `beamSearchInSteps` let a page do something else in between.
 * A state serves one search: start another for the next, or go on from a `state.copy()`. Greedy decoding
 * and sampling compute a token when asked.
 * `state.extend([SOS, …tokens], attentionMaps)` gives the attention of a whole text in one call.
 * `translator.model.config` has its sizes; `openFiles` in model_file.js opens a model of the reader's own.
 */

const MOST_KNOWN = 1_000_000; // tokens: what has more positions is no model
const LONGEST = 512; // tokens: maps of more would fill a page's memory
const TOO_LONG = [ // the model, the page; words, pieces of words
  ["The model reads at most {most} words at once, and these are {count}.",
    "The model reads at most {most} pieces of words at once, and these are {count}."],
  ["The page reads at most {most} words at once, and these are {count}.",
    "The page reads at most {most} pieces of words at once, and these are {count}."],
];

export class Translator {
  /**
   * @param {object} checkpoint
   * @param {object} checkpoint.model the configuration, as `TransformerConfig` is saved
   * @param {object} checkpoint.source vocabulary, as `Tokenizer.save` writes it; where it has a `language`,
   *   unknown words are refused by name
   * @param {object} checkpoint.target vocabulary
   * @param {number} [checkpoint.max_len] the most tokens of a source or translation, <eos> among them; a
   *   page takes at most 512
   * @param {object} [checkpoint.sentences] of the grammar it was trained on, as `SentenceAutomaton` takes them
   * @param {Object<string, string>} [checkpoint.glosses] what words of translations say in English
   * @param {ArrayBuffer} parameters a safetensors file
   * @throws {InputError} something is of another kind, does not fit, or is nothing that the page computes
   */
  constructor({ model, source, target, max_len, sentences, glosses }, parameters) {
    if (![model, source, target].every((part) => part instanceof Object))
      throw new InputError("This is no model: it must hold a configuration and two vocabularies.", "file");
    const config = checkConfig(model);
    this.model = new Transformer(config, parameterTree(readSafetensors(parameters), config));
    this.source = source.language ? new LenientTokenizer(source) : new Tokenizer(source);
    this.target = new Tokenizer(target);
    this.maxLength = Math.min(checkMaxLength(max_len ?? config.max_len, config), LONGEST);
    const sizes = [this.source.tokens.length, this.target.tokens.length];
    if (String(sizes) !== String([config.vocab_size, config.target_vocab_size]))
      throw new InputError("The vocabularies are of another size than the model's.", "file");
    this.sentences = sentences && new SentenceAutomaton(sentences);
    this.glosses = glosses && new Map(Object.entries(glosses));
  }

  /**
   * The ids (S,) of a source text, <eos> last.
   * @throws {InputError} it is empty, too long, or holds unknown words
   */
  encode(text) {
    const count = this.source.split(text).length;
    if (!count) throw new InputError("There is no word to translate.", "empty");
    const most = this.maxLength - 1;
    const template = TOO_LONG[Number(this.maxLength === LONGEST)][Number(this.source.hasSubwords)];
    if (count > most) throw new InputError({ template, values: { most, count } }, "long");
    return [...this.source.encode(text), EOS];
  }

  /** Words that can stand at the end of a text that is being typed, as `suggestions` gives them. */
  suggest(text) {
    return suggestions(text, this.source, this.sentences);
  }

  /** Whether ids (S,), as `encode` gives them, are a sentence of the grammar; undefined without one. */
  isKnownSentence(ids) {
    return this.sentences?.accepts(ids.slice(0, -1));
  }

  /** The text of ids of a translation. */
  decode(ids) {
    return this.target.decode(ids);
  }

  /** Start decoding the ids of a source: arguments as `Transformer.startDecodingInSteps`. */
  startDecoding(ids, options) {
    return atOnce(this.startDecodingInSteps(ids, options));
  }

  /** The same in steps. */
  startDecodingInSteps(ids, options) {
    return this.model.startDecodingInSteps(ids, options);
  }

  /** Steps of greedy decoding, as `generate` yields them. */
  greedy(state, options) {
    return greedy(state, { ...this.limits, ...options });
  }

  /** Steps of sampling: options as `sample` takes them. */
  sample(state, options) {
    return sample(state, { ...this.limits, ...options });
  }

  /** Beam search: options and result as `beamSearchInSteps` has them. */
  beamSearch(state, options) {
    return atOnce(this.beamSearchInSteps(state, options));
  }

  /** The same in steps. */
  beamSearchInSteps(state, options) {
    return beamSearchInSteps(state, { ...this.limits, ...options });
  }

  /** How many numbers the model holds. */
  get parameterCount() {
    return parameterCount(this.model.config);
  }

  get limits() {
    return { sos: SOS, eos: EOS, maxNewTokens: this.maxLength };
  }
}

function checkMaxLength(max_len, { positions, max_len: learned }) {
  const most = positions === "learned" ? learned : MOST_KNOWN;
  if (Number.isInteger(max_len) && max_len > 0 && max_len <= most) return max_len;
  const expected = `The model's max_len must be a whole number from 1 to ${most}`;
  throw new InputError(`${expected}, got ${shortenJson(max_len)}.`, "file");
}
