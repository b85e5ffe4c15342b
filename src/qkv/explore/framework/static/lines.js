import { formatExact, formatNumber, ticks } from "./number_format.js";
import { makeSelectable, pointerPosition, rowKeys } from "./mark_selection.js";
import { clamp, createPicture, FONT, label, setAttributes, svg, textWidth } from "./elements.js";

const HEIGHT = 170;
const TOP = 28; // room for the name of the y axis
const BOTTOM = 40;
const ROLES = ["query", "key", "value", "output"];

// A little air, so that no curve runs along the frame.
function withMargin([low, high], log) {
  if (log) return [low / 1.25, high * 1.25];
  const air = (high - low || 1) * 0.05;
  return [low >= 0 && low < air ? 0 : low - air, high + air];
}

const axisScale = (low, high, log, from, to) => {
  const f = log ? Math.log10 : (v) => v;
  const span = f(high) - f(low) || 1;
  return (value) => from + ((to - from) * (f(value) - f(low))) / span;
};

function computeLayout(panel, width) {
  const x = panel.arrays[0];
  const [low, high] = withMargin(panel.range ?? [0.1, 1], panel.log_y);
  const yTicks = ticks(low, high, 4, panel.log_y);
  const left = 10 + Math.max(...yTicks.map((v) => textWidth(formatNumber(v), FONT)), 8);
  const right = Math.min(width * 0.35, 14 + 1.08 * Math.max(...panel.labels.map((t) => textWidth(t, FONT))));
  const wide = Math.min(width, 560) - left - right;
  const end = left + wide;
  return { left, end, width: end + right, height: TOP + HEIGHT + BOTTOM, yTicks,
    xTicks: ticks(x[0], x.at(-1), wide / (panel.log_x ? 50 : 70), panel.log_x),
    x: axisScale(x[0], x.at(-1), panel.log_x, left, end),
    y: axisScale(low, high, panel.log_y, TOP + HEIGHT, TOP) };
}

function frame(panel, layout) {
  const floor = TOP + HEIGHT;
  return [
    ...layout.yTicks.flatMap((v) => [
      svg("line", { class: "qkv-rule", x1: layout.left, x2: layout.end, y1: layout.y(v), y2: layout.y(v) }),
      label(formatNumber(v), { x: layout.left - 6, y: layout.y(v), "text-anchor": "end" }),
    ]),
    ...layout.xTicks.flatMap((v) => [
      svg("line", { class: "qkv-base", x1: layout.x(v), x2: layout.x(v), y1: floor, y2: floor + 4 }),
      label(formatNumber(v), { x: layout.x(v), y: floor + FONT + 2, "text-anchor": "middle" }),
    ]),
    svg("line", { class: "qkv-base", x1: layout.left, x2: layout.end, y1: floor, y2: floor }),
    label(panel.x_label, { x: layout.end, y: floor + 2 * FONT + 8, "text-anchor": "end", class: "qkv-axis" }),
    label(panel.y_label, { x: 0, y: FONT, class: "qkv-axis" }),
  ];
}

function build(panel, layout) {
  const picture = createPicture(Math.ceil(layout.width), layout.height);
  const mark = svg("line", { class: "qkv-mark", y1: TOP, y2: TOP + HEIGHT });
  const pointer = svg("line", { class: "qkv-pointer", y1: TOP, y2: TOP + HEIGHT, display: "none" });
  picture.append(...frame(panel, layout), mark, pointer);
  const curves = panel.labels.map((text, k) => {
    const path = svg("path", { class: "qkv-curve" });
    const name = label(text, { x: layout.end + 8, class: "qkv-end" });
    const group = svg("g", { class: "qkv-series", "data-label": text, "data-order": k % 4 }, path, name);
    if (ROLES.includes(text)) group.dataset.role = text;
    picture.append(group);
    return { group, path, name };
  });
  return { picture, mark, pointer, curves };
}

const drawable = (panel, y) => Number.isFinite(y) && !(panel.log_y && y <= 0);

// A value that cannot be drawn leaves a gap, never a line through it.
function outline(panel, layout, x, ys) {
  let pen = "M";
  return [...ys].map((y, i) => {
    if (!drawable(panel, y)) { pen = "M"; return ""; }
    const step = `${pen}${layout.x(x[i]).toFixed(2)} ${layout.y(y).toFixed(2)}`;
    pen = "L";
    return step;
  }).join("");
}

// Names at the ends of the lines, pushed apart until each has a line of its own.
function spreadLabels(positions) {
  const order = positions.map((y, k) => ({ y, k })).sort((a, b) => a.y - b.y);
  order.forEach((item, i) => { if (i) item.y = Math.max(item.y, order[i - 1].y + FONT + 2); });
  order.reverse().forEach((item, i) => {
    item.y = Math.min(item.y, i ? order[i - 1].y - FONT - 2 : TOP + HEIGHT);
  });
  return order.sort((a, b) => a.k - b.k).map(({ y }) => y);
}

function paint(panel, layout, parts) {
  const [x, ...ys] = panel.arrays;
  const last = ys.map((y) => layout.y([...y].reverse().find((v) => drawable(panel, v)) ?? NaN));
  const ends = spreadLabels(last.map((y) => (Number.isFinite(y) ? y : TOP)));
  parts.curves.forEach(({ group, path, name }, k) => {
    group.dataset.x = [...x].map(formatExact).join(" ");
    group.dataset.values = [...ys[k]].map(formatExact).join(" ");
    const d = outline(panel, layout, x, ys[k]);
    setAttributes(path, { d });
    path.style.setProperty("d", `path("${d}")`); // an attribute alone does not move, it jumps
    setAttributes(name, { y: ends[k] });
  });
  const marked = panel.mark !== undefined;
  parts.mark.style.display = marked ? "" : "none";
  const at = marked ? layout.x(clamp(panel.mark, x[0], x.at(-1))) : 0;
  setAttributes(parts.mark, { x1: at, x2: at, "data-value": marked ? formatExact(panel.mark) : "" });
}

function reading(panel, i) {
  const [x, ...ys] = panel.arrays;
  const values = ys.map((y, k) => `${panel.labels[k]} ${formatNumber(y[i])}`).join(" · ");
  return `${panel.x_label} ${formatNumber(x[i])}: ${values}`.trim();
}

function nearest(panel, layout, at) {
  const x = [...panel.arrays[0]];
  const distance = (i) => Math.abs(layout.x(x[i]) - at);
  return x.reduce((best, _, i) => (distance(i) < distance(best) ? i : best), 0);
}

export function lines(first, width, labels, setReadout) {
  const layout = computeLayout(first, width);
  const parts = build(first, layout);
  let panel = first;
  const pointUnder = (event) => nearest(panel, layout, pointerPosition(parts.picture, event)[0]);
  const refreshSelection = makeSelectable(parts.picture, rowKeys(first.shape[0]), pointUnder, (i) => {
    parts.pointer.setAttribute("display", i === null ? "none" : "");
    const at = i === null ? 0 : layout.x(panel.arrays[0][i]);
    setAttributes(parts.pointer, { x1: at, x2: at });
    setReadout(i === null ? null : reading(panel, i));
  });
  return { element: parts.picture, update(next) {
    panel = next;
    paint(panel, layout, parts);
    refreshSelection();
    const x = panel.arrays[0];
    const i = panel.mark === undefined ? x.length - 1 : nearest(panel, layout, layout.x(panel.mark));
    return reading(panel, i);
  } };
}
