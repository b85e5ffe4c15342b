// The known word that is spelt most like an unknown one, as qkv/pretrained/close_matches.py finds it with
// Python's difflib.get_close_matches.

const CUTOFF = 0.6;
const MOST_TRIED = 20; // words, from the most alike on

/**
 * The most similar of `known` from which at most a third of the word's letters is changed, or undefined.
 * Of equals, the last in the order of code units comes first.
 */
export function closestMatch(word, known) {
  const letters = [...word];
  const alike = [...known]
    .map((other) => ({ other, ratio: similarity([...other], letters) }))
    .filter(({ ratio }) => ratio >= CUTOFF)
    .sort((a, b) => b.ratio - a.ratio || (a.other < b.other ? 1 : -1));
  const isNear = ({ other }) => editDistance([...other], letters) <= Math.floor(letters.length / 3);
  return alike.slice(0, MOST_TRIED).find(isNear)?.other;
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

/** Letters that are put in, taken out, replaced, or swapped with the next (optimal string alignment). */
function editDistance(a, b) {
  const rows = [[...b.keys(), b.length]]; // of i letters of a, to the first j of b
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = rows[i - 1][j - 1] + (a[i - 1] !== b[j - 1]);
      row[j] = Math.min(replaced, rows[i - 1][j] + 1, row[j - 1] + 1);
      if (i > 1 && j > 1 && a[i - 2] === b[j - 1] && a[i - 1] === b[j - 2])
        row[j] = Math.min(row[j], rows[i - 2][j - 2] + 1);
    }
    rows.push(row);
  }
  return rows[a.length][b.length];
}
