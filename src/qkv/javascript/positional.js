import { Matrix } from "./matrix.js";

// Positional encodings: sinusoidal, learned, rotary (RoPE).

// The angle by which pair i turns from one position to the next, in radians.
const frequency = (pair, width) => 10000 ** ((-2 * pair) / width);

/**
 * Sinusoidal positional encoding: sin and cos of pos / 10000^(2i / d_model) for pair i.
 * @param {number} n number of positions
 * @param {number} d_model
 * @param {number} start the first position
 * @param {string} layout "interleaved" has sin and cos of a pair side by side, "halves" all sines first
 * @returns {Matrix} (n, d_model)
 */
export function sinusoidalEncoding(n, d_model, start, layout) {
  const out = new Matrix(n, d_model);
  const half = Math.ceil(d_model / 2);
  for (let t = 0; t < n; t++) {
    for (let column = 0; column < d_model; column++) {
      const [pair, isCosine] =
        layout === "interleaved" ? [column >> 1, column & 1] : [column % half, column >= half];
      const angle = (start + t) * frequency(pair, d_model);
      out.row(t)[column] = isCosine ? Math.cos(angle) : Math.sin(angle);
    }
  }
  return out; // (n, d_model)
}

/** Learned positions: rows `start` to `start + n` of a table (max_len, d_model), as (n, d_model). */
export function learnedPositions(table, n, start) {
  if (start + n > table.rows) throw new Error(`This model knows ${table.rows} positions and no more.`);
  return new Matrix(n, table.width, table.data.slice(start * table.width, (start + n) * table.width));
}

/**
 * Rotary position embedding (RoPE): rotate neighbours of x by the angle pos / 10000^(2i / d).
 * @param {Matrix} x (T, d) queries or keys of one head, the first at position `start`
 * @returns {Matrix} (T, d)
 */
export function rotary(x, start) {
  const out = new Matrix(x.rows, x.width);
  for (let t = 0; t < x.rows; t++) {
    const [from, to] = [x.row(t), out.row(t)];
    for (let i = 0; i < x.width; i += 2) {
      const angle = (start + t) * frequency(i / 2, x.width);
      const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
      to[i] = from[i] * cos - from[i + 1] * sin;
      to[i + 1] = from[i] * sin + from[i + 1] * cos;
    }
  }
  return out; // (T, d)
}
