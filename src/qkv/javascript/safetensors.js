import { InputError, shorten, shortenJson } from "./input_error.js";

// Safetensors files: the length of a header, the header in JSON, then numbers as they lie in memory.

const LONGEST_HEADER = 20_000_000; // bytes: vocabularies of 100,000 words stay far below
const MOST_AXES = 8;

// By dtype: the bytes of a number; for those of two bytes, where their bits stand in a float32, and the
// power of two that their exponent then lacks.
const DTYPES = new Map([
  ["F32", { bytes: 4 }],
  ["BF16", { bytes: 2, place: (bits) => bits << 16, factor: 1 }],
  ["F16", { bytes: 2, place: placeFloat16, factor: 2 ** (127 - 15) }],
]);

/**
 * Read a safetensors file.
 * @param {ArrayBuffer} buffer
 * @returns {Map<string, {shape: number[], data: Float32Array}>} by name
 * @throws {InputError} it is cut short, of another kind, or of other numbers than floating-point ones
 */
export function readSafetensors(buffer) {
  const { header, start } = readHeader(buffer);
  const entries = Object.entries(header).filter(([name]) => name !== "__metadata__");
  for (const [name, entry] of entries) checkEntry(name, entry);
  entries.sort(([, { data_offsets: a }], [, { data_offsets: b }]) => a[0] - b[0] || a[1] - b[1]);
  const tensors = new Map();
  let end = 0; // each tensor begins where the one before it ends, so that none is read twice
  for (const [name, { dtype, shape, data_offsets }] of entries) {
    const [from, to] = data_offsets;
    if (start + to > buffer.byteLength) refuse(`${shorten(name)} is cut short`);
    if (from !== end) refuse(`${shorten(name)} does not begin where the numbers before it end`);
    const data = toFloat32(DTYPES.get(dtype), buffer.slice(start + from, start + to)); // a copy is aligned
    tensors.set(name, { shape, data });
    end = to;
  }
  if (start + end !== buffer.byteLength) refuse("more follows after its last number");
  return tensors;
}

/**
 * What a safetensors file says of itself: texts by name.
 * @param {ArrayBuffer} buffer
 * @throws {InputError} as `readSafetensors`
 */
export function readMetadata(buffer) {
  const metadata = readHeader(buffer).header.__metadata__ ?? {};
  if (Object.values(metadata).some((value) => typeof value !== "string"))
    refuse("what it says of itself must be texts");
  return metadata;
}

/**
 * The object that JSON holds; undefined where it holds none.
 * @param {string | ArrayBuffer | Uint8Array} json a text, or its bytes in UTF-8
 */
export function parseObject(json) {
  try {
    const text = typeof json === "string" ? json : new TextDecoder("utf-8", { fatal: true }).decode(json);
    const value = JSON.parse(text);
    return value instanceof Object && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function readHeader(buffer) {
  if (buffer.byteLength < 8) refuse("it is cut short");
  const length = Number(new DataView(buffer).getBigUint64(0, true));
  if (length > Math.min(LONGEST_HEADER, buffer.byteLength - 8))
    refuse("its header is cut short, or it has none");
  const header = parseObject(new Uint8Array(buffer, 8, length));
  return header ? { header, start: 8 + length } : refuse("its header cannot be read");
}

// Before a number is read: the place of a tensor, and that its shape fills it.
function checkEntry(name, entry) {
  const { dtype, shape, data_offsets } = entry ?? {};
  const isList = (list, most) => Array.isArray(list) && list.length <= most && list.every(isCount);
  if (!isList(shape, MOST_AXES) || !isList(data_offsets, 2) || data_offsets.length !== 2)
    refuse(`its header does not say where ${shorten(name)} stands`);
  if (!DTYPES.has(dtype)) refuse(`${shorten(name)} has dtype ${shortenJson(dtype)}: save it as float32`);
  const size = DTYPES.get(dtype).bytes * shape.reduce((a, b) => a * b, 1);
  if (data_offsets[1] - data_offsets[0] !== size)
    refuse(`${shorten(name)} is not of the size that its shape has`);
}

const isCount = (value) => Number.isSafeInteger(value) && value >= 0;

// Numbers of one of DTYPES as float32, of which each is a part: nothing is rounded.
function toFloat32({ place, factor }, buffer) {
  if (!place) return new Float32Array(buffer);
  const bits = new Uint32Array(new Uint16Array(buffer));
  const data = new Float32Array(bits.buffer); // the same memory
  for (let n = 0; n < bits.length; n++) {
    bits[n] = place(bits[n]);
    data[n] *= factor;
  }
  return data; // (n,)
}

// One bit of sign, five of exponent, ten of fraction; the highest exponent is infinity's and NaN's.
function placeFloat16(bits) {
  const special = (bits & 0x7c00) === 0x7c00 ? 0x70000000 : 0;
  return ((bits & 0x8000) << 16) | ((bits & 0x7fff) << 13) | special;
}

function refuse(reason) {
  throw new InputError(`This is no file of parameters that the page can read: ${reason}.`, "file");
}
