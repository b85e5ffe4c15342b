import { generate } from "./generation_loop.js";
import { checkSampling, checkUniforms } from "./option_checks.js";
import { softmax } from "./softmax.js";
import { topKFiltering, topPFiltering } from "./top_k_top_p.js";

// Sampling: each token drawn at random, by temperature, top-k and top-p.

/**
 * The distribution that a token is drawn from: softmax(log p / temperature), cut by top-k, then top-p.
 * @param {Float32Array} logProbs (V,)
 * @param {{temperature?: number, topK?: number, topP?: number}} options above 0; at least 1; in (0, 1]
 * @returns {Float32Array} (V,) probabilities
 * @throws {Error} an option is out of its range
 */
export function samplingDistribution(logProbs, { temperature = 1, topK, topP }) {
  checkSampling("samplingDistribution", { temperature, topK, topP });
  const peak = logProbs.reduce((a, b) => Math.max(a, b));
  // Less the highest, so that no temperature however low sends all to −∞.
  let scores = logProbs.map((score) => Math.fround(score - peak) / temperature); // (V,)
  if (topK !== undefined) scores = topKFiltering(scores, topK);
  if (topP !== undefined) scores = topPFiltering(scores, topP);
  return softmax(scores); // (V,)
}

/** The token that a uniform number in [0, 1) falls on: the first whose cumulative share is above it. */
export function drawToken(probabilities, uniform) {
  let sum = 0;
  const cumulative = probabilities.map((p) => (sum = Math.fround(sum + p))); // (V,)
  const reached = Math.fround(Math.fround(uniform) * sum); // the sum is 1 but for rounding
  return cumulative.findIndex((share) => share > reached || share === sum);
}

/**
 * Sample each token. Steps also hold `probabilities` (V,), what the token was drawn from.
 * @param {DecodingState} state
 * @param {object} options as `generate` and `samplingDistribution` take them
 * @param {number[]} options.uniforms (maxNewTokens,) numbers in [0, 1)
 * @throws {Error} an option is out of its range
 */
export function sample(state, { uniforms, ...options }) {
  checkSampling("sample", options);
  checkUniforms("sample", uniforms, options.maxNewTokens);
  const numbers = uniforms[Symbol.iterator]();
  const draw = (logProbs) => {
    const probabilities = samplingDistribution(logProbs, options); // (V,)
    return { token: drawToken(probabilities, numbers.next().value), probabilities };
  };
  return generate(state, draw, options);
}
