// The known word that is spelt most like an unknown one: what Python's difflib.get_close_matches finds,
// if at most a third of its letters are changed.

const CUTOFF = 0.6;

/**
 * The most similar of `known`, of equals the last in the order of code units; undefined below 0.6, or where
 * more than a third of the word's letters are changed.
 */
export function closestMatch(word, known) {
  let best = { ratio: CUTOFF, other: undefined };
  for (const other of [...known].sort()) {
    const ratio = similarity(other, word);
    if (ratio >= best.ratio) best = { ratio, other };
  }
  const { other } = best;
  return other !== undefined && countEdits(other, word) <= Math.floor(word.length / 3) ? other : undefined;
}

/** 2 · matches / characters, where matches are counted by the longest common runs (Ratcliff–Obershelp). */
function similarity(a, b) {
  return (2 * countMatches(a, b)) / (a.length + b.length);
}

function countMatches(a, b) {
  const { length, startA, startB } = longestRun(a, b);
  if (!length) return 0;
  const before = countMatches(a.slice(0, startA), b.slice(0, startB));
  return before + length + countMatches(a.slice(startA + length), b.slice(startB + length));
}

/** Letters that are put in, taken out or replaced between the common runs. */
function countEdits(a, b) {
  const { length, startA, startB } = longestRun(a, b);
  if (!length) return Math.max(a.length, b.length);
  const before = countEdits(a.slice(0, startA), b.slice(0, startB));
  return before + countEdits(a.slice(startA + length), b.slice(startB + length));
}

/** The longest common run of two words; of equals, the earliest in a, then in b. */
function longestRun(a, b) {
  let best = { length: 0 };
  for (let startA = 0; startA < a.length; startA++) {
    for (let startB = 0; startB < b.length; startB++) {
      let length = 0;
      while (startA + length < a.length && a[startA + length] === b[startB + length]) length++;
      if (length > best.length) best = { length, startA, startB };
    }
  }
  return best;
}
