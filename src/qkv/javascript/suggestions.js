// Suggestions of words while a sentence is typed.

const MOST = 8;
const LONGEST_TEXT = 1000; // characters; a longer one was pasted, and no word is being typed

/**
 * At most eight words that can stand at the end of a text: in place of the word that is being typed, or
 * behind a whole one. They lead to a sentence of the grammar; once a text has left it, or for a model
 * without one, they are words of the vocabulary. Behind a stop there are none.
 * @param {string} text
 * @param {Tokenizer} tokenizer of whole words; others suggest nothing
 * @param {SentenceAutomaton} [sentences]
 * @returns {{word: string, completes: boolean}[]} completes: in place of the word that is being typed
 */
export function suggestions(text, tokenizer, sentences) {
  if (tokenizer.hasSubwords || text.length > LONGEST_TEXT || tokenizer.isClosed(text)) return [];
  const words = tokenizer.split(text);
  if (!words.length || /\s$/.test(text)) return behind(words, tokenizer, sentences);
  const typed = words.at(-1).toLowerCase();
  const known = namesAfter(words.slice(0, -1), tokenizer, sentences) ?? allWords(tokenizer, words.length === 1);
  const longer = known.filter((word) => word.toLowerCase().startsWith(typed) && word.toLowerCase() !== typed);
  if (!longer.length) return behind(words, tokenizer, sentences);
  return longer.slice(0, MOST).map((word) => ({ word, completes: true }));
}

function behind(words, tokenizer, sentences) {
  const next = namesAfter(words, tokenizer, sentences) ?? [];
  return next.slice(0, MOST).map((word) => ({ word, completes: false }));
}

/** Every word of the vocabulary, one that stands there in two cases as its place wants it. */
function allWords(tokenizer, isFirst) {
  return [...new Set([...tokenizer.ids.keys()].map((word) => tokenizer.matchCase(word, isFirst)))];
}

/** The words that go on after some in the grammar, undefined where that knows nothing of them. */
function namesAfter(words, tokenizer, sentences) {
  const ids = words.map((word, n) => tokenizer.ids.get(tokenizer.readAs(word, n === 0)));
  const next = sentences?.continuations(ids).map((id) => tokenizer.tokens[id]);
  return next?.length || sentences?.accepts(ids) ? next : undefined;
}
