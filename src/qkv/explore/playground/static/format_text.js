/** A text with its {names} replaced by their values. */
export function formatText(text, values) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}
