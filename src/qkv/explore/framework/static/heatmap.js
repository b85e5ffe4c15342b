import { cellKeys, cellUnder, computeLayout, corner } from "./heatmap_layout.js";
import { fittingFormat, formatExact, formatNumber } from "./number_format.js";
import { makeSelectable } from "./mark_selection.js";
import { addHatchPattern, clamp, createPicture, FONT, label, setAttributes, svg, textWidth } from "./elements.js";

const SMALLEST_NUMBERED = 20; // px: a smaller cell has no number, and a head of them is drawn sooner
const STRONG = 0.6; // beyond this the cell is dark (light on a dark page), and its number changes

// The ends of the colours: weights go from 0 to 1, scores as far below zero as above it.
function scale(panel) {
  if (panel.colours === "weights") return panel.limits ?? [0, 1];
  const far = Math.max(...(panel.limits ?? panel.range ?? [1]).map(Math.abs), 1e-9);
  return [-far, far];
}

// Position on the colours: 0..1 for weights, −1..1 for scores. What a mask allows is full, as a weight is.
function shade(panel, value) {
  if (!Number.isFinite(value)) return 0;
  if (panel.colours === "mask") return value ? 1 : 0;
  const [low, high] = scale(panel);
  return panel.colours === "weights"
    ? clamp((value - low) / (high - low), 0, 1) : clamp(value / high, -1, 1);
}

function tint(rect, v) {
  rect.style.setProperty("--v", Math.abs(v).toFixed(4));
  rect.classList.toggle("qkv-minus", v < 0);
}

const isHatched = (panel, value) =>
  !Number.isFinite(value) || (panel.colours === "mask" && !value);

function cellText(panel, value, format, room) {
  if (panel.colours === "mask") return value ? "✓" : "";
  if (panel.words) return "";
  const text = Number.isFinite(value) ? format?.(value) ?? "" : formatNumber(value);
  return textWidth(text, FONT) <= room ? text : "";
}

// Cells are copies of one: a head more is hundreds of elements, and copying is cheap.
function cellTemplate(panel, layout) {
  const legible = layout.cell >= (panel.colours === "mask" ? SMALLEST_NUMBERED / 2 : SMALLEST_NUMBERED);
  const gap = layout.cell > 12 ? 1 : 0.5;
  const side = layout.cell - gap;
  return svg("g", { class: "qkv-cell" },
    svg("rect", { width: side, height: side, rx: layout.cell > 20 ? 3 : 1 }),
    ...(legible ? [svg("text", { x: side / 2, y: layout.cell / 2 })] : []));
}

function cell(template, layout, i, j) {
  const group = template.cloneNode(true);
  group.setAttribute("transform", `translate(${j * layout.cell},${i * layout.cell})`);
  group.dataset.row = i;
  group.dataset.column = j;
  return { group, rect: group.firstChild, text: group.querySelector("text"), content: "" };
}

function tokenLabels(panel, layout, head, marks) {
  const keep = (list, k, text, attributes) => {
    const element = label(text, attributes);
    (list[k] ??= []).push(element);
    return element;
  };
  const rows = head % layout.perRow ? [] : panel.rows.map((text, i) => keep(marks.rows, i, text,
    { x: -6, y: (i + 0.5) * layout.cell, "text-anchor": "end" }));
  const columns = panel.columns.map((text, j) => keep(marks.columns, j, text, layout.angle
    ? { transform: `translate(${(j + 0.5) * layout.cell},-8) rotate(-${layout.angle})` }
    : { x: (j + 0.5) * layout.cell, y: -FONT + 2, "text-anchor": "middle" }));
  return layout.cell < 9 ? [] : [...rows, ...columns];
}

// Where cells are too small for numbers, a strip says what the colours mean.
function colourKey(panel, layout) {
  const [low, high] = scale(panel);
  const ends = [low, high].map((v) => formatNumber(Number(v.toPrecision(2))));
  const y = layout.height - FONT / 2 - 2;
  const start = layout.left + textWidth(ends[0], FONT) + 6;
  const steps = Array.from({ length: 25 }, (_, k) => {
    const rect = svg("rect", { class: "qkv-step", x: start + 4 * k, y: y - 5, width: 4.5, height: 10 });
    tint(rect, shade(panel, low + ((high - low) * k) / 24));
    return rect;
  });
  return [label(ends[0], { x: layout.left, y }), ...steps, label(ends[1], { x: start + 107, y })];
}

