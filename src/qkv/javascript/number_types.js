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
  const bits = new Uint16Array(buffer);
  if (dtype === "F16") return Float32Array.from(bits, float16);
  return new Float32Array(Uint32Array.from(bits, (value) => value << 16).buffer); // the upper half of float32
}

/** The number whose float16 has these bits: one of sign, five of exponent, ten of fraction. */
function float16(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  if (exponent === 0) return sign * fraction * 2 ** -24; // subnormal
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}
