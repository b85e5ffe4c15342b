import { formatNumber } from "../../framework/static/number_format.js";
import { VALUES } from "./settings.js";

// Control descriptors: what a page draws a native control from.

const MOST_BUTTONS = 9; // beyond, a slider takes less room

/**
 * @typedef {object} Control
 * @property {string} name of the setting
 * @property {"slider" | "choice" | "switches" | "button"} kind
 * @property {string} label
 * @property {string[]} texts of the values
 * @property {number | boolean[]} value the place of the value; of switches, which are on
 * @property {boolean} recomputes whether a move asks for another answer
 */
export const control = (name, kind, label, texts, value, recomputes) => ({
  name,
  kind,
  label,
  texts,
  value,
  recomputes,
});

/** Buttons, or a slider where they would be many. */
export function pick(name, label, texts, value) {
  return control(name, texts.length > MOST_BUTTONS ? "slider" : "choice", label, texts, value, false);
}

/** A control over `VALUES`: words by their labels, numbers on a slider. */
export function overValues(name, settings, labels, recomputes = true) {
  const values = VALUES[name];
  const text = (value) => (typeof value === "string" ? labels[value] : formatNumber(value));
  const texts = values.map((value) => (name === "topK" && value === 0 ? labels["all words"] : text(value)));
  const kind = typeof values[0] === "string" ? "choice" : "slider";
  return control(name, kind, labels[name], texts, placeOf(values, settings[name]), recomputes);
}

/** The place of a value, or of the number nearest to it. */
function placeOf(values, value) {
  if (values.includes(value)) return values.indexOf(value);
  const far = values.map((one) => Math.abs(one - value));
  return Math.max(0, far.indexOf(Math.min(...far)));
}
