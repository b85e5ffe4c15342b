import { InputError } from "./input_error.js";

// Whether a model's numbers are numbers: float32 ends at 3.4e38, and beyond it sums are no answer.

/**
 * @param {Matrix} matrix of weights or logits
 * @throws {InputError} one of them is NaN or infinite
 */
export function checkFinite({ data }) {
  if (data.every(Number.isFinite)) return;
  const message = "The model's numbers overflow: its parameters are too large to compute with.";
  throw new InputError(message, "numbers");
}
