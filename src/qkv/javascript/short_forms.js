// Short forms of English, "don't", as the two words that they stand for.

const SECOND_WORDS = { "n't": "not", "'m": "am", "'re": "are", "'ll": "will" };
const FIRST_WORDS = { wo: "will" }; // won't

/** The two words of a short form; undefined of any other word. */
export function spellOut(word) {
  const plain = word.toLowerCase().replaceAll("’", "'");
  const end = Object.keys(SECOND_WORDS).find((each) => plain.endsWith(each));
  if (!end) return undefined;
  const first = plain.slice(0, -end.length);
  return [FIRST_WORDS[first] ?? first, SECOND_WORDS[end]];
}
