import { beamSearch } from "./beam_search.js";
import { checkConfig } from "./config.js";
import { greedy } from "./greedy.js";
import { InputError } from "./input_error.js";
import { LenientTokenizer } from "./lenient_tokenizer.js";
import { parameterCount, parameterTree } from "./parameters.js";
import { readSafetensors } from "./safetensors.js";
import { sample } from "./sampling.js";
import { EOS, SOS, Tokenizer } from "./tokenizer.js";
import { Transformer } from "./transformer.js";

/*
 * Translator: a Transformer with its tokenizers, from text to text, in the page.
 *
 *   const translator = await qkvModel.load(); // not before the first touch
 *   const ids = translator.encode("The cat sat on the mat"); // throws an InputError that says why not
 *   const state = translator.startDecoding(ids, {
 *     switchedOff: { "decoder.layers.0.cross_attention": [1] }, // heads that write zeros; left out: none
 *     positions: false, // no token knows where it stands; left out: true
 *   });
 *   state.encoderMaps["encoder.layers.1.self_attention"][0].row(5); // weights (S,) of head 0, query 5
 *   for (const { token, logProbs, sum, attentionMaps } of translator.greedy(state)) …
 *   for (const { token, probabilities } of translator.sample(state, { uniforms, temperature: 2, topK: 5 })) …
 *   const { hypotheses, tree } = translator.beamSearch(state, { beamSize: 4 });
 *   translator.decode(hypotheses[0].tokens); // the text
 *
 * A state serves one search: start another for the next, or go on from a `state.copy()`. Greedy
 * decoding and sampling compute a token when it is asked for, so that a page may draw in between.
 * `state.extend([SOS, …tokens], attentionMaps)` gives the attention of a whole text in one call.
 */

export class Translator {
  /**
   * @param {object} checkpoint
   * @param {object} checkpoint.model the configuration, as `TransformerConfig` is saved
   * @param {object} checkpoint.source vocabulary, as `Tokenizer.save` writes it; where it has a `language`,
   *   unknown words are refused by name
   * @param {object} checkpoint.target vocabulary
   * @param {number} [checkpoint.max_len] the most tokens of a source or translation, <eos> among them
   * @param {ArrayBuffer} parameters a safetensors file
   * @throws {InputError} something is of another kind, does not fit, or is nothing that the page computes
   */
  constructor({ model, source, target, max_len }, parameters) {
    if (![model, source, target].every((part) => part instanceof Object))
      throw new InputError("This is no model: it must hold a configuration and two vocabularies.", "file");
    const config = checkConfig(model);
    this.model = new Transformer(config, parameterTree(readSafetensors(parameters), config));
    this.source = source.language ? new LenientTokenizer(source) : new Tokenizer(source);
    this.target = new Tokenizer(target);
    this.maxLength = max_len ?? config.max_len;
    const sizes = [this.source.tokens.length, this.target.tokens.length];
    if (String(sizes) !== String([config.vocab_size, config.target_vocab_size]))
      throw new InputError("The vocabularies are of another size than the model's.", "file");
  }

  /**
   * The ids (S,) of a source text, <eos> last.
   * @throws {InputError} it is empty, too long, or holds unknown words
   */
  encode(text) {
    const count = this.source.split(text).length;
    if (!count) throw new InputError("There is no word to translate.", "empty");
    const most = this.maxLength - 1;
    const unit = this.source.hasSubwords ? "pieces of words" : "words";
    if (count > most)
      throw new InputError(`The model reads at most ${most} ${unit} at once, and these are ${count}.`, "long");
    return [...this.source.encode(text), EOS];
  }

  /** The text of ids of a translation. */
  decode(ids) {
    return this.target.decode(ids);
  }

  /** Start decoding the ids of a source: arguments as `Transformer.startDecoding`. */
  startDecoding(ids, options) {
    return this.model.startDecoding(ids, options);
  }

  /** Steps of greedy decoding, as `generate` yields them. */
  greedy(state, options) {
    return greedy(state, { ...this.limits, ...options });
  }

  /** Steps of sampling: options as `sample` takes them. */
  sample(state, options) {
    return sample(state, { ...this.limits, ...options });
  }

  /** Beam search: options and result as `beamSearch` has them. */
  beamSearch(state, options) {
    return beamSearch(state, { ...this.limits, ...options });
  }

  get parameterCount() {
    return parameterCount(this.model.config);
  }

  get limits() {
    return { sos: SOS, eos: EOS, maxNewTokens: this.maxLength };
  }
}
