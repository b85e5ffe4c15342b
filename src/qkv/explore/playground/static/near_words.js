// Words of the model in place of words that it does not know.

const escaped = (word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** The text with each whole `word`, as an unknown one is named, replaced by `near`. */
export function replaceWord(text, word, near) {
  const plain = text.normalize("NFKC").replace(/\p{Cf}/gu, ""); // the letters in which it is named
  return plain.replace(new RegExp(`(?<![\\p{L}\\p{N}])${escaped(word)}(?![\\p{L}\\p{N}])`, "gu"), () => near);
}
