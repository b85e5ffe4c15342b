// What a reader gave that a model cannot take, with a sentence for the reader.

/** A text with at most `most` characters of it, so that a sentence which quotes it stays one. */
export function shorten(text, most = 80) {
  const start = [...text.slice(0, 2 * most + 2)]; // a character takes one or two places
  return start.length > most ? `${start.slice(0, most).join("")}…` : text;
}

/** A value of a file as JSON writes it, shortened. */
export const shortenJson = (value) => shorten(String(JSON.stringify(value)));

/**
 * A text, or a template whose {names} are filled in: `{template, values}`. A value may be such a one
 * itself, or a list of them.
 * @param {Object<string, string>} translations of templates, for a reader of another language than English
 */
export function sentence(said, translations = {}) {
  const written = (part) => {
    if (Array.isArray(part)) return part.map(written).join(", ");
    return part?.template === undefined ? part : sentence(part, translations);
  };
  const { template, values = {} } = said.template === undefined ? { template: said } : said;
  return (translations[template] ?? template).replace(/\{(\w+)\}/g, (_, name) => written(values[name]));
}

export class InputError extends Error {
  /**
   * @param {string | {template: string, values: object}} said what `sentence` makes for who typed
   * @param {"empty" | "long" | "unknown" | "file" | "numbers"} kind what is wrong
   * @param {object} details `words` of kind "unknown": [{word, near}], near a known word or undefined
   */
  constructor(said, kind, details = {}) {
    super(sentence(said));
    Object.assign(this, { name: "InputError", kind, said, ...details });
  }

  /** The message in the words of a translation of its templates. */
  translated(translations) {
    return sentence(this.said, translations);
  }
}
