// Creates HTML and SVG elements, without ever parsing text as markup.
const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

export const FONT = 12;

export function html(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

export function svg(tag, attributes = {}, ...children) {
  const element = setAttributes(document.createElementNS(SVG_NAMESPACE, tag), attributes);
  element.append(...children);
  return element;
}

export function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

export function label(text, attributes) {
  return svg("text", { class: "qkv-label", ...attributes }, text);
}

// One picture to a screen reader, one tab stop to the keyboard.
export function createPicture(width, height) {
  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", tabindex: 0,
    class: "qkv-picture" });
}

// Every drawing has a pattern of its own: one inside a folded part of the page paints nothing. The
// page's stored explorers and the live ones in their place count apart, so the count is not enough.
let patternCount = 0;
const scriptId = Math.random().toString(36).slice(2);

export function addHatchPattern(drawing) {
  const id = `qkv-hatch-${scriptId}-${patternCount++}`;
  drawing.append(svg("defs", {}, svg("pattern", { id, width: 6, height: 6,
    patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
  svg("rect", { width: 6, height: 6, class: "qkv-ground" }),
  svg("rect", { width: 2, height: 6, class: "qkv-stroke" }))));
  return `url(#${id})`;
}

// Width of a text in pixels, to lay out labels before they are drawn.
const canvas = document.createElement("canvas").getContext("2d");
const widths = new Map(); // measured once: a slider asks for the same numbers again and again

export function textWidth(text, size) {
  if (!widths.size) canvas.font = `600 100px ${getComputedStyle(document.body).fontFamily}`;
  if (!widths.has(text)) widths.set(text, canvas.measureText(text).width / 100);
  return widths.get(text) * size;
}

export const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
