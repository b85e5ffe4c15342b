import { boxAround, overlapArea } from "./label_placement.js";
import { clamp, FONT, textWidth } from "./elements.js";

// Computes where a diagram's boxes stand, how its arrows run, and where their labels have room.
const UNIT = 40; // px a unit is high, and at least wide: diagram.py checks that texts fit it
const WIDEST_UNIT = 64;
const MARGIN = 6;

export function computeLayout(panel, width) {
  const passed = (axis) => panel.arrows.flatMap(([, , via]) => via.map((point) => point[axis]));
  const near = [0, 1].map((axis) => Math.min(...panel.boxes.map((box) => box[axis]), ...passed(axis)));
  const far = [0, 1].map((axis) => Math.max(...panel.boxes.map((box) => box[axis] + box[axis + 2]), ...passed(axis)));
  const unit = clamp((width - 2 * MARGIN) / (far[0] - near[0]), UNIT, WIDEST_UNIT);
  const across = (x) => MARGIN + (x - near[0]) * unit;
  const down = (y) => MARGIN + (y - near[1]) * UNIT;
  const boxes = panel.boxes.map(([x, y, w, h]) => ({ left: across(x), right: across(x + w), top: down(y),
    bottom: down(y + h), x: across(x + w / 2), y: down(y + h / 2) }));
  const paths = panel.arrows.map(([from, to, via]) =>
    route(boxes[from], boxes[to], via.map(([x, y]) => [across(x), down(y)])));
  return { boxes, paths, width: Math.ceil(across(far[0]) + MARGIN), height: Math.ceil(down(far[1]) + MARGIN) };
}

const within = (value, low, high) => value >= low && value <= high;

// Where an arrow leaves (or enters) a box towards a point: straight across or down if it can.
function port(box, [x, y]) {
  if (within(x, box.left, box.right)) return [[x, y < box.y ? box.top : box.bottom]];
  const side = x < box.x ? box.left : box.right;
  if (within(y, box.top, box.bottom)) return [[side, y]];
  return [[side, box.y], [x, box.y]];
}

function route(a, b, via) {
  if (via.length) return [...port(a, via[0]), ...via, ...port(b, via.at(-1)).reverse()];
  const x = [Math.max(a.left, b.left), Math.min(a.right, b.right)];
  const y = [Math.max(a.top, b.top), Math.min(a.bottom, b.bottom)];
  const middle = ([low, high]) => (low + high) / 2;
  if (x[0] < x[1]) return a.y < b.y ? [[middle(x), a.bottom], [middle(x), b.top]] : [[middle(x), a.top], [middle(x), b.bottom]];
  if (y[0] < y[1]) return a.x < b.x ? [[a.right, middle(y)], [b.left, middle(y)]] : [[a.left, middle(y)], [b.right, middle(y)]];
  return [[a.x < b.x ? a.right : a.left, a.y], [b.x, a.y], [b.x, a.y < b.y ? b.top : b.bottom]];
}

export const segments = (path) => path.slice(1).map((to, i) => [path[i], to]);
const lengthOf = ([[x1, y1], [x2, y2]]) => Math.hypot(x2 - x1, y2 - y1);

// The point by which the keyboard finds an arrow.
export function middleOf(path) {
  const [from, to] = segments(path).reduce((a, b) => (lengthOf(b) > lengthOf(a) ? b : a));
  return { x: (from[0] + to[0]) / 2, y: (from[1] + to[1]) / 2 };
}

function labelCandidates(path, width) {
  return segments(path).flatMap(([from, to]) => [0.5, 0.35, 0.65, 0.2, 0.8].flatMap((t) => {
    const [x, y] = [from[0] + t * (to[0] - from[0]), from[1] + t * (to[1] - from[1])];
    const upright = Math.abs(to[0] - from[0]) < Math.abs(to[1] - from[1]);
    const [dx, dy] = upright ? [width / 2 + 7, 0] : [0, -FONT / 2 - 4];
    return [boxAround(x + dx, y + dy, width, FONT + 2), boxAround(x - dx, y - dy, width, FONT + 2)];
  }));
}

// A free place for each arrow's label, null where it would cover a box, an arrow or another label.
export function placeArrowLabels(panel, layout) {
  const solid = layout.boxes.filter((_, i) => !panel.frames[i]);
  const named = layout.boxes.filter((_, i) => panel.frames[i])
    .map((box) => boxAround(box.x, box.top + 11, box.right - box.left, 18));
  const lines = layout.paths.flatMap((path) => segments(path).map(([[x1, y1], [x2, y2]]) => ({
    left: Math.min(x1, x2) - 2, right: Math.max(x1, x2) + 2, top: Math.min(y1, y2) - 2, bottom: Math.max(y1, y2) + 2 })));
  const taken = [...solid, ...named, ...lines];
  const page = { left: 0, top: 0, right: layout.width, bottom: layout.height };
  const inside = (box) => box.left >= 0 && box.top >= 0 && box.right <= page.right && box.bottom <= page.bottom;
  return panel.arrow_labels.map((text, k) => {
    if (!text) return null;
    const width = textWidth(text, FONT);
    const place = labelCandidates(layout.paths[k], width)
      .find((box) => inside(box) && !taken.some((other) => overlapArea(box, other)));
    if (place) taken.push(place);
    return place ?? null;
  });
}

// The part nearest in one direction: what lies sideways counts twice.
export function nearestInDirection(places, from, [dx, dy]) {
  let [best, least] = [from, Infinity];
  places.forEach(({ x, y }, i) => {
    const along = (x - places[from].x) * dx + (y - places[from].y) * dy;
    const aside = Math.abs((x - places[from].x) * dy) + Math.abs((y - places[from].y) * dx);
    const distance = along + 2 * aside;
    if (along > 1 && distance < least) [best, least] = [i, distance];
  });
  return best;
}
