import { decoderLayer } from "./decoder_layer.js";
import { KeyValueCache } from "./key_value_cache.js";
import { keysAndValues } from "./multi_head.js";
import { normalize } from "./norms.js";

// Decoder: a stack of decoder layers.

/**
 * The caches of all layers before the first token: of a memory (S, d_model), keys and values.
 * @returns {DecoderLayerCache[]}
 */
export function decoderCaches(memory, { layers }, { n_kv_heads }) {
  return Object.values(layers).map(({ cross_attention }) => ({
    selfAttention: new KeyValueCache(),
    crossAttention: keysAndValues(memory, cross_attention, n_kv_heads),
  }));
}

/**
 * @param {Matrix} x (T, d_model) new tokens
 * @param {DecoderLayerCache[]} caches of each layer
 * @param {{layers: object, norm?: object}} parameters a final norm stands in pre-norm models
 * @param {Run} run
 * @returns {Matrix} (T, d_model)
 */
export function decoder(x, caches, { layers, norm }, run) {
  Object.values(layers).forEach((layer, n) => {
    x = decoderLayer(x, caches[n], layer, `decoder.layers.${n}`, run);
  });
  return norm ? normalize(x, norm, run.config) : x;
}
