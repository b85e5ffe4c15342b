import { formatExact, formatNumber } from "./number_format.js";
import { boxAround, placeLabels } from "./label_placement.js";
import { clamp, createPicture, FONT, label, setAttributes, svg, textWidth } from "./elements.js";

// Draws a scatter's pictures once, and moves their points, arrows and labels.
const HEAD = 9; // px, the head of an arrow
const ROLES = ["query", "key", "value", "output"];
const SHAPES = [
  "M-5 0A5 5 0 1 1 5 0A5 5 0 1 1 -5 0Z", "M-4.5 -4.5H4.5V4.5H-4.5Z",
  "M0 -6L5.5 4.5H-5.5Z", "M0 -6.5L6.5 0L0 6.5L-6.5 0Z",
];

const tinted = (group, order) => {
  const element = svg("g", { "data-order": order });
  if (ROLES.includes(group)) element.dataset.role = group;
  return element;
};

function frame(panel, layout, h) {
  const { side, scale } = layout;
  const zero = layout.low <= 0 && layout.high >= 0 ? scale(0) : null;
  const line = (kind, x1, y1, x2, y2) => svg("line", { class: `qkv-${kind}`, x1, y1, x2, y2 });
  return [
    svg("rect", { class: "qkv-plane", width: side, height: side, rx: 3 }),
    ...(panel.circle ? [] : layout.levels.flatMap((v) => [
      line("rule", scale(v), 0, scale(v), side), line("rule", 0, side - scale(v), side, side - scale(v))])),
    ...(zero === null ? [] : [
      line("base", zero, 0, zero, side), line("base", 0, side - zero, side, side - zero)]),
    ...(panel.circle ? [svg("circle", { class: "qkv-circle", cx: scale(0), cy: side - scale(0),
      r: scale(1) - scale(0) })] : []),
    ...(layout.numbered ? layout.levels.flatMap((v) => [
      label(formatNumber(v), { x: scale(v), y: side + FONT, "text-anchor": "middle" }),
      ...(layout.left(h) < side ? [label(formatNumber(v), { x: -6, y: side - scale(v), "text-anchor": "end" })] : []),
    ]) : []),
    ...(panel.names ? [label(panel.names[h], { x: side / 2, y: -FONT + 2, class: "qkv-head", "text-anchor": "middle" })] : []),
  ];
}

function legend(layout) {
  return layout.groups.map((name, order) => {
    const [x, y] = layout.legend.places[order];
    const entry = tinted(name, order);
    entry.setAttribute("class", "qkv-key-entry");
    entry.append(svg("path", { class: "qkv-shape", d: SHAPES[order], transform: `translate(${x + 8},${y})` }),
      label(name, { x: x + 20, y }));
    return entry;
  });
}

function pointMark(panel, layout, h, i) {
  const group = panel.groups?.[i];
  const order = Math.max(0, layout.groups.indexOf(group));
  const element = tinted(group, order);
  setAttributes(element, { class: "qkv-point", "data-picture": h, "data-label": panel.labels[i],
    "data-group": group ?? "" });
  const parts = { element, trail: svg("path", { class: "qkv-trail" }),
    hollow: svg("path", { class: "qkv-hollow", d: SHAPES[order] }),
    shaft: svg("path", { class: "qkv-shaft" }), head: svg("path", { class: "qkv-tip" }),
    shape: svg("path", { class: "qkv-shape", d: SHAPES[order] }), leader: svg("path", { class: "qkv-leader" }),
    name: label(panel.labels[i], { "text-anchor": "middle" }) };
  const before = panel.arrays[1] ? [parts.trail, parts.hollow] : [];
  element.append(...before, ...(panel.arrows ? [parts.shaft, parts.head] : [parts.shape]), parts.leader, parts.name);
  return parts;
}

export function build(panel, layout) {
  const picture = createPicture(layout.width, layout.height);
  const marks = [];
  for (let h = 0; h < layout.H; h++) {
    const group = svg("g", { transform: `translate(${layout.left(h)},${layout.up(h)})` }, ...frame(panel, layout, h));
    for (let i = 0; i < layout.n; i++) marks.push(pointMark(panel, layout, h, i));
    group.append(...marks.slice(-layout.n).map(({ element }) => element));
    picture.append(group);
  }
  picture.append(...legend(layout),
    label(panel.y_label, { x: 0, y: layout.legend.height + FONT, class: "qkv-axis" }),
    label(panel.x_label, { x: layout.width - 1, y: layout.height - FONT / 2 - 2, class: "qkv-axis", "text-anchor": "end" }));
  return { picture, marks };
}

