import { encoderLayer } from "./encoder_layer.js";
import { normalize } from "./norms.js";

// Encoder: a stack of encoder layers.

/**
 * @param {Matrix} x (S, d_model)
 * @param {{layers: object, norm?: object}} parameters a final norm stands in pre-norm models
 * @param {Run} run
 * @yields after each layer
 * @returns {Matrix} (S, d_model)
 */
export function* encoder(x, { layers, norm }, run) {
  for (const [n, layer] of Object.values(layers).entries()) {
    x = encoderLayer(x, layer, `encoder.layers.${n}`, run);
    yield;
  }
  return norm ? normalize(x, norm, run.config) : x;
}
