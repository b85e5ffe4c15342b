// A matrix of float32 numbers, row by row in one array: all that the forward pass computes with.

export class Matrix {
  /**
   * @param {number} rows
   * @param {number} width
   * @param {Float32Array} data (rows · width,), zeros if left out
   */
  constructor(rows, width, data = new Float32Array(rows * width)) {
    Object.assign(this, { rows, width, data });
  }

  /** Row t as a view, (width,): what is written into it is written into the matrix. */
  row(t) {
    return this.data.subarray(t * this.width, (t + 1) * this.width);
  }

  /** The rows as views, one after the other. */
  *[Symbol.iterator]() {
    for (let t = 0; t < this.rows; t++) yield this.row(t);
  }
}

/** The sum of two matrices of one shape. */
export function add(a, b) {
  return new Matrix(
    a.rows,
    a.width,
    a.data.map((value, n) => value + b.data[n]),
  );
}

/** The rows of one matrix above those of another: (S, d) and (T, d) to (S + T, d). */
export function concatenateRows(above, below) {
  const joined = new Matrix(above.rows + below.rows, below.width);
  joined.data.set(above.data);
  joined.data.set(below.data, above.data.length);
  return joined; // (S + T, d)
}

/** a bᵀ, every row of a by every row of b: (T, d) and (S, d) to (T, S). */
export function multiplyTransposed(a, b) {
  const product = new Matrix(a.rows, b.rows);
  for (let t = 0; t < a.rows; t++) {
    const [x, out] = [a.row(t), product.row(t)];
    for (let s = 0; s < b.rows; s++) {
      const y = b.row(s);
      let sum = 0;
      for (let i = 0; i < x.length; i++) sum += x[i] * y[i];
      out[s] = sum;
    }
  }
  return product; // (T, S)
}

/** a b: (T, S) and (S, d) to (T, d). Row by row of b, as it lies in memory. */
export function multiply(a, b) {
  const product = new Matrix(a.rows, b.width);
  for (let t = 0; t < a.rows; t++) {
    const [x, out] = [a.row(t), product.row(t)];
    for (let s = 0; s < b.rows; s++) {
      const [factor, y] = [x[s], b.row(s)];
      for (let j = 0; j < y.length; j++) out[j] += factor * y[j];
    }
  }
  return product; // (T, d)
}
