import { computeLayout, middleOf, nearestInDirection, placeArrowLabels } from "./diagram_layout.js";
import { formatCount, formatExact, formatNumber } from "./number_format.js";
import { makeSelectable } from "./mark_selection.js";
import { createPicture, FONT, label, setAttributes, svg, textWidth } from "./elements.js";

const LINE = 15;
const STRONG = 0.6; // beyond this a box is dark (light on a dark page), and its text changes

// A page of the book knows its root, and a chapter is a page there; in Jupyter it is a notebook.
function chapterAddress(name) {
  const root = document.documentElement.dataset.content_root;
  return root === undefined ? `${name}.ipynb` : `${root}chapters/${name}.html`;
}

function boxElement(panel, i) {
  const href = panel.hrefs?.[i];
  if (!href) return svg("g");
  const element = svg("a", { href: chapterAddress(href) });
  element.dataset.lmSuppressShortcuts = "true"; // in JupyterLab, Enter would begin to edit the cell
  return element;
}

function boxMark(panel, layout, i) {
  const { left, right, top, bottom, x, y } = layout.boxes[i];
  const lines = panel.labels[i].split("\n");
  const frame = panel.frames[i];
  const valued = panel.box_texts[i] !== null || !Number.isNaN(panel.arrays[0][i]);
  const first = frame ? top + 11 : y - (LINE * (lines.length - 1 + (valued ? 1 : 0))) / 2;
  const place = (line) => (frame ? { x: left + 8, y: first + LINE * line } : { x, y: first + LINE * line, "text-anchor": "middle" });
  const fit = (text) => { // another font than the one that diagram.py reckons with may be wider
    const room = right - left - 4;
    return textWidth(text, FONT) > room ? { textLength: room, lengthAdjust: "spacingAndGlyphs" } : {};
  };
  const names = lines.map((text, k) => label(text, { ...place(k), ...fit(text), class: "qkv-label qkv-name" }));
  const value = label("", { ...place(lines.length), class: "qkv-label qkv-worth" });
  const element = setAttributes(boxElement(panel, i), { class: `qkv-part ${frame ? "qkv-surround" : "qkv-box"}`,
    "data-name": panel.names[i], "data-label": panel.labels[i] });
  element.append(svg("rect", { x: left, y: top, width: right - left, height: bottom - top, rx: frame ? 10 : 6 }),
    ...(frame ? [] : names.flatMap((name) => [name, " "])), value); // lines are words apart, to the ear too
  const role = panel.boxes[i][4];
  if (role) element.dataset.role = role;
  return { element, value, fit, over: frame ? svg("g", { class: "qkv-over", "data-over": panel.names[i] }, ...names) : null };
}

function arrowMark(panel, layout, k) {
  const path = layout.paths[k];
  const [[x1, y1], [x2, y2]] = path.slice(-2);
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
  const corner = (side) => `${x2 - 8 * ux - 4 * side * uy} ${y2 - 8 * uy + 4 * side * ux}`;
  const d = `M${path.map((point) => point.join(" ")).join("L")}`;
  const name = label("", { "text-anchor": "middle", class: "qkv-label qkv-shape-of" });
  const [from, to] = panel.arrows[k].map((end) => panel.names[end]);
  const element = svg("g", { class: "qkv-part qkv-link", "data-from": from, "data-to": to },
    svg("path", { class: "qkv-grip", d }), svg("path", { class: "qkv-wire", d }),
    svg("path", { class: "qkv-tip", d: `M${x2} ${y2}L${corner(1)}L${corner(-1)}Z` }), name);
  return { element, name };
}

function build(panel, layout) {
  const picture = createPicture(layout.width, layout.height);
  const boxes = panel.boxes.map((_, i) => boxMark(panel, layout, i));
  const arrows = panel.arrows.map((_, k) => arrowMark(panel, layout, k));
  const size = (i) => panel.boxes[i][2] * panel.boxes[i][3];
  const behind = boxes.map((_, i) => i).filter((i) => panel.frames[i]).sort((a, b) => size(b) - size(a));
  picture.append(...behind.map((i) => boxes[i].element), ...arrows.map(({ element }) => element),
    ...boxes.filter((_, i) => !panel.frames[i]).map(({ element }) => element),
    ...boxes.map(({ over }) => over).filter(Boolean)); // no arrow runs through the name of a frame
  const parts = [...boxes, ...arrows].map(({ element }) => element);
  parts.forEach((part, k) => { part.dataset.part = k; });
  return { picture, boxes, arrows, parts };
}

// Whole numbers, such as counts of parameters, to the last digit as far as float32 holds it.
function amount(panel, i) {
  const value = panel.arrays[0][i];
  if (panel.box_texts[i] !== null) return panel.box_texts[i];
  if (Number.isNaN(value)) return "";
  return Number.isInteger(value) && Math.abs(value) < 1e7 ? formatCount(value) : formatNumber(value);
}

