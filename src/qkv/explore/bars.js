import { exact, fitting, shown, ticks } from "./numbers.js";
import { alongRow, positionIn, readable } from "./read.js";
import { clamp, FONT, label, picture, set, svg, textWidth } from "./svg.js";

const HEIGHT = 140;
const TOP = 20;
const WIDEST = 64;

function plan(panel, width) {
  const [n] = panel.shape;
  const [low, high] = scale(panel);
  const numbered = n <= 16 && fitting([low, high, 0.55], width / n) !== undefined;
  const levels = numbered ? [] : ticks(low, high, 3, false);
  const left = numbered ? 0 : 10 + Math.max(...levels.map((v) => textWidth(shown(v), FONT)));
  const slot = Math.min(WIDEST, (width - left - (numbered ? 0 : 8)) / n);
  const long = Math.max(...panel.labels.map((text) => textWidth(text, FONT)));
  const numeric = panel.labels.every((text) => !Number.isNaN(Number(text.replace("−", "-"))));
  const slanted = long > slot - 2 && !numeric && slot >= 11;
  const every = slanted || long <= slot - 2 ? 1 : Math.ceil((long + 8) / slot);
  const floor = TOP + HEIGHT + (low < 0 ? FONT : 0); // a number below zero stands under its bar
  const bottom = slanted ? long * 0.71 + 14 : FONT + 10;
  return { n, left, slot, slanted, every, numbered, levels, low, high, floor,
    width: left + n * slot + (numbered ? 0 : 8), height: floor + bottom };
}

// Zero is always on the scale: a bar's height is its value.
function scale(panel) {
  const [low, high] = panel.limits ?? panel.range ?? [0, 1];
  return low >= 0 && high <= 0 ? [0, 1] : [Math.min(0, low), Math.max(0, high)];
}

const yOf = (p, value) =>
  TOP + HEIGHT * (1 - (clamp(value, p.low, p.high) - p.low) / (p.high - p.low));

function bar(p, text, i) {
  const middle = p.left + (i + 0.5) * p.slot;
  const rect = svg("rect", { x: middle - p.slot * 0.36, width: p.slot * 0.72, rx: Math.min(3, p.slot / 6) });
  const value = svg("text", { x: middle, class: "qkv-amount" });
  const gap = svg("path", { class: "qkv-break" });
  const group = svg("g", { class: "qkv-bar", "data-label": text }, rect, gap, value);
  const place = p.slanted
    ? { transform: `translate(${middle + 4},${p.floor + 12}) rotate(-45)`, "text-anchor": "end" }
    : { x: middle, y: p.floor + FONT + 2, "text-anchor": "middle" };
  const name = label(i % p.every ? "" : text, place);
  return { group, rect, gap, value, name, left: middle - p.slot * 0.36 };
}

function rules(p) {
  return p.levels.flatMap((value) => [
    svg("line", { class: "qkv-rule", x1: p.left, x2: p.width, y1: yOf(p, value), y2: yOf(p, value) }),
    label(shown(value), { x: p.left - 6, y: yOf(p, value), "text-anchor": "end" }),
  ]);
}

function build(panel, p) {
  const drawing = picture(Math.ceil(p.width), Math.ceil(p.height));
  if (panel.role) drawing.dataset.role = panel.role;
  drawing.append(...rules(p));
  const bars = panel.labels.map((text, i) => bar(p, text, i));
  for (const { group, name } of bars) drawing.append(group, name);
  drawing.append(svg("line", { class: "qkv-base", x1: p.left, x2: p.width, y1: yOf(p, 0), y2: yOf(p, 0) }));
  return { drawing, bars };
}

const isBeyond = (p, value) => value > p.high || value < p.low;

// The two slanted strokes of a bar that is longer than drawn.
function broken(p, left, value) {
  const [width, rise] = [p.slot * 0.72 + 4, 5];
  const y = yOf(p, value) + (value > p.high ? 12 : -12);
  const stroke = (down) => `M${left - 2} ${y + down + rise / 2}l${width} ${-rise}`;
  return `${stroke(-2)}${stroke(2)}`;
}

function paint(panel, p, bars) {
  const values = [...panel.arrays[0]];
  const write = p.numbered && fitting(values, p.slot);
  bars.forEach(({ group, rect, gap, value, left }, i) => {
    const y = yOf(p, Number.isFinite(values[i]) ? values[i] : 0);
    const [top, bottom] = [Math.min(y, yOf(p, 0)), Math.max(y, yOf(p, 0))];
    group.dataset.value = exact(values[i]);
    set(rect, { y: top, height: bottom - top });
    set(value, { y: values[i] < 0 ? bottom + 12 : top - 6 });
    const beyond = isBeyond(p, values[i]);
    set(gap, { d: beyond && Number.isFinite(values[i]) ? broken(p, left, values[i]) : "" });
    const clipped = beyond || Number.isNaN(values[i]);
    value.textContent = write && !clipped ? write(values[i]) : clipped ? shown(values[i]) : "";
  });
}

export function bars(first, width, said, say) {
  const p = plan(first, width);
  const reading = (next, i) => {
    const value = next.arrays[0][i];
    const more = isBeyond(p, value) ? `, ${said.beyond}` : "";
    return `${next.labels[i]}: ${shown(value)}${more}`;
  };
  const { drawing, bars: made } = build(first, p);
  let panel = first;
  const under = (event) => {
    const i = Math.floor((positionIn(drawing, event)[0] - p.left) / p.slot);
    return i >= 0 && i < p.n ? i : null;
  };
  const again = readable(drawing, alongRow(p.n), under, (at) => {
    made.forEach(({ group, name }, i) => [group, name].forEach((e) => e.classList.toggle("qkv-on", i === at)));
    say(at === null ? null : reading(panel, at));
  });
  return { element: drawing, update(next) {
    panel = next;
    paint(panel, p, made);
    again();
    const values = panel.arrays[0];
    return `${said.largest} ${reading(panel, values.indexOf(Math.max(...values)))}`;
  } };
}
