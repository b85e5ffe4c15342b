// What is exported, and kept in the browser: {"book": …, "version": 1, "marks": ["masks", "masks-3"]}.
const BOOK = "The Runnable Transformer";
export const VERSION = 1;
// Fifty times what all marks of the book take.
export const MAX_BYTES = 100_000;
const MARK = /^[a-z][a-z_]{0,39}(-[1-9]\d{0,2})?$/;

export const isMark = (value) => typeof value === "string" && MARK.test(value);

export const encode = (marks) => JSON.stringify({ book: BOOK, version: VERSION, marks: [...marks].sort() }, null, 1);

// Returns the marks, or why there are none: `refused` is "json", "book", "version" or "marks", and then there
// is the `version` that came. Marks of exercises that this copy of the book lacks are kept: another may have them.
export function decode(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    return { refused: "json" };
  }
  const { book, version, marks } = value ?? {};
  if (book !== BOOK) return { refused: "book" };
  if (version !== VERSION) return { refused: "version", version };
  return Array.isArray(marks) && marks.every(isMark) ? { marks: new Set(marks) } : { refused: "marks" };
}
