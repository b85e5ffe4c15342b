// Log-softmax, of which decoding is made.

/**
 * Log-softmax: x − log Σ exp(x).
 * @param {Float32Array} x (n,) logits; −∞ stays −∞
 * @returns {Float32Array} (n,) log-probabilities
 */
export function logSoftmax(x) {
  const peak = x.reduce((a, b) => Math.max(a, b));
  const sum = x.reduce((total, score) => total + Math.exp(score - peak), 0);
  // One after the other: a large peak would round the logarithm away.
  return x.map((score) => score - peak - Math.log(sum)); // (n,)
}
