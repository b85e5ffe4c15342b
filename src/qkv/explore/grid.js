import { fitting } from "./numbers.js";
import { positionIn } from "./read.js";
import { clamp, FONT, textWidth } from "./svg.js";

// The geometry of a heatmap: H grids of n × m cells, wrapped into rows of grids.
const LARGEST = 46;
const GAP = 18;

const widest = (texts) => Math.max(...texts.map((text) => textWidth(text, FONT)));

export function plan(panel, width) {
  const [H, n, m] = panel.shape.length === 3 ? panel.shape : [1, ...panel.shape];
  const left = Math.min(width * 0.35, widest(panel.rows) + 10);
  const long = widest(panel.columns);
  const perRow = gridsPerRow(H, m, width - left);
  const room = width - left - GAP * (perRow - 1);
  const turn = turned(long, Math.min(LARGEST, room / (perRow * m)));
  // A slanted label of the last column leans out of its grid.
  const lean = turn === 45 ? Math.max(0, long * 0.71 - 12) : 0;
  const cell = Math.floor(clamp((room - lean) / (perRow * m), 3, LARGEST));
  const top = { 0: FONT + 8, 45: long * 0.71 + 16, 90: long + 14 }[turn] + (H > 1 ? FONT + 6 : 0);
  const key = panel.colours !== "mask" && !fitting([...(panel.range ?? []), 0.55], cell - 3);
  const below = Math.ceil(H / perRow);
  return { H, n, m, left, top, cell, perRow, turn, key,
    width: Math.ceil(left + perRow * m * cell + (perRow - 1) * GAP + lean),
    height: Math.ceil(below * (top + n * cell) + (below - 1) * GAP) + (key ? 30 : 2) };
}

// Column labels lie flat where there is room, then slant, then stand.
function turned(long, cell) {
  if (long <= cell - 2) return 0;
  return cell >= FONT * 1.45 ? 45 : 90;
}

// As many grids side by side as leave cells of 14 px, in rows of equal length.
function gridsPerRow(H, m, room) {
  const fit = clamp(Math.floor((room + GAP) / (m * 14 + GAP)), 1, H);
  return Math.ceil(H / Math.ceil(H / fit));
}

export function corner(p, head) {
  const [down, along] = [Math.floor(head / p.perRow), head % p.perRow];
  return [p.left + along * (p.m * p.cell + GAP), p.top + down * (p.top + p.n * p.cell + GAP)];
}

export function cellUnder(p, drawing, event) {
  const [x, y] = positionIn(drawing, event);
  for (let head = 0; head < p.H; head++) {
    const [left, top] = corner(p, head);
    const [i, j] = [Math.floor((y - top) / p.cell), Math.floor((x - left) / p.cell)];
    if (i >= 0 && i < p.n && j >= 0 && j < p.m) return [head, i, j];
  }
  return null;
}

export function cellKeys(p) {
  const size = p.n * p.m;
  const place = (k) => [Math.floor(k / size), Math.floor(k / p.m) % p.n, k % p.m];
  const by = (step) => (at) => (at
    ? place(clamp(at[0] * size + at[1] * p.m + at[2] + step, 0, p.H * size - 1)) : [0, 0, 0]);
  return { ArrowRight: by(1), ArrowLeft: by(-1), ArrowDown: by(p.m), ArrowUp: by(-p.m),
    PageDown: by(size), PageUp: by(-size), Home: () => [0, 0, 0] };
}