function build(panel, layout, labels) {
  const picture = createPicture(layout.width, layout.height);
  const hatch = addHatchPattern(picture);
  const marks = { cells: [], rows: [], columns: [] };
  const template = cellTemplate(panel, layout);
  for (let head = 0; head < layout.H; head++) {
    const group = svg("g", { transform: `translate(${corner(layout, head)})`, "data-head": head });
    group.append(...tokenLabels(panel, layout, head, marks));
    const heading = label(`${labels.head} ${head + 1}`, { y: FONT - layout.top, class: "qkv-head" });
    if (layout.H > 1) group.append(heading);
    for (let i = 0; i < layout.n; i++) for (let j = 0; j < layout.m; j++) {
      marks.cells.push(cell(template, layout, i, j));
      group.append(marks.cells.at(-1).group);
    }
    for (const kind of ["chosen", "across", "down"]) {
      group.append(svg("rect", { class: `qkv-band qkv-${kind}`, rx: 4 }));
    }
    picture.append(group);
  }
  if (layout.hasKey) picture.append(...colourKey(panel, layout));
  return { picture, hatch, ...marks };
}

function colour({ group, rect }, panel, value, hatch) {
  const v = shade(panel, value);
  const hatched = isHatched(panel, value);
  group.dataset.value = formatExact(value);
  group.classList.toggle("qkv-strong", Math.abs(v) > STRONG);
  group.classList.toggle("qkv-hatched", hatched);
  rect.style.fill = hatched ? hatch : "";
  tint(rect, v);
}

function paint(panel, layout, parts) {
  const values = [...panel.arrays[0]];
  const format = fittingFormat(values, layout.cell - 3);
  parts.cells.forEach((one, k) => {
    if (!Object.is(one.value, values[k])) colour(one, panel, (one.value = values[k]), parts.hatch);
    const content = one.text ? cellText(panel, values[k], format, layout.cell) : "";
    if (one.content !== content) one.text.textContent = one.content = content;
  });
  band(parts, "chosen", layout, panel.highlight_row ?? null, null);
}

function band(parts, kind, layout, row, column) {
  for (const rect of parts.picture.querySelectorAll(`.qkv-${kind}`)) {
    rect.style.display = row === null && column === null ? "none" : "";
    setAttributes(rect, row === null
      ? { x: column * layout.cell - 1.5, y: -1.5, width: layout.cell + 2, height: layout.n * layout.cell + 2 }
      : { x: -1.5, y: row * layout.cell - 1.5, width: layout.m * layout.cell + 2, height: layout.cell + 2 });
  }
}

function number(panel, value, labels) {
  if (panel.colours === "mask") return labels[value ? "allowed" : "blocked"];
  if (panel.words) return panel.words[value]; // a cell's value is the place of its word
  return formatNumber(value);
}

function reading(panel, layout, [head, i, j], labels) {
  const value = panel.arrays[0][(head * layout.n + i) * layout.m + j];
  const where = layout.H > 1 ? `${labels.head} ${head + 1} · ` : "";
  return `${where}${panel.rows[i]} → ${panel.columns[j]}: ${number(panel, value, labels)}`;
}

// Point at a cell: its row and its column answer, in every head.
function point(parts, layout, place) {
  const [, i, j] = place ?? [null, null, null];
  band(parts, "across", layout, i, null);
  band(parts, "down", layout, null, j);
  const highlight = (tokens, chosen) => tokens.forEach((copies, k) =>
    copies.forEach((copy) => copy.classList.toggle("qkv-on", k === chosen)));
  highlight(parts.rows, i);
  highlight(parts.columns, j);
}

function summary(panel, layout, labels) {
  const values = panel.arrays[0];
  const size = `${layout.H > 1 ? `${layout.H} × ` : ""}${layout.n} × ${layout.m}`;
  if (panel.colours === "mask") {
    return `${size}; ${labels.allowed}: ${values.filter((v) => v).length} / ${values.length}`;
  }
  const k = values.reduce((best, v, i) => (v > values[best] || Number.isNaN(values[best]) ? i : best), 0);
  const row = Math.floor(k / layout.m);
  const place = [Math.floor(row / layout.n), row % layout.n, k % layout.m];
  return `${size}; ${labels.largest} ${reading(panel, layout, place, labels)}`;
}

export function heatmap(first, width, labels, setReadout) {
  const layout = computeLayout(first, width);
  const parts = build(first, layout, labels);
  let panel = first;
  const cellUnderPointer = (event) => cellUnder(layout, parts.picture, event);
  const refreshSelection = makeSelectable(parts.picture, cellKeys(layout), cellUnderPointer, (place) => {
    point(parts, layout, place);
    setReadout(place && reading(panel, layout, place, labels));
  });
  point(parts, layout, null);
  return { element: parts.picture, update(next) {
    panel = next;
    paint(panel, layout, parts);
    refreshSelection();
    return summary(panel, layout, labels);
  } };
}
