import { ACTIVATIONS } from "./activations.js";
import { linear } from "./linear.js";
import { Matrix } from "./matrix.js";

// Position-wise feed-forward network: two linear layers with an activation between them.

/**
 * activation(x W_1 + b_1) W_2 + b_2, or with a gate (activation(x W_gate + b) · (x W_1 + b_1)) W_2 + b_2.
 * @param {Matrix} x (T, d_model)
 * @param {object} parameters with w_1, w_2 and, for one of `GATED`, w_gate
 * @param {string} activation one of `ACTIVATIONS`
 * @returns {Matrix} (T, d_model)
 */
export function feedForward(x, parameters, activation) {
  const activate = ACTIVATIONS[activation];
  const hidden = linear(x, parameters.w_1); // (T, d_ff)
  const gate = parameters.w_gate && linear(x, parameters.w_gate).data; // (T, d_ff)
  const activated = hidden.data.map((value, n) => (gate ? activate(gate[n]) * value : activate(value)));
  return linear(new Matrix(hidden.rows, hidden.width, activated), parameters.w_2); // (T, d_model)
}
