import { formatNumber, ticks } from "./number_format.js";
import { clamp, FONT, textWidth } from "./elements.js";

// Computes where a scatter's pictures stand: H squares of one scale, wrapped into rows.
const LARGEST = { one: 380, several: 240 }; // px
const SMALLEST = 92;
const NUMBERED = 150; // a smaller square has no numbers at its axes
const GAP = 16;

function squareLimits(panel) {
  if (panel.limits) return panel.limits;
  const [low, high] = panel.range ?? [0, 1];
  if (panel.arrows || panel.circle) {
    const far = Math.max(-low, high, panel.circle ? 1 : 0) || 1;
    return [-1.12 * far, 1.12 * far];
  }
  const air = (high - low || 1) * 0.08;
  return [low - air, high + air];
}

export function computeLayout(panel, width) {
  const [H, n] = panel.names ? panel.shape : [1, panel.shape[0]];
  const [low, high] = squareLimits(panel);
  const levels = ticks(low, high, 4, false);
  const fit = clamp(Math.floor((width + GAP) / (SMALLEST + GAP)), 1, H);
  const perRow = Math.ceil(H / Math.ceil(H / fit));
  const margin = 10 + Math.max(...levels.map((v) => textWidth(formatNumber(v), FONT)));
  const largest = H === 1 ? LARGEST.one : LARGEST.several;
  const right = panel.circle ? 1 : 9; // half a number under the last grid line
  const sideFor = (left) => Math.floor(clamp((width - left - right - GAP * (perRow - 1)) / perRow, SMALLEST, largest));
  const numbered = !panel.circle && sideFor(margin) >= NUMBERED;
  const left = numbered ? margin : 1;
  const side = sideFor(left);
  const groups = [...new Set(panel.groups ?? [])];
  const legend = legendPlaces(groups, width);
  const top = legend.height + (panel.y_label ? FONT + 12 : numbered ? 8 : 2);
  const heading = H > 1 ? FONT + 8 : 0;
  const below = numbered ? FONT + 10 : 4;
  const down = Math.ceil(H / perRow);
  const pitch = heading + side + below + (H > 1 ? 6 : 0);
  return { H, n, low, high, levels, numbered, side, groups, legend, heading, top, down, pitch,
    left: (h) => left + (h % perRow) * (side + GAP),
    up: (h) => top + heading + Math.floor(h / perRow) * pitch,
    scale: (v) => ((v - low) / (high - low)) * side,
    width: Math.ceil(left + perRow * side + (perRow - 1) * GAP + right),
    height: Math.ceil(top + down * pitch + (panel.x_label ? FONT + 8 : 2)) };
}

// Each group's mark and name, in as many lines as it takes.
function legendPlaces(groups, width) {
  let [x, line] = [0, 0];
  const places = groups.map((name) => {
    const wide = 22 + textWidth(name, FONT) + 14;
    if (x && x + wide > width) [x, line] = [0, line + 1];
    const place = [x, 9 + 20 * line];
    x += wide;
    return place;
  });
  return { places, height: groups.length ? 20 * (line + 1) + 6 : 0 };
}
