import { multiply, multiplyTransposed } from "./matrix.js";
import { softmax } from "./softmax.js";

// Scaled dot-product attention, as in the Transformer.

/**
 * Mix values by query–key similarity: softmax(q kᵀ / √d_k) v.
 * @param {Matrix} q (T, d_k) queries of one head
 * @param {Matrix} k (S, d_k) keys
 * @param {Matrix} v (S, d_v) values
 * @param {(t: number, s: number) => boolean} [mask] true = may attend; each query may to one key at least
 * @returns {{out: Matrix, weights: Matrix}} (T, d_v) mixed values and (T, S) weights
 */
export function scaledDotProductAttention(q, k, v, mask) {
  const scale = 1 / Math.sqrt(q.width);
  const weights = multiplyTransposed(q, k); // (T, S) scores, for now
  for (let t = 0; t < q.rows; t++) {
    const row = weights.row(t);
    const scores = row.map((score, s) => (!mask || mask(t, s) ? score * scale : -Infinity));
    row.set(softmax(scores));
  }
  return { out: multiply(weights, v), weights }; // (T, d_v), (T, S)
}
