// Activations, each of one number.

/** By its name in a configuration: the page takes no model with another. */
export const ACTIVATIONS = {
  relu: (x) => Math.max(0, x),
  // x · Φ(x), Φ the standard normal distribution
  gelu: (x) => x * (x < 0 ? tail(-x) : 1 - tail(x)),
  // its approximation, as in GPT-2
  gelu_tanh: (x) => (x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x * x * x)))) / 2,
  // SiLU
  swiglu: (x) => x / (1 + Math.exp(-x)),
};

/** Of these, a third matrix of the feed-forward part is a gate. */
export const GATED = ["swiglu"];

// JavaScript has no error function. The share of a standard normal beyond z ≥ 0 is
//     exp(−z²/2) / (1 + z) · p(t),  t = (z − 4) / (z + 4),
// with the polynomial p of the NumPy room: the largest error is 1e-7.
const COEFFICIENTS = [
  0.472053203, -0.0967034704, 0.0139999137, 0.0286001681, -0.0322011629, 0.0179376959, -0.00498771425,
  -0.000291267495, 0.000664988692, -8.45540179e-5, -5.80912353e-5, 1.25685467e-5,
];

function tail(z) {
  const t = (z - 4) / (z + 4);
  const p = COEFFICIENTS.reduceRight((sum, coefficient) => sum * t + coefficient, 0);
  return (p * Math.exp((z * z) / -2)) / (1 + z);
}
