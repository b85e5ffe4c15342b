// What a reader gave that a model cannot take, with a sentence for the reader.

export class InputError extends Error {
  /**
   * @param {string} message a sentence for who typed or chose
   * @param {"empty" | "long" | "unknown" | "file"} kind what is wrong
   * @param {object} details `words` of kind "unknown": [{word, near}], near a known word or undefined
   */
  constructor(message, kind, details = {}) {
    super(message);
    Object.assign(this, { name: "InputError", kind, ...details });
  }
}
