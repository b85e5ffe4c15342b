import { gelu, geluTanh, relu, silu } from "./activations.js";
import { linear } from "./linear.js";
import { Matrix } from "./matrix.js";

// Position-wise feed-forward network: two linear layers with an activation between them.

const ACTIVATIONS = { relu, gelu, gelu_tanh: geluTanh };

/**
 * activation(x W_1 + b_1) W_2 + b_2, or with "swiglu" (silu(x W_gate + b) · (x W_1 + b_1)) W_2 + b_2.
 * @param {Matrix} x (T, d_model)
 * @param {object} parameters with w_1, w_2 and, for "swiglu", w_gate
 * @param {string} activation "relu", "gelu", "gelu_tanh" or "swiglu"
 * @returns {Matrix} (T, d_model)
 */
export function feedForward(x, parameters, activation) {
  const hidden = linear(x, parameters.w_1); // (T, d_ff)
  let activated;
  if (activation === "swiglu") {
    const gate = linear(x, parameters.w_gate); // (T, d_ff)
    activated = hidden.data.map((value, n) => value * silu(gate.data[n]));
  } else {
    activated = hidden.data.map(ACTIVATIONS[activation]);
  }
  return linear(new Matrix(hidden.rows, hidden.width, activated), parameters.w_2); // (T, d_model)
}
