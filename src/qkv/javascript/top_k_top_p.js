import { softmax } from "./softmax.js";
import { stableTopK } from "./stable_top_k.js";

// Top-k and top-p filtering: cut off the long tail of improbable tokens before sampling.

/** Keep the k likeliest of scores (V,), of equals the lower ids; the others get −∞. */
export function topKFiltering(scores, topK) {
  const kept = new Set(stableTopK(scores, topK));
  return scores.map((score, id) => (kept.has(id) ? score : -Infinity)); // (V,)
}

/** Keep the likeliest of scores (V,) whose mass reaches p, the smallest such set; the others get −∞. */
export function topPFiltering(scores, topP) {
  if (topP === 1) return scores; // rounding may let the sum reach 1 too early
  const weights = softmax(scores); // (V,)
  const kept = new Set();
  let mass = 0;
  for (const id of stableTopK(scores, scores.length)) {
    kept.add(id);
    mass = Math.fround(mass + weights[id]);
    if (mass >= Math.fround(topP)) break;
  }
  return scores.map((score, id) => (kept.has(id) ? score : -Infinity)); // (V,)
}
