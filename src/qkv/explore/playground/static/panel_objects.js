// Panel objects, as the explorers' drawing takes them.

export const textPanel = (name, text) => ({ name, kind: "text", text: String(text) });

/** A translation, or a word for one that ended before its first. */
export const translationText = (translation, labels) => translation || labels["no word"];

/** A column of a table with what texts say, word by word; without glosses there is none. */
export function glossColumn({ glosses }, labels) {
  if (!glosses) return { header: [], cell: () => [] };
  const gloss = (text) => text.split(" ").map((word) => glosses.get(word) ?? word).join(" · ");
  return { header: [labels["in English"]], cell: (text) => [gloss(text)] };
}

export const tablePanel = (name, header, rows) => ({ name, kind: "table", header, rows });

/** Bars of shares: each from 0 to 1. */
export function sharesPanel(name, values, labels) {
  const arrays = [Float32Array.from(values)];
  return { name, kind: "bars", labels, limits: [0, 1], arrays, shape: [values.length] };
}

/** Cells (n, m), or (H, n, m) of H heads: `values` row by row. */
export function heatmapPanel(name, values, shape, rows, columns, more = {}) {
  const limits = [0, 1];
  return { name, kind: "heatmap", colours: "weights", limits, rows, columns, shape, arrays: [values], ...more };
}

/** A place within a list: the last where it would lie beyond. */
export const within = (place, list) => Math.max(0, Math.min(place, list.length - 1));
