import { checkFinite } from "./finite_numbers.js";
import { multiHeadAttention } from "./multi_head.js";

// Attention maps: the weights of every attention in one call of a model, by dotted name.

/**
 * One attention of a run, with the heads that are switched off in it; its weights go into the maps.
 * @param {string} name such as "decoder.layers.0.cross_attention"
 * @param {Matrix} x (T, d_model) of the queries
 * @param {KeyValueCache} cache keys and values
 * @param {object} parameters of the attention
 * @param {Run} run
 * @param {object} [options] start, causal: as `multiHeadAttention` takes them
 * @returns {Matrix} (T, d_model)
 * @throws {InputError} the weights overflow
 *
 * @typedef {object} Run what all layers of one call share
 * @property {object} config the model's
 * @property {boolean} positions false: no token of this part knows where it stands
 * @property {Object<string, number[]>} switchedOff heads that are off, by the name of their attention
 * @property {Object<string, Matrix[]>} attentionMaps filled: (T, S) of each head, by the same names
 */
export function attend(name, x, cache, parameters, run, options = {}) {
  const own = { n_heads: run.config.n_heads, switchedOff: run.switchedOff[name], ...options };
  const { out, weights } = multiHeadAttention(x, cache, parameters, own);
  weights.forEach(checkFinite);
  run.attentionMaps[name] = weights;
  return out;
}

/** The position from which self-attention rotates queries and keys (RoPE); undefined where it does not. */
export const rotaryStart = ({ config, positions }, start) =>
  config.positions === "rotary" && positions ? start : undefined;
