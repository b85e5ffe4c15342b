import { InputError } from "./input_error.js";

// Safetensors files: the length of a header, the header in JSON, then numbers as they lie in memory.

/**
 * Read a safetensors file.
 * @param {ArrayBuffer} buffer
 * @returns {Map<string, {shape: number[], data: Float32Array}>} by name
 * @throws {InputError} it is cut short, of another kind, or of other numbers than float32
 */
export function readSafetensors(buffer) {
  const { header, start } = readHeader(buffer);
  const tensors = new Map();
  for (const [name, { dtype, shape, data_offsets }] of Object.entries(header)) {
    if (name === "__metadata__") continue;
    if (dtype !== "F32") refuse(`${name} is ${dtype}: save it as float32`);
    const [from, to] = data_offsets.map((offset) => start + offset);
    const size = 4 * shape.reduce((a, b) => a * b, 1);
    if (to - from !== size || to > buffer.byteLength) refuse(`${name} is cut short`);
    tensors.set(name, { shape, data: new Float32Array(buffer.slice(from, to)) }); // a copy is aligned
  }
  return tensors;
}

function readHeader(buffer) {
  try {
    const start = 8 + Number(new DataView(buffer).getBigUint64(0, true));
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, start - 8)));
    return { header, start };
  } catch (error) {
    return refuse(error.message);
  }
}

function refuse(reason) {
  throw new InputError(`This is no file of parameters that the page can read: ${reason}.`, "file");
}
