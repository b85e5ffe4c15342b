// What a reader gave that a model cannot take, with a sentence for the reader.

/** A text with at most `most` characters of it, so that a sentence which quotes it stays one. */
export function shorten(text, most = 80) {
  const start = [...text.slice(0, 2 * most + 2)]; // a character takes one or two places
  return start.length > most ? `${start.slice(0, most).join("")}…` : text;
}

/** A value of a file as JSON writes it, shortened. */
export const shortenJson = (value) => shorten(String(JSON.stringify(value)));

export class InputError extends Error {
  /**
   * @param {string} message a sentence for who typed or chose
   * @param {"empty" | "long" | "unknown" | "file" | "numbers"} kind what is wrong
   * @param {object} details `words` of kind "unknown": [{word, near}], near a known word or undefined
   */
  constructor(message, kind, details = {}) {
    super(message);
    Object.assign(this, { name: "InputError", kind, ...details });
  }
}
