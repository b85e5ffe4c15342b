// Elements, SVG and HTML, without ever parsing text as markup.
const SVG = "http://www.w3.org/2000/svg";

export const FONT = 12;

export function html(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

export function svg(tag, attributes = {}, ...children) {
  const element = set(document.createElementNS(SVG, tag), attributes);
  element.append(...children);
  return element;
}

export function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

export function label(text, attributes) {
  return svg("text", { class: "qkv-label", ...attributes }, text);
}

// One picture to a screen reader, one tab stop to the keyboard.
export function picture(width, height) {
  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", tabindex: 0,
    class: "qkv-picture" });
}

// Every drawing has a pattern of its own: one inside a folded part of the page paints nothing.
let patterns = 0;

export function hatching(drawing) {
  const id = `qkv-hatch-${patterns++}`;
  drawing.append(svg("defs", {}, svg("pattern", { id, width: 6, height: 6,
    patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
  svg("rect", { width: 6, height: 6, class: "qkv-ground" }),
  svg("rect", { width: 2, height: 6, class: "qkv-stroke" }))));
  return `url(#${id})`;
}

// Width of a text in pixels, near enough to lay out labels before they are drawn.
export function textWidth(text, size) {
  let ems = 0;
  for (const char of text) ems += char > "\u2e80" ? 1 : /[iljtfr.,:;'()! ]/.test(char) ? 0.36 : 0.62;
  return ems * size;
}

export const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
