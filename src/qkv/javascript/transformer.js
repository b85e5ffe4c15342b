import { DecodingState } from "./decoding_state.js";
import { embedding } from "./embedding.js";
import { encoder } from "./encoder.js";
import { POSITIONS } from "./positional_encoding.js";

// Encoder-decoder Transformer, as in the paper.

export class Transformer {
  /**
   * @param {object} config as `checkConfig` returns it
   * @param {object} parameters as `parameterTree` returns them
   */
  constructor(config, parameters) {
    Object.assign(this, { config, parameters });
    this.sourceTable = parameters.source_embedding.weight; // (vocab_size, d_model)
    this.targetTable = parameters.target_embedding?.weight ?? this.sourceTable; // (V, d_model)
  }

  /**
   * Start decoding: encode the source, and give a state that writes token by token.
   * @param {number[]} ids (S,) of the source, <eos> last
   * @param {object} [options]
   * @param {Object<string, number[]>} [options.switchedOff] heads whose output is zeros, by the name of
   *   their attention: {"encoder.layers.0.self_attention": [0], "decoder.layers.0.cross_attention": [0, 1]}
   * @param {{encoder?: boolean, decoder?: boolean}} [options.positions] false: no token of this part
   *   knows where it stands
   * @yields after each layer of the encoder
   * @returns {DecodingState}
   */
  *startDecodingInSteps(ids, { switchedOff = {}, positions = {} } = {}) {
    const { encoder: inSource = true, decoder: inTarget = true } = positions;
    const run = { config: this.config, switchedOff, positions: inSource, attentionMaps: {} };
    const x = this.inputs(ids, 0, this.sourceTable, this.parameters.source_inputs, run); // (S, d_model)
    const memory = yield* encoder(x, this.parameters.encoder, run); // (S, d_model)
    return new DecodingState(this, memory, { ...run, positions: inTarget });
  }

  /** Tokens, the first of which stands at `start`, as the vectors (T, d_model) that a stack takes. */
  inputs(ids, start, table, parameters, { positions }) {
    const { config } = this;
    const x = embedding(ids, table, config.scale_embedding ? Math.sqrt(config.d_model) : 1); // (T, d_model)
    return positions ? POSITIONS[config.positions](x, start, config, parameters) : x;
  }
}