// Where a value stands in its square; one beyond the axes stands at their edge.
export const placeOf = (layout, values, k) => [0, 1].map((axis) => {
  const at = clamp(layout.scale(values[2 * k + axis]), 0, layout.side);
  return axis ? layout.side - at : at;
});

const moveTo = (element, [x, y]) => element.style.setProperty("transform", `translate(${x.toFixed(2)}px, ${y.toFixed(2)}px)`);

function trace(path, d) {
  path.setAttribute("d", d);
  path.style.setProperty("d", `path("${d}")`); // an attribute alone does not move, it jumps
}

function arrow({ shaft, head }, from, to) {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const length = Math.hypot(dx, dy);
  const [ux, uy] = length > 1e-3 ? [dx / length, dy / length] : [0, 0];
  const size = Math.min(HEAD, length);
  const [bx, by] = [to[0] - ux * size, to[1] - uy * size];
  const corner = (side) => `${(bx - side * uy * size * 0.45).toFixed(2)} ${(by + side * ux * size * 0.45).toFixed(2)}`;
  trace(shaft, `M${from.map((v) => v.toFixed(2)).join(" ")}L${bx.toFixed(2)} ${by.toFixed(2)}`);
  trace(head, `M${to.map((v) => v.toFixed(2)).join(" ")}L${corner(1)}L${corner(-1)}Z`);
}

function paintMark(panel, layout, mark, k, origin) {
  const [values, start] = panel.arrays;
  const at = placeOf(layout, values, k);
  Object.assign(mark.element.dataset, { x: formatExact(values[2 * k]), y: formatExact(values[2 * k + 1]) });
  mark.at = at;
  mark.element.classList.toggle("qkv-beyond", isBeyond(layout, values, k));
  moveTo(mark.shape, at);
  if (panel.arrows) arrow(mark, origin, at);
  if (!start) return;
  const before = placeOf(layout, start, k);
  Object.assign(mark.element.dataset, { startX: formatExact(start[2 * k]), startY: formatExact(start[2 * k + 1]) });
  moveTo(mark.hollow, before);
  trace(mark.trail, `M${before.join(" ")}L${at.join(" ")}`);
}

export const isBeyond = (layout, values, k) =>
  [0, 1].some((axis) => values[2 * k + axis] < layout.low || values[2 * k + axis] > layout.high);

// What a label may not cover: marks, and the shafts of arrows.
function obstacles(panel, marks, origin) {
  const steps = panel.arrows ? [0.2, 0.4, 0.6, 0.8, 1] : [1];
  return marks.flatMap(({ at }) => steps.map((t) => boxAround(
    origin[0] + t * (at[0] - origin[0]), origin[1] + t * (at[1] - origin[1]), 11, 11)));
}

function paintLabels(panel, layout, marks, origin) {
  const points = marks.map(({ at }, i) => ({ x: at[0], y: at[1], radius: panel.arrows ? 2 : 6,
    width: textWidth(panel.labels[i], FONT) + 2, outward: panel.arrows ? [at[0] - origin[0], at[1] - origin[1]] : null }));
  const bounds = { left: 2, top: 2, right: layout.side - 2, bottom: layout.side - 2 };
  const single = layout.H > 1 && layout.n === 1; // its picture's name says what it is
  placeLabels(points, bounds, obstacles(panel, marks, origin)).forEach((place, i) => {
    const { name, leader, element, at } = marks[i];
    moveTo(name, [place.x, place.y]);
    element.classList.toggle("qkv-crowded", single || !place.free);
    const edge = [clamp(at[0], place.left, place.right), clamp(at[1], place.top, place.bottom)];
    trace(leader, `M${at.join(" ")}L${(place.far ? edge : at).join(" ")}`);
  });
}

export function paint(panel, layout, marks) {
  const origin = placeOf(layout, [0, 0], 0);
  marks.forEach((mark, k) => paintMark(panel, layout, mark, k, origin));
  for (let h = 0; h < layout.H; h++) {
    paintLabels(panel, layout, marks.slice(h * layout.n, (h + 1) * layout.n), origin);
  }
}
