// Random numbers that a seed gives again: what sampling draws its words by.

const SCATTER = 0x9e3779b1; // odd, so that each seed but 0 gives another state, and none 0
const WARM_UP = 4; // the first numbers of neighbouring states resemble one another

/**
 * Uniform numbers in [0, 1) by xorshift32 (Marsaglia 2003), 24 bits each, exact in float32. Small and
 * the same in every browser; fit for drawing words, and for nothing that must not be guessed.
 * @param {number} seed a whole number from 1 on
 * @param {number} count
 * @returns {number[]} (count,)
 */
export function uniformNumbers(seed, count) {
  let state = Math.imul(seed, SCATTER) | 0;
  const numbers = [];
  for (let n = 0; n < WARM_UP + count; n++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    numbers.push((state >>> 8) / 2 ** 24);
  }
  return numbers.slice(WARM_UP);
}
