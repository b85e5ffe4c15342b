import { add } from "./matrix.js";
import { normalize } from "./norms.js";

// Add & Norm: the residual connection around a sub-layer, with post- or pre-norm.

/**
 * Post-norm, as in the paper: norm(x + sublayer(x)); pre-norm: x + sublayer(norm(x)).
 * @param {Matrix} x (T, d_model)
 * @param {{norm: object}} parameters of the norm
 * @param {object} config the model's
 * @param {(x: Matrix) => Matrix} sublayer from x to the same shape
 * @returns {Matrix} (T, d_model)
 */
export function addNorm(x, parameters, config, sublayer) {
  const norm = (rows) => normalize(rows, parameters.norm, config);
  return config.norm_first ? add(x, sublayer(norm(x))) : norm(add(x, sublayer(x)));
}
