// Length normalization: how a search compares short sentences with long ones.

/**
 * What a sum of log-probabilities is divided by: length^α ("power") or ((5 + length) / 6)^α ("gnmt").
 * @param {number} length tokens after the prefix, the end among them
 * @param {number} lengthPenalty α: 0 compares sums as they are, 1 means
 */
export function lengthNormalizer(length, lengthPenalty, lengthFormula) {
  return (lengthFormula === "power" ? length : (5 + length) / 6) ** lengthPenalty;
}
