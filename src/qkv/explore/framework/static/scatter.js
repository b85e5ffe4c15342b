import { formatNumber } from "./number_format.js";
import { makeSelectable, pointerPosition } from "./mark_selection.js";
import { computeLayout } from "./scatter_layout.js";
import { build, isBeyond, paint, placeOf } from "./scatter_marks.js";
import { clamp } from "./elements.js";

const REACH = 30; // px between pointer and mark

function reading(panel, layout, k, labels) {
  const [x, y] = panel.arrays[0].slice(2 * k, 2 * k + 2);
  const word = (key) => labels[key] ?? key;
  const [h, i] = [Math.floor(k / layout.n), k % layout.n];
  const turn = (Math.atan2(y, x) * 180) / Math.PI;
  return [panel.names && `${panel.names[h]} · `, panel.labels[i], panel.groups && ` (${panel.groups[i]})`,
    `: (${formatNumber(x, 2)}, ${formatNumber(y, 2)})`,
    panel.arrows && `, ${word("length")} ${formatNumber(Math.hypot(x, y), 2)}, ${word("angle")} ${formatNumber(turn, 0)}°`,
    panel.arrays[1] && `, ${word("from")} (${[0, 1].map((axis) => formatNumber(panel.arrays[1][2 * k + axis], 2)).join(", ")})`,
    isBeyond(layout, panel.arrays[0], k) && `, ${labels.beyond}`].filter(Boolean).join("");
}

function summary(panel, layout, labels) {
  const count = `${layout.H > 1 ? `${layout.H} × ` : ""}${layout.n} ${labels.points ?? "points"}`;
  const said = Array.from({ length: Math.min(4, layout.H * layout.n) }, (_, k) => reading(panel, layout, k, labels));
  return [count, ...said, ...(layout.H * layout.n > 4 ? ["…"] : [])].join("; ");
}

function markUnder(panel, layout, parts, event) {
  const [px, py] = pointerPosition(parts.picture, event);
  const origin = placeOf(layout, [0, 0], 0);
  const distance = ({ at }, k) => {
    const h = Math.floor(k / layout.n);
    const [x, y] = [px - layout.left(h), py - layout.up(h)];
    const [dx, dy] = [at[0] - origin[0], at[1] - origin[1]];
    const t = panel.arrows ? clamp(((x - origin[0]) * dx + (y - origin[1]) * dy) / (dx * dx + dy * dy || 1), 0.3, 1) : 1;
    return Math.hypot(x - origin[0] - t * dx, y - origin[1] - t * dy);
  };
  const distances = parts.marks.map(distance);
  const best = distances.indexOf(Math.min(...distances));
  return distances[best] <= REACH ? best : null;
}

// Right and left go from point to point, down and up from picture to picture.
function keys({ H, n }) {
  const by = (step) => (k) => (k === null ? 0 : clamp(k + step, 0, H * n - 1));
  return { ArrowRight: by(1), ArrowLeft: by(-1), ArrowDown: by(H > 1 ? n : 1), ArrowUp: by(H > 1 ? -n : -1),
    Home: () => 0, End: () => H * n - 1 };
}

export function scatter(first, width, labels, setReadout) {
  const layout = computeLayout(first, width);
  const parts = build(first, layout);
  let panel = first;
  const refreshSelection = makeSelectable(parts.picture, keys(layout), (event) => markUnder(panel, layout, parts, event), (k) => {
    parts.marks.forEach(({ element }, i) => element.classList.toggle("qkv-on", i === k));
    if (k !== null) parts.marks[k].element.parentNode.append(parts.marks[k].element); // over the others
    setReadout(k === null ? null : reading(panel, layout, k, labels));
  });
  return { element: parts.picture, update(next) {
    panel = next;
    paint(panel, layout, parts.marks);
    refreshSelection();
    return summary(panel, layout, labels);
  } };
}
