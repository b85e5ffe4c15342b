import { InputError } from "./input_error.js";

// A file that a reader chose: its size before it is read, its bytes, its JSON.

export const SIZE_LIMIT = 200_000_000; // bytes

/**
 * The bytes of a file that was chosen.
 * @param {File | {name: string, bytes: ArrayBuffer}} file as a page has it, or read already
 * @returns {Promise<ArrayBuffer>}
 * @throws {InputError} it is empty, too large, or cannot be read
 */
export const readBytes = async (file) => {
  const isRead = file.bytes instanceof ArrayBuffer; // a method of that name has the page's own File
  const size = isRead ? file.bytes.byteLength : file.size;
  if (!size) refuseFile(`${file.name} is empty.`);
  const most = `the page opens files of up to ${megabytes(SIZE_LIMIT)} MB`;
  if (size > SIZE_LIMIT) refuseFile(`${file.name} has ${megabytes(size)} MB; ${most}.`);
  try {
    return isRead ? file.bytes : await file.arrayBuffer();
  } catch (error) {
    return refuseFile(`${file.name} cannot be read: ${error.message}.`);
  }
};

/**
 * The object that a text in JSON holds.
 * @param {ArrayBuffer | string} content
 * @returns {object | undefined} undefined where it holds none
 */
export function parseObject(content) {
  try {
    const text = typeof content === "string" ? content : new TextDecoder().decode(content);
    const value = JSON.parse(text);
    return value instanceof Object && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const megabytes = (size) => Math.ceil(size / 1e6);

/** Refuse what was chosen, in a sentence. */
export function refuseFile(message) {
  throw new InputError(message, "file");
}
