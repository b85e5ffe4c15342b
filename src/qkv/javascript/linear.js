import { multiply } from "./matrix.js";

// Linear layer: the projection x W + b, of which most of a Transformer is made.

/**
 * Linear projection of the rows: x W + b.
 * @param {Matrix} x (T, d_in)
 * @param {{weight: Matrix, bias?: Float32Array}} parameters (d_in, d_out) and (d_out,)
 * @returns {Matrix} (T, d_out)
 */
export function linear(x, { weight, bias }) {
  const out = multiply(x, weight); // (T, d_out)
  if (bias) for (const row of out) for (let j = 0; j < row.length; j++) row[j] += bias[j];
  return out;
}
