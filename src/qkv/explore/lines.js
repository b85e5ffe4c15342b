import { exact, shown, ticks } from "./numbers.js";
import { alongRow, positionIn, readable } from "./read.js";
import { clamp, FONT, label, picture, set, svg, textWidth } from "./svg.js";

const HEIGHT = 170;
const TOP = 28; // room for the name of the y axis
const BOTTOM = 40;
const ROLES = ["query", "key", "value", "output"];

// A little air, so that no curve runs along the frame.
function roomy([low, high], log) {
  if (log) return [low / 1.25, high * 1.25];
  const air = (high - low || 1) * 0.05;
  return [low >= 0 && low < air ? 0 : low - air, high + air];
}

const axis = (low, high, log, from, to) => {
  const f = log ? Math.log10 : (v) => v;
  const span = f(high) - f(low) || 1;
  return (value) => from + ((to - from) * (f(value) - f(low))) / span;
};

function plan(panel, width) {
  const x = panel.arrays[0];
  const [low, high] = roomy(panel.range ?? [0.1, 1], panel.log_y);
  const yTicks = ticks(low, high, 4, panel.log_y);
  const left = 10 + Math.max(...yTicks.map((v) => textWidth(shown(v), FONT)), 8);
  const right = Math.min(width * 0.35, 14 + 1.08 * Math.max(...panel.labels.map((t) => textWidth(t, FONT))));
  const wide = Math.min(width, 560) - left - right;
  const end = left + wide;
  return { left, end, width: end + right, height: TOP + HEIGHT + BOTTOM, yTicks,
    xTicks: ticks(x[0], x.at(-1), wide / (panel.log_x ? 50 : 70), panel.log_x),
    x: axis(x[0], x.at(-1), panel.log_x, left, end),
    y: axis(low, high, panel.log_y, TOP + HEIGHT, TOP) };
}

function frame(panel, p) {
  const floor = TOP + HEIGHT;
  return [
    ...p.yTicks.flatMap((v) => [
      svg("line", { class: "qkv-rule", x1: p.left, x2: p.end, y1: p.y(v), y2: p.y(v) }),
      label(shown(v), { x: p.left - 6, y: p.y(v), "text-anchor": "end" }),
    ]),
    ...p.xTicks.flatMap((v) => [
      svg("line", { class: "qkv-base", x1: p.x(v), x2: p.x(v), y1: floor, y2: floor + 4 }),
      label(shown(v), { x: p.x(v), y: floor + FONT + 2, "text-anchor": "middle" }),
    ]),
    svg("line", { class: "qkv-base", x1: p.left, x2: p.end, y1: floor, y2: floor }),
    label(panel.x_label, { x: p.end, y: floor + 2 * FONT + 8, "text-anchor": "end", class: "qkv-axis" }),
    label(panel.y_label, { x: 0, y: FONT, class: "qkv-axis" }),
  ];
}

function build(panel, p) {
  const drawing = picture(Math.ceil(p.width), p.height);
  const mark = svg("line", { class: "qkv-mark", y1: TOP, y2: TOP + HEIGHT });
  const pointer = svg("line", { class: "qkv-pointer", y1: TOP, y2: TOP + HEIGHT, display: "none" });
  drawing.append(...frame(panel, p), mark, pointer);
  const curves = panel.labels.map((text, k) => {
    const path = svg("path", { class: "qkv-curve" });
    const name = label(text, { x: p.end + 8, class: "qkv-end" });
    const group = svg("g", { class: "qkv-series", "data-label": text, "data-order": k % 4 }, path, name);
    if (ROLES.includes(text)) group.dataset.role = text;
    drawing.append(group);
    return { group, path, name };
  });
  return { drawing, mark, pointer, curves };
}

const drawable = (panel, y) => Number.isFinite(y) && !(panel.log_y && y <= 0);

// A value that cannot be drawn leaves a gap, never a line through it.
function outline(panel, p, x, ys) {
  let pen = "M";
  return [...ys].map((y, i) => {
    if (!drawable(panel, y)) { pen = "M"; return ""; }
    const step = `${pen}${p.x(x[i]).toFixed(2)} ${p.y(y).toFixed(2)}`;
    pen = "L";
    return step;
  }).join("");
}

// Names at the ends of the lines, pushed apart until each has a line of its own.
function spread(wanted) {
  const order = wanted.map((y, k) => ({ y, k })).sort((a, b) => a.y - b.y);
  order.forEach((item, i) => { if (i) item.y = Math.max(item.y, order[i - 1].y + FONT + 2); });
  order.reverse().forEach((item, i) => {
    item.y = Math.min(item.y, i ? order[i - 1].y - FONT - 2 : TOP + HEIGHT);
  });
  return order.sort((a, b) => a.k - b.k).map(({ y }) => y);
}

function paint(panel, p, made) {
  const [x, ...ys] = panel.arrays;
  const last = ys.map((y) => p.y([...y].reverse().find((v) => drawable(panel, v)) ?? NaN));
  const ends = spread(last.map((y) => (Number.isFinite(y) ? y : TOP)));
  made.curves.forEach(({ group, path, name }, k) => {
    Object.assign(group.dataset, { x: [...x].map(exact).join(" "), values: [...ys[k]].map(exact).join(" ") });
    const d = outline(panel, p, x, ys[k]);
    set(path, { d });
    path.style.setProperty("d", `path("${d}")`); // an attribute alone does not move, it jumps
    set(name, { y: ends[k] });
  });
  const marked = panel.mark !== undefined;
  made.mark.style.display = marked ? "" : "none";
  const at = marked ? p.x(clamp(panel.mark, x[0], x.at(-1))) : 0;
  set(made.mark, { x1: at, x2: at, "data-value": marked ? exact(panel.mark) : "" });
}

function reading(panel, i) {
  const [x, ...ys] = panel.arrays;
  const values = ys.map((y, k) => `${panel.labels[k]} ${shown(y[i])}`).join(" · ");
  return `${panel.x_label} ${shown(x[i])}: ${values}`.trim();
}

function nearest(panel, p, at) {
  const x = [...panel.arrays[0]];
  return x.reduce((best, v, i) => (Math.abs(p.x(v) - at) < Math.abs(p.x(x[best]) - at) ? i : best), 0);
}

export function lines(first, width, said, say) {
  const p = plan(first, width);
  const made = build(first, p);
  let panel = first;
  const under = (event) => nearest(panel, p, positionIn(made.drawing, event)[0]);
  const again = readable(made.drawing, alongRow(first.shape[0]), under, (i) => {
    made.pointer.setAttribute("display", i === null ? "none" : "");
    if (i !== null) set(made.pointer, { x1: p.x(panel.arrays[0][i]), x2: p.x(panel.arrays[0][i]) });
    say(i === null ? null : reading(panel, i));
  });
  return { element: made.drawing, update(next) {
    panel = next;
    paint(panel, p, made);
    again();
    const x = panel.arrays[0];
    return reading(panel, panel.mark === undefined ? x.length - 1 : nearest(panel, p, p.x(panel.mark)));
  } };
}
