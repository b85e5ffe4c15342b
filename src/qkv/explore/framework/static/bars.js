import { fittingFormat, formatExact, formatNumber, ticks } from "./number_format.js";
import { makeSelectable, pointerPosition, rowKeys } from "./mark_selection.js";
import { clamp, createPicture, FONT, label, setAttributes, svg, textWidth } from "./elements.js";

const HEIGHT = 140;
const TOP = 20;
const WIDEST_BAR = 64;

function computeLayout(panel, width) {
  const [n] = panel.shape;
  const [low, high] = scale(panel);
  const numbered = n <= 16 && fittingFormat([low, high, 0.55], width / n) !== undefined;
  const levels = numbered ? [] : ticks(low, high, 3, false);
  const left = numbered ? 0 : 10 + Math.max(...levels.map((v) => textWidth(formatNumber(v), FONT)));
  const slotFrom = (start) => Math.min(WIDEST_BAR, (width - start - (numbered ? 0 : 8)) / n);
  const long = Math.max(...panel.labels.map((text) => textWidth(text, FONT)));
  const numeric = panel.labels.every((text) => !Number.isNaN(Number(text.replace("−", "-"))));
  const slanted = long > slotFrom(left) - 2 && !numeric && slotFrom(left) >= 11;
  // A slanted label leans out to the left of its bar: the first one's needs room there.
  const lean = slanted ? Math.max(0, textWidth(panel.labels[0], FONT) * 0.71 - left - slotFrom(left) / 2) : 0;
  const slot = slotFrom(left + lean);
  const every = slanted || long <= slot - 2 ? 1 : Math.ceil((long + 8) / slot);
  const floor = TOP + HEIGHT + (low < 0 ? FONT : 0); // a number below zero stands under its bar
  const bottom = slanted ? long * 0.71 + 14 : FONT + 10;
  return { n, left: left + lean, slot, slanted, every, numbered, levels, low, high, floor,
    width: left + lean + n * slot + (numbered ? 0 : 8), height: floor + bottom };
}

// Zero is always on the scale: a bar's height is its value.
function scale(panel) {
  const [low, high] = panel.limits ?? panel.range ?? [0, 1];
  return low >= 0 && high <= 0 ? [0, 1] : [Math.min(0, low), Math.max(0, high)];
}

const yOf = (layout, value) =>
  TOP + HEIGHT * (1 - (clamp(value, layout.low, layout.high) - layout.low) / (layout.high - layout.low));

function bar(layout, text, i) {
  const middle = layout.left + (i + 0.5) * layout.slot;
  const left = middle - layout.slot * 0.36;
  const rect = svg("rect", { x: left, width: layout.slot * 0.72, rx: Math.min(3, layout.slot / 6) });
  const value = svg("text", { x: middle, class: "qkv-amount" });
  const gap = svg("path", { class: "qkv-break" });
  const group = svg("g", { class: "qkv-bar", "data-label": text }, rect, gap, value);
  const place = layout.slanted
    ? { transform: `translate(${middle + 4},${layout.floor + 12}) rotate(-45)`, "text-anchor": "end" }
    : { x: middle, y: layout.floor + FONT + 2, "text-anchor": "middle" };
  const name = label(i % layout.every ? "" : text, place);
  return { group, rect, gap, value, name, left };
}

function gridLines(layout) {
  return layout.levels.flatMap((value) => {
    const y = yOf(layout, value);
    return [
      svg("line", { class: "qkv-rule", x1: layout.left, x2: layout.width, y1: y, y2: y }),
      label(formatNumber(value), { x: layout.left - 6, y, "text-anchor": "end" }),
    ];
  });
}

function build(panel, layout) {
  const picture = createPicture(Math.ceil(layout.width), Math.ceil(layout.height));
  if (panel.role) picture.dataset.role = panel.role;
  picture.append(...gridLines(layout));
  const bars = panel.labels.map((text, i) => bar(layout, text, i));
  for (const { group, name } of bars) picture.append(group, name);
  const zero = yOf(layout, 0);
  picture.append(svg("line", { class: "qkv-base", x1: layout.left, x2: layout.width, y1: zero, y2: zero }));
  return { picture, bars };
}

const isBeyond = (layout, value) => value > layout.high || value < layout.low;

// The two slanted strokes of a bar that is longer than drawn.
function breakStrokes(layout, left, value) {
  const [width, rise] = [layout.slot * 0.72 + 4, 5];
  const y = yOf(layout, value) + (value > layout.high ? 12 : -12);
  const stroke = (down) => `M${left - 2} ${y + down + rise / 2}l${width} ${-rise}`;
  return `${stroke(-2)}${stroke(2)}`;
}

function paint(panel, layout, bars) {
  const values = [...panel.arrays[0]];
  const format = layout.numbered && fittingFormat(values, layout.slot);
  bars.forEach(({ group, rect, gap, value, left }, i) => {
    const y = yOf(layout, Number.isFinite(values[i]) ? values[i] : 0);
    const [top, bottom] = [Math.min(y, yOf(layout, 0)), Math.max(y, yOf(layout, 0))];
    group.dataset.value = formatExact(values[i]);
    setAttributes(rect, { y: top, height: bottom - top });
    setAttributes(value, { y: values[i] < 0 ? bottom + 12 : top - 6 });
    const beyond = isBeyond(layout, values[i]);
    const strokes = beyond && Number.isFinite(values[i]) ? breakStrokes(layout, left, values[i]) : "";
    setAttributes(gap, { d: strokes });
    const clipped = beyond || Number.isNaN(values[i]);
    value.textContent = format && !clipped ? format(values[i]) : clipped ? formatNumber(values[i]) : "";
  });
}

export function bars(first, width, labels, setReadout) {
  const layout = computeLayout(first, width);
  const reading = (next, i) => {
    const value = next.arrays[0][i];
    const note = isBeyond(layout, value) ? `, ${labels.beyond}` : "";
    return `${next.labels[i]}: ${formatNumber(value)}${note}`;
  };
  const { picture, bars: elements } = build(first, layout);
  let panel = first;
  const barUnder = (event) => {
    const i = Math.floor((pointerPosition(picture, event)[0] - layout.left) / layout.slot);
    return i >= 0 && i < layout.n ? i : null;
  };
  const refreshSelection = makeSelectable(picture, rowKeys(layout.n), barUnder, (at) => {
    elements.forEach(({ group, name }, i) => [group, name].forEach((e) => e.classList.toggle("qkv-on", i === at)));
    setReadout(at === null ? null : reading(panel, at));
  });
  return { element: picture, update(next) {
    panel = next;
    paint(panel, layout, elements);
    refreshSelection();
    const values = panel.arrays[0];
    return `${labels.largest} ${reading(panel, values.indexOf(Math.max(...values)))}`;
  } };
}
