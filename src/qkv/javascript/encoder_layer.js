import { attend, rotaryStart } from "./attention_maps.js";
import { feedForward } from "./feed_forward.js";
import { keysAndValues } from "./multi_head.js";
import { addNorm } from "./residual.js";

// Encoder layer: self-attention and feed-forward, each in Add & Norm.

/**
 * Self-attention, then feed-forward.
 * @param {Matrix} x (S, d_model)
 * @param {object} parameters of the layer
 * @param {string} name such as "encoder.layers.0"
 * @param {Run} run
 * @returns {Matrix} (S, d_model)
 */
export function encoderLayer(x, parameters, name, run) {
  const { config } = run;
  const start = rotaryStart(run, 0);
  const attendToSelf = (x) => {
    const cache = keysAndValues(x, parameters.self_attention, config.n_kv_heads, start);
    return attend(`${name}.self_attention`, x, cache, parameters.self_attention, run, { start });
  };
  x = addNorm(x, parameters.self_attention_add_norm, config, attendToSelf); // (S, d_model)
  const transform = (x) => feedForward(x, parameters.feed_forward, config.activation);
  return addNorm(x, parameters.feed_forward_add_norm, config, transform);
}
