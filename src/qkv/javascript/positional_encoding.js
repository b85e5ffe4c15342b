import { add } from "./matrix.js";
import { learnedPositions, sinusoidalEncoding } from "./positional.js";

// Positional encoding of a model's inputs, of whichever kind its configuration names.

/**
 * Add to embeddings where their tokens stand; rotary positions come later, inside attention.
 * @param {Matrix} x (T, d_model), the first of which stands at `start`
 * @param {object} config the model's
 * @param {{positions?: {weight: Matrix}}} [parameters] the learned table (max_len, d_model)
 * @returns {Matrix} (T, d_model)
 */
export const POSITIONS = {
  sinusoidal: (x, start, { layout }) => add(x, sinusoidalEncoding(x.rows, x.width, start, layout)),
  learned: (x, start, config, { positions }) => add(x, learnedPositions(positions.weight, x.rows, start)),
  rotary: (x) => x,
  none: (x) => x,
};
