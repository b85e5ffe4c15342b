// What a file is that holds no model, from its name and first bytes, in words for who chose it.

const EXPORT = "qkv export CHECKPOINT --safetensors FILE";
const ONE_THAT_FITS = `${EXPORT} writes a file that fits`;
const PICTURES = [
  [0x89, 0x50, 0x4e, 0x47], // PNG
  [0xff, 0xd8, 0xff], // JPEG
  [0x47, 0x49, 0x46, 0x38], // GIF
  [0x52, 0x49, 0x46, 0x46], // WebP
];
const ZIP = [0x50, 0x4b, 0x03, 0x04];
const PICKLE = [0x80, 0x02];
const LOOKED_AT = 1000; // bytes

/** A sentence's end: what to choose in its place. */
export const WHAT_FITS =
  `choose one file that ${EXPORT} has written, or all files of a folder of qkv train together`;

/**
 * What a file is where it is plainly no safetensors file; undefined where it may be one.
 * @param {string} name
 * @param {ArrayBuffer} buffer
 * @returns {string | undefined} "… is a picture, and no model: …"
 */
export function otherKind(name, buffer) {
  const bytes = new Uint8Array(buffer, 0, Math.min(LOOKED_AT, buffer.byteLength));
  const begins = (start) => start.every((byte, n) => bytes[n] === byte);
  if (PICTURES.some(begins)) return `a picture, and no model: ${WHAT_FITS}`;
  if (/\.(pt|pth|bin|ckpt)$/i.test(name) || begins(PICKLE))
    return `a checkpoint of PyTorch, which the page does not open, for it may hold code: ${ONE_THAT_FITS}`;
  if (begins(ZIP)) return `an archive, and no model: ${WHAT_FITS}`;
  if (/\.onnx$/i.test(name)) return `a model in ONNX, which the page does not run: ${ONE_THAT_FITS}`;
  const isHeader = bytes[8] === 0x7b; // the brace after the length of a header
  const text = isHeader ? undefined : textOf(bytes);
  if (text === undefined) return undefined;
  return `${/^\s*[[{]/.test(text) ? "JSON of something else" : "a text"}, and no model: ${WHAT_FITS}`;
}

// The text of bytes, the last character of which may be cut; undefined where they are none.
function textOf(bytes) {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}
