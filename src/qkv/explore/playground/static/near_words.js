// Words of the model in place of words that it does not know.

const escaped = (word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** The text with each whole `word` replaced by `near`. */
export function replaceWord(text, word, near) {
  return text.replace(new RegExp(`(?<![\\p{L}\\p{N}])${escaped(word)}(?![\\p{L}\\p{N}])`, "gu"), () => near);
}