function paint(panel, layout, { boxes, arrows }) {
  const levels = panel.arrays[1];
  boxes.forEach(({ element, value, fit }, i) => {
    const filled = !Number.isNaN(levels[i]);
    const written = amount(panel, i);
    element.dataset.value = panel.box_texts[i] ?? formatExact(panel.arrays[0][i]);
    element.dataset.level = formatExact(levels[i]);
    element.classList.toggle("qkv-filled", filled);
    element.classList.toggle("qkv-strong", filled && levels[i] > STRONG);
    element.style.setProperty("--v", filled ? levels[i].toFixed(4) : 0);
    for (const name of ["textLength", "lengthAdjust"]) value.removeAttribute(name);
    setAttributes(value, fit(written));
    value.textContent = written;
  });
  const places = placeArrowLabels(panel, layout);
  arrows.forEach(({ element, name }, k) => {
    const place = places[k] ?? middleOf(layout.paths[k]);
    name.textContent = element.dataset.label = panel.arrow_labels[k];
    setAttributes(name, { x: place.x, y: place.y });
    element.classList.toggle("qkv-crowded", !places[k]);
  });
}

const inOneLine = (text) => text.replaceAll("\n", " ");

function reading(panel, k, labels) {
  const n = panel.boxes.length;
  const detail = panel.details[k] && ` · ${panel.details[k]}`;
  if (k >= n) {
    const [from, to] = panel.arrows[k - n].map((end) => inOneLine(panel.labels[end] ?? ""));
    return `${from} → ${to}${panel.arrow_labels[k - n] && `: ${panel.arrow_labels[k - n]}`}${detail}`;
  }
  const level = panel.arrays[1][k];
  const worth = amount(panel, k) && `: ${amount(panel, k)}`;
  const filled = Number.isNaN(level) || labels.level === "" ? "" : ` (${labels.level ?? "level"} ${formatNumber(level, 2)})`;
  return `${inOneLine(panel.labels[k])}${worth}${filled}${detail}`;
}

// Arrow keys go to the nearest part in their direction, Page Up and Page Down through all in order.
function keys(panel, layout) {
  const places = [...layout.boxes.map((box, i) => (panel.frames[i] ? { x: box.x, y: box.top } : box)), ...layout.paths.map(middleOf)];
  const towards = (direction) => (k) => (k === null ? 0 : nearestInDirection(places, k, direction));
  const by = (step) => (k) => (k === null ? 0 : Math.min(places.length - 1, Math.max(0, k + step)));
  return { ArrowRight: towards([1, 0]), ArrowLeft: towards([-1, 0]), ArrowDown: towards([0, 1]), ArrowUp: towards([0, -1]),
    PageDown: by(1), PageUp: by(-1), Home: () => 0, End: () => places.length - 1 };
}

function summary(panel, labels, count) {
  const valued = panel.boxes.map((_, i) => i).filter((i) => amount(panel, i)).map((i) => `${inOneLine(panel.labels[i])} ${amount(panel, i)}`);
  return [`${count} ${labels.parts ?? "parts"}`, ...valued.slice(0, 6), ...(valued.length > 6 ? ["…"] : [])].join("; ");
}

export function diagram(first, width, labels, setReadout) {
  const layout = computeLayout(first, width);
  const drawn = build(first, layout);
  const links = drawn.parts.filter((part) => part.matches("a"));
  if (links.length) { // the picture is a group of them, and the tab key goes from one to the next
    drawn.picture.setAttribute("role", "group");
    drawn.picture.removeAttribute("tabindex");
  }
  let panel = first;
  const partUnder = (event) => {
    const under = event.target.closest(".qkv-part");
    return under ? Number(under.dataset.part) : null;
  };
  const refreshSelection = makeSelectable(drawn.picture, links.length ? {} : keys(first, layout), partUnder, (at) => {
    drawn.parts.forEach((part, k) => part.classList.toggle("qkv-on", k === at));
    if (at !== null && drawn.picture.matches(":focus-visible")) drawn.parts[at].scrollIntoView({ block: "nearest", inline: "nearest" });
    setReadout(at === null ? null : reading(panel, at, labels));
  }, links.length > 0);
  return { element: drawn.picture, longest: drawn.parts.map((_, k) => reading(first, k, labels)), update(next) {
    panel = next;
    paint(panel, layout, drawn);
    for (const link of links) link.setAttribute("aria-label", reading(panel, Number(link.dataset.part), labels));
    refreshSelection();
    if (links.length) drawn.picture.dispatchEvent(new CustomEvent("links-drawn", { bubbles: true })); // a page may mark them
    return summary(panel, labels, drawn.parts.length);
  } };
}
