import { fittingFormat } from "./number_format.js";
import { pointerPosition } from "./mark_selection.js";
import { clamp, FONT, textWidth } from "./elements.js";

// Computes where a heatmap's cells stand: H grids of n × m cells, wrapped into rows of grids.
const LARGEST_CELL = 46; // px
const GAP = 18; // px

const widestLabel = (texts) => Math.max(...texts.map((text) => textWidth(text, FONT)));

export function computeLayout(panel, width) {
  const [H, n, m] = panel.shape.length === 3 ? panel.shape : [1, ...panel.shape];
  const left = Math.min(width * 0.35, widestLabel(panel.rows) + 10);
  const long = widestLabel(panel.columns);
  const perRow = gridsPerRow(H, m, width - left);
  const room = width - left - GAP * (perRow - 1);
  const angle = labelAngle(long, Math.min(LARGEST_CELL, room / (perRow * m)));
  // A slanted label of the last column leans out of its grid: half its height and cell included.
  const lean = angle === 45 ? Math.max(0, long * 0.71 - 5) : 0;
  const cell = Math.floor(clamp((room - lean) / (perRow * m), 3, LARGEST_CELL));
  const top = { 0: FONT + 8, 45: long * 0.71 + 16, 90: long + 14 }[angle] + (H > 1 ? FONT + 6 : 0);
  const hasKey = panel.colours !== "mask" && !fittingFormat([...(panel.range ?? []), 0.55], cell - 3);
  const below = Math.ceil(H / perRow);
  return { H, n, m, left, top, cell, perRow, angle, hasKey,
    width: Math.ceil(left + perRow * m * cell + (perRow - 1) * GAP + lean),
    height: Math.ceil(below * (top + n * cell) + (below - 1) * GAP) + (hasKey ? 30 : 2) };
}

// Column labels lie flat where there is room, then slant, then stand.
function labelAngle(long, cell) {
  if (long <= cell - 2) return 0;
  return cell >= FONT * 1.45 ? 45 : 90;
}

// As many grids side by side as leave cells of 14 px, in rows of equal length.
function gridsPerRow(H, m, room) {
  const fit = clamp(Math.floor((room + GAP) / (m * 14 + GAP)), 1, H);
  return Math.ceil(H / Math.ceil(H / fit));
}

export function corner(layout, head) {
  const [down, along] = [Math.floor(head / layout.perRow), head % layout.perRow];
  return [
    layout.left + along * (layout.m * layout.cell + GAP),
    layout.top + down * (layout.top + layout.n * layout.cell + GAP),
  ];
}

export function cellUnder(layout, picture, event) {
  const [x, y] = pointerPosition(picture, event);
  for (let head = 0; head < layout.H; head++) {
    const [left, top] = corner(layout, head);
    const [i, j] = [Math.floor((y - top) / layout.cell), Math.floor((x - left) / layout.cell)];
    if (i >= 0 && i < layout.n && j >= 0 && j < layout.m) return [head, i, j];
  }
  return null;
}

export function cellKeys(layout) {
  const size = layout.n * layout.m;
  const place = (k) => [Math.floor(k / size), Math.floor(k / layout.m) % layout.n, k % layout.m];
  const by = (step) => (cell) => (cell
    ? place(clamp(cell[0] * size + cell[1] * layout.m + cell[2] + step, 0, layout.H * size - 1)) : [0, 0, 0]);
  return { ArrowRight: by(1), ArrowLeft: by(-1), ArrowDown: by(layout.m), ArrowUp: by(-layout.m),
    PageDown: by(size), PageUp: by(-size), Home: () => [0, 0, 0] };
}
