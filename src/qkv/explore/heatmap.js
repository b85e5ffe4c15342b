import { cellKeys, cellUnder, corner, plan } from "./grid.js";
import { exact, fitting, shown } from "./numbers.js";
import { readable } from "./read.js";
import { clamp, FONT, hatching, label, picture, set, svg, textWidth } from "./svg.js";

const LEGIBLE = 20; // px: a smaller cell has no number in it, and a head of them is drawn sooner
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

function written(panel, value, write, room) {
  if (panel.colours === "mask") return value ? "✓" : "";
  const text = Number.isFinite(value) ? write?.(value) ?? "" : shown(value);
  return textWidth(text, FONT) <= room ? text : "";
}

// Cells are copies of one: a head more is hundreds of elements, and copying is cheap.
function mould(panel, p) {
  const legible = p.cell >= (panel.colours === "mask" ? LEGIBLE / 2 : LEGIBLE);
  const gap = p.cell > 12 ? 1 : 0.5;
  const side = p.cell - gap;
  return svg("g", { class: "qkv-cell" },
    svg("rect", { width: side, height: side, rx: p.cell > 20 ? 3 : 1 }),
    ...(legible ? [svg("text", { x: side / 2, y: p.cell / 2 })] : []));
}

function cell(mould, p, i, j) {
  const group = mould.cloneNode(true);
  group.setAttribute("transform", `translate(${j * p.cell},${i * p.cell})`);
  group.dataset.row = i;
  group.dataset.column = j;
  return { group, rect: group.firstChild, text: group.querySelector("text"), words: "" };
}

function tokens(panel, p, head, marks) {
  const keep = (list, k, text, attributes) => {
    const made = label(text, attributes);
    (list[k] ??= []).push(made);
    return made;
  };
  const rows = head % p.perRow ? [] : panel.rows.map((text, i) => keep(marks.rows, i, text,
    { x: -6, y: (i + 0.5) * p.cell, "text-anchor": "end" }));
  const columns = panel.columns.map((text, j) => keep(marks.columns, j, text, p.turn
    ? { transform: `translate(${(j + 0.5) * p.cell},-8) rotate(-${p.turn})` }
    : { x: (j + 0.5) * p.cell, y: -FONT + 2, "text-anchor": "middle" }));
  return p.cell < 9 ? [] : [...rows, ...columns];
}

// Where cells are too small for numbers, a strip says what the colours mean.
function key(panel, p) {
  const [low, high] = scale(panel);
  const ends = [low, high].map((v) => shown(Number(v.toPrecision(2))));
  const y = p.height - FONT / 2 - 2;
  const start = p.left + textWidth(ends[0], FONT) + 6;
  const steps = Array.from({ length: 25 }, (_, k) => {
    const rect = svg("rect", { class: "qkv-step", x: start + 4 * k, y: y - 5, width: 4.5, height: 10 });
    tint(rect, shade(panel, low + ((high - low) * k) / 24));
    return rect;
  });
  return [label(ends[0], { x: p.left, y }), ...steps, label(ends[1], { x: start + 107, y })];
}

function build(panel, p, said) {
  const drawing = picture(p.width, p.height);
  const hatch = hatching(drawing);
  const marks = { cells: [], rows: [], columns: [] };
  const empty = mould(panel, p);
  for (let head = 0; head < p.H; head++) {
    const group = svg("g", { transform: `translate(${corner(p, head)})`, "data-head": head });
    group.append(...tokens(panel, p, head, marks));
    if (p.H > 1) group.append(label(`${said.head} ${head + 1}`, { y: FONT - p.top, class: "qkv-head" }));
    for (let i = 0; i < p.n; i++) for (let j = 0; j < p.m; j++) {
      marks.cells.push(cell(empty, p, i, j));
      group.append(marks.cells.at(-1).group);
    }
    for (const kind of ["chosen", "across", "down"]) {
      group.append(svg("rect", { class: `qkv-band qkv-${kind}`, rx: 4 }));
    }
    drawing.append(group);
  }
  if (p.key) drawing.append(...key(panel, p));
  return { drawing, hatch, ...marks };
}

function colour({ group, rect }, panel, value, hatch) {
  const v = shade(panel, value);
  const hatched = isHatched(panel, value);
  group.dataset.value = exact(value);
  group.classList.toggle("qkv-strong", Math.abs(v) > STRONG);
  group.classList.toggle("qkv-hatched", hatched);
  rect.style.fill = hatched ? hatch : "";
  tint(rect, v);
}

function paint(panel, p, made) {
  const values = [...panel.arrays[0]];
  const write = fitting(values, p.cell - 3);
  made.cells.forEach((one, k) => {
    if (!Object.is(one.value, values[k])) colour(one, panel, (one.value = values[k]), made.hatch);
    const words = one.text ? written(panel, values[k], write, p.cell) : "";
    if (one.words !== words) one.text.textContent = one.words = words;
  });
  band(made, "chosen", p, panel.highlight_row ?? null, null);
}

function band(made, kind, p, row, column) {
  for (const rect of made.drawing.querySelectorAll(`.qkv-${kind}`)) {
    rect.style.display = row === null && column === null ? "none" : "";
    set(rect, row === null
      ? { x: column * p.cell - 1.5, y: -1.5, width: p.cell + 2, height: p.n * p.cell + 2 }
      : { x: -1.5, y: row * p.cell - 1.5, width: p.m * p.cell + 2, height: p.cell + 2 });
  }
}

function number(panel, value, said) {
  if (panel.colours === "mask") return said[value ? "allowed" : "blocked"];
  return shown(value);
}

function reading(panel, p, [head, i, j], said) {
  const value = panel.arrays[0][(head * p.n + i) * p.m + j];
  const where = p.H > 1 ? `${said.head} ${head + 1} · ` : "";
  return `${where}${panel.rows[i]} → ${panel.columns[j]}: ${number(panel, value, said)}`;
}

// Point at a cell: its row and its column answer, in every head.
function point(made, p, place) {
  const [, i, j] = place ?? [null, null, null];
  band(made, "across", p, i, null);
  band(made, "down", p, null, j);
  const light = (labels, on) => labels.forEach((copies, k) =>
    copies.forEach((copy) => copy.classList.toggle("qkv-on", k === on)));
  light(made.rows, i);
  light(made.columns, j);
}

function summary(panel, p, said) {
  const values = panel.arrays[0];
  const size = `${p.H > 1 ? `${p.H} × ` : ""}${p.n} × ${p.m}`;
  if (panel.colours === "mask") {
    return `${size}; ${said.allowed}: ${values.filter((v) => v).length} / ${values.length}`;
  }
  const k = values.reduce((best, v, i) => (v > values[best] || Number.isNaN(values[best]) ? i : best), 0);
  const place = [Math.floor(k / (p.n * p.m)), Math.floor(k / p.m) % p.n, k % p.m];
  return `${size}; ${said.largest} ${reading(panel, p, place, said)}`;
}

export function heatmap(first, width, said, say) {
  const p = plan(first, width);
  const made = build(first, p, said);
  let panel = first;
  const again = readable(made.drawing, cellKeys(p), (event) => cellUnder(p, made.drawing, event),
    (place) => {
      point(made, p, place);
      say(place && reading(panel, p, place, said));
    });
  point(made, p, null);
  return { element: made.drawing, update(next) {
    panel = next;
    paint(panel, p, made);
    again();
    return summary(panel, p, said);
  } };
}
