import { InputError, shorten, shortenJson } from "./input_error.js";
import { isNumberType, toFloat32, BYTES } from "./number_types.js";

// Safetensors files: the length of a header, the header in JSON, then numbers as they lie in memory.

const LONGEST_HEADER = 20_000_000; // bytes: vocabularies of 100,000 words stay far below
const MOST_AXES = 8;

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
    const data = toFloat32(dtype, buffer.slice(start + from, start + to)); // a copy is aligned
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

function readHeader(buffer) {
  if (buffer.byteLength < 8) refuse("it is cut short");
  const length = Number(new DataView(buffer).getBigUint64(0, true));
  if (length > Math.min(LONGEST_HEADER, buffer.byteLength - 8))
    refuse("its header is cut short, or it has none");
  let header;
  try {
    header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array(buffer, 8, length)));
  } catch {
    refuse("its header cannot be read");
  }
  if (!(header instanceof Object) || Array.isArray(header)) refuse("its header cannot be read");
  return { header, start: 8 + length };
}

// Before a number is read: the place of a tensor, and that its shape fills it.
function checkEntry(name, entry) {
  const { dtype, shape, data_offsets } = entry ?? {};
  const isList = (list, most) => Array.isArray(list) && list.length <= most && list.every(isCount);
  if (!isList(shape, MOST_AXES) || !isList(data_offsets, 2) || data_offsets.length !== 2)
    refuse(`its header does not say where ${shorten(name)} stands`);
  if (!isNumberType(dtype)) refuse(`${shorten(name)} has dtype ${shortenJson(dtype)}: save it as float32`);
  const size = BYTES[dtype] * shape.reduce((a, b) => a * b, 1);
  if (data_offsets[1] - data_offsets[0] !== size)
    refuse(`${shorten(name)} is not of the size that its shape has`);
}

const isCount = (value) => Number.isSafeInteger(value) && value >= 0;

function refuse(reason) {
  throw new InputError(`This is no file of parameters that the page can read: ${reason}.`, "file");
}
