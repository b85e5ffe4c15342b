import { Matrix } from "./matrix.js";

// Layer norm and RMS norm.

const average = (row) => row.reduce((a, b) => a + b, 0) / row.length;

/** What each norm takes off a row (d_model,), by its name in a configuration. */
export const NORMS = { layer: average, rms: () => 0 };

/**
 * The norm of each row: (x − mean) / √(variance + ε) · weight + bias; "rms" takes off no mean.
 * @param {Matrix} x (T, d_model)
 * @param {{weight: Float32Array, bias?: Float32Array}} parameters (d_model,) each
 * @param {{norm: string, norm_eps: number}} config one of `NORMS`, and ε
 * @returns {Matrix} (T, d_model)
 */
export function normalize(x, { weight, bias }, { norm, norm_eps }) {
  const out = new Matrix(x.rows, x.width);
  for (let t = 0; t < x.rows; t++) {
    const mean = NORMS[norm](x.row(t));
    const centred = x.row(t).map((value) => value - mean); // (d_model,)
    const variance = average(centred.map((value) => value * value));
    const factor = 1 / Math.sqrt(variance + norm_eps);
    out.row(t).set(centred.map((value, i) => value * factor * weight[i] + (bias ? bias[i] : 0)));
  }
  return out; // (T, d_model)
}
