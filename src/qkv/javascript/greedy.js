import { generate } from "./generation_loop.js";

// Greedy decoding: the likeliest token at each step.

/** Take the likeliest token at each step; of equals, the lowest id. Arguments and steps: `generate`. */
export function greedy(state, options) {
  const mostLikely = (logProbs) => ({ token: logProbs.indexOf(logProbs.reduce((a, b) => Math.max(a, b))) });
  return generate(state, mostLikely, options);
}
