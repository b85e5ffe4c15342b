import { Matrix } from "./matrix.js";

// Split the width into heads, and merge them again.

/**
 * Split the width into heads: head h has the h-th run of d columns.
 * @param {Matrix} x (T, n_heads · d)
 * @returns {Matrix[]} n_heads matrices (T, d)
 */
export function splitHeads(x, n_heads) {
  const d = x.width / n_heads;
  return Array.from({ length: n_heads }, (_, h) => {
    const head = new Matrix(x.rows, d);
    for (let t = 0; t < x.rows; t++) head.row(t).set(x.row(t).subarray(h * d, (h + 1) * d));
    return head; // (T, d)
  });
}

/** Merge the heads side by side again: n_heads matrices (T, d) to (T, n_heads · d). */
export function mergeHeads(heads) {
  const [{ rows, width }] = heads;
  const merged = new Matrix(rows, heads.length * width);
  heads.forEach((head, h) => {
    for (let t = 0; t < rows; t++) merged.row(t).set(head.row(t), h * width);
  });
  return merged; // (T, n_heads · d)
}
