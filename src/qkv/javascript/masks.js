// The causal mask. One sentence at a time needs no padding, and so no padding mask.

/**
 * Whether query t, of the last T of S positions, may attend to key s: true = may attend.
 * @param {number} T number of queries
 * @param {number} S number of keys
 * @returns {(t: number, s: number) => boolean}
 */
export function causalMask(T, S) {
  return (t, s) => s <= S - T + t;
}
