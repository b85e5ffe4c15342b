import { FONT } from "./elements.js";

// Finds a free place beside each point for its label, so that no two labels overlap.
const HEIGHT = FONT + 2;
const RINGS = [4, 12, 22]; // px between mark and label: near, and where nothing is free, farther
const MOST_COVERED = 60; // px² of a mark
const SIDES = [[1, 0], [-1, 0], [0, -1], [0, 1], [1, -1], [-1, -1], [1, 1], [-1, 1]];

export function overlapArea(a, b) {
  const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
  const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
  return wide > 0 && high > 0 ? wide * high : 0;
}

export const boxAround = (x, y, width, height) =>
  ({ left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y + height / 2, x, y });

function candidates({ x, y, width, radius, outward }) {
  const along = ([dx, dy]) => (dx * outward[0] + dy * outward[1]) / Math.hypot(dx, dy);
  const sides = outward ? [...SIDES].sort((a, b) => along(b) - along(a)) : SIDES;
  return RINGS.flatMap((ring, r) => sides.map(([dx, dy], s) => {
    const gap = (radius + ring) * (dx && dy ? 0.7 : 1);
    const box = boxAround(x + dx * (width / 2 + gap), y + dy * (HEIGHT / 2 + gap), width, HEIGHT);
    return { ...box, far: r > 0, dislike: 12 * r + s };
  }));
}

function outside(box, bounds) {
  return Math.max(0, bounds.left - box.left) + Math.max(0, box.right - bounds.right)
    + Math.max(0, bounds.top - box.top) + Math.max(0, box.bottom - bounds.bottom);
}

// The place of each label; `free` is false where even the best covers another label, or half a mark.
export function placeLabels(points, bounds, obstacles) {
  const placed = [];
  for (const point of points) {
    const cost = (box) => box.dislike + 30 * outside(box, bounds)
      + placed.reduce((sum, other) => sum + (overlapArea(box, other) ? 200 + overlapArea(box, other) : 0), 0)
      + obstacles.reduce((sum, other) => sum + overlapArea(box, other), 0);
    const best = candidates(point).map((box) => ({ box, cost: cost(box) }))
      .reduce((a, b) => (b.cost < a.cost ? b : a)).box;
    const free = placed.every((other) => !other.free || !overlapArea(best, other))
      && obstacles.every((mark) => overlapArea(best, mark) < MOST_COVERED);
    placed.push({ ...best, free });
  }
  return placed;
}
