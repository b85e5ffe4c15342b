import { attend, rotaryStart } from "./attention_maps.js";
import { feedForward } from "./feed_forward.js";
import { keysAndValues } from "./multi_head.js";
import { addNorm } from "./residual.js";

// Decoder layer: causal self-attention, cross-attention, feed-forward, each in Add & Norm.

/**
 * Causal self-attention, cross-attention to the memory, then feed-forward.
 * @param {Matrix} x (T, d_model) new tokens
 * @param {DecoderLayerCache} cache of the tokens so far; that of the new ones is put in its place
 * @param {object} parameters of the layer
 * @param {string} name such as "decoder.layers.0"
 * @param {Run} run
 * @returns {Matrix} (T, d_model)
 *
 * @typedef {object} DecoderLayerCache
 * @property {KeyValueCache} selfAttention of the tokens so far
 * @property {KeyValueCache} crossAttention of the memory, which does not grow
 */
export function decoderLayer(x, cache, parameters, name, run) {
  const { config } = run;
  const start = rotaryStart(run, cache.selfAttention.length);
  const attendToSelf = (x) => {
    const { keys, values } = keysAndValues(x, parameters.self_attention, config.n_kv_heads, start);
    cache.selfAttention = cache.selfAttention.append(keys, values); // S + T tokens
    const options = { start, causal: true };
    return attend(`${name}.self_attention`, x, cache.selfAttention, parameters.self_attention, run, options);
  };
  const attendToMemory = (x) =>
    attend(`${name}.cross_attention`, x, cache.crossAttention, parameters.cross_attention, run);
  const transform = (x) => feedForward(x, parameters.feed_forward, config.activation);
  x = addNorm(x, parameters.self_attention_add_norm, config, attendToSelf); // (T, d_model)
  x = addNorm(x, parameters.cross_attention_add_norm, config, attendToMemory);
  return addNorm(x, parameters.feed_forward_add_norm, config, transform);
}
