// Softmax, which turns scores into weights.

/**
 * Softmax: exp(x) / Σ exp(x).
 * @param {Float32Array} x (n,) scores; −∞ gets weight 0
 * @returns {Float32Array} (n,) weights that sum to 1
 */
export function softmax(x) {
  const peak = x.reduce((a, b) => Math.max(a, b)); // exp of a large score would be infinite
  const weights = x.map((score) => Math.exp(score - peak)); // (n,)
  const sum = weights.reduce((a, b) => a + b);
  return weights.map((weight) => weight / sum); // (n,)
}
