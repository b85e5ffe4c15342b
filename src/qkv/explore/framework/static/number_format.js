import { textWidth } from "./elements.js";

// Formats numbers: for the eye, and exactly for the page's data-… attributes.
const MINUS = "\u2212";

export function formatExact(value) {
  return String(Number.isFinite(value) ? Number(value.toPrecision(4)) : value);
}

export function formatNumber(value, decimals) {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : `${MINUS}∞`;
  const text = decimals === undefined ? formatShort(value) : formatFixed(value, decimals);
  return (/[1-9]/.test(text) ? text : text.replace("-", "")).replaceAll("-", MINUS);
}

// A whole number with its thousands parted, as Python's format "," does it, so that a long one is read.
export function formatCount(value) {
  return formatNumber(value, 0).replace(/\d(?=(\d{3})+$)/g, "$&,");
}

// An exact half goes to the even digit, as Python prints it: the figures beside are Python's.
function formatFixed(value, decimals) {
  const unit = 10 ** decimals;
  const half = Math.abs(value * unit) % 1 === 0.5;
  return (half ? (2 * Math.round((value * unit) / 2)) / unit : value).toFixed(decimals);
}

// Four significant digits, and a power of ten only where plain digits would be long.
function formatShort(value) {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e6)) return formatScientific(value);
  return String(Number(value.toPrecision(4)));
}

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

function formatScientific(value) {
  const [digits, exponent] = value.toExponential(2).split("e");
  const raised = [...exponent.replace("+", "")].map((c) => (c === "-" ? "⁻" : RAISED[c])).join("");
  return `${Number(digits)}×10${raised}`;
}

// Round steps for an axis: 1, 2 or 5 times a power of ten; decades on a logarithmic one.
export function ticks(low, high, wanted, log) {
  return log ? decades(low, high, wanted) : steps(low, high, wanted);
}

function steps(low, high, wanted) {
  const rough = (high - low) / Math.max(1, wanted);
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = unit * [1, 2, 5, 10].find((factor) => factor * unit >= rough * 0.999);
  const values = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) {
    values.push(Number((i * step).toPrecision(12)));
  }
  return values;
}

function decades(low, high, wanted) {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const every = Math.max(1, Math.ceil((last - first) / Math.max(2, wanted)));
  const values = [];
  for (let i = first; i <= last; i += every) values.push(10 ** i);
  return values.filter((value) => value >= low * 0.999 && value <= high * 1.001);
}

// How to write numbers so that each is narrower than `room`; undefined when there is no way.
export function fittingFormat(values, room) {
  const finite = values.filter(Number.isFinite);
  const largest = Math.max(...finite.map(Math.abs), 0);
  const formats = finite.every(Number.isInteger) ? [(v) => formatNumber(v, 0)]
    : largest >= 100 ? [(v) => formatNumber(v, 0)]
      : largest >= 10 ? [(v) => formatNumber(v, 1)]
        : [(v) => formatNumber(v, 2), withoutZero];
  return formats.find((format) => finite.every((v) => textWidth(format(v), 11) <= room));
}

// Two decimals in a narrow cell: .25 for 0.25, 1 for 1.00.
function withoutZero(value) {
  return formatNumber(value, 2).replace(/\.00$/, "").replace(/0(?=\.)/, "");
}
