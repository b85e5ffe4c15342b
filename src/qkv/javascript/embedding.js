import { Matrix, multiplyTransposed } from "./matrix.js";

// Token embedding, and the output projection whose weights are tied to it.

/**
 * Embedding lookup: table[ids] · scale.
 * @param {number[]} ids (T,)
 * @param {Matrix} table (vocab_size, d_model)
 * @param {number} scale √d_model in the paper
 * @returns {Matrix} (T, d_model)
 */
export function embedding(ids, table, scale) {
  const out = new Matrix(ids.length, table.width);
  ids.forEach((id, t) => out.row(t).set(table.row(id).map((value) => value * scale)));
  return out; // (T, d_model)
}

/**
 * Output projection with tied weights, which scores every token: x tableᵀ + b.
 * @param {Matrix} x (T, d_model)
 * @param {Matrix} table (V, d_model)
 * @param {Float32Array} [bias] (V,)
 * @returns {Matrix} (T, V) logits
 */
export function tiedOutput(x, table, bias) {
  const logits = multiplyTransposed(x, table); // (T, V)
  if (bias) for (const row of logits) for (let j = 0; j < row.length; j++) row[j] += bias[j];
  return logits;
}
