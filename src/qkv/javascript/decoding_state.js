import { decoder, decoderCaches } from "./decoder.js";
import { tiedOutput } from "./embedding.js";
import { checkFinite } from "./finite_numbers.js";
import { linear } from "./linear.js";

// Decoding state: the caches of a growing text, so that only new tokens are computed.

export class DecodingState {
  /**
   * @param {Transformer} model
   * @param {Matrix} memory (S, d_model), what the encoder gave
   * @param {Run} run `attentionMaps` holds the encoder's
   */
  constructor(model, memory, run) {
    Object.assign(this, { model, memory, run });
    this.caches = decoderCaches(memory, model.parameters.decoder, model.config);
  }

  /** The encoder's attention maps: by name, (S, S) of each head. */
  get encoderMaps() {
    return this.run.attentionMaps;
  }

  /** Number of tokens so far; the next one has this position. */
  get length() {
    return this.caches[0].selfAttention.length;
  }

  /**
   * Append tokens to the text, and give the logits of what comes after each.
   * @param {number[]} ids (T,) the new tokens alone
   * @param {Object<string, Matrix[]>} [attentionMaps] filled by name: (T, length) of each head in
   *   self-attention, (T, S) in cross-attention
   * @returns {Matrix} (T, V)
   * @throws {InputError} the logits overflow
   */
  extend(ids, attentionMaps = {}) {
    const { config, parameters, targetTable } = this.model;
    const run = { ...this.run, attentionMaps };
    const x = this.model.inputs(ids, this.length, targetTable, parameters.target_inputs, run); // (T, d_model)
    const hidden = decoder(x, this.caches, parameters.decoder, run); // (T, d_model)
    const logits =
      config.tie_word_embeddings === "none"
        ? linear(hidden, parameters.output)
        : tiedOutput(hidden, targetTable, parameters.output?.bias); // (T, V)
    checkFinite(logits);
    return logits;
  }

  /** A state that goes on by itself; what both have read is shared. */
  copy() {
    const copied = Object.create(DecodingState.prototype);
    return Object.assign(copied, this, { caches: this.caches.map((cache) => ({ ...cache })) });
  }
}
