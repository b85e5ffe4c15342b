// Floating-point numbers of a file, as float32: float16 and bfloat16 have two bytes each.

export const BYTES = { F32: 4, F16: 2, BF16: 2 };

/** Whether `toFloat32` reads numbers of this name, as safetensors calls them. */
export const isNumberType = (dtype) => typeof dtype === "string" && Object.hasOwn(BYTES, dtype);

/**
 * Numbers as float32; each of the two short types is a part of it, so nothing is rounded.
 * @param {"F32" | "F16" | "BF16"} dtype
 * @param {ArrayBuffer} buffer the numbers, and nothing else
 * @returns {Float32Array} (n,)
 */
export function toFloat32(dtype, buffer) {
  if (dtype === "F32") return new Float32Array(buffer);
  const table = (tables[dtype] ??= Float32Array.from({ length: 2 ** 16 }, (_, bits) => NUMBER[dtype](bits)));
  const numbers = new Uint16Array(buffer);
  const data = new Float32Array(numbers.length);
  for (let n = 0; n < data.length; n++) data[n] = table[numbers[n]];
  return data; // (n,)
}

const NUMBER = { F16: float16, BF16: bfloat16 };
const tables = {}; // every number that two bytes can hold

/** The number whose bfloat16 has these bits: the upper half of a float32. */
function bfloat16(bits) {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint16(0, bits);
  return view.getFloat32(0);
}

/** The number whose float16 has these bits: one of sign, five of exponent, ten of fraction. */
function float16(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  if (exponent === 0) return sign * fraction * 2 ** -24; // subnormal
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}
