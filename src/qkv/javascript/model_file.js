import { parseObject, readBytes, refuseFile } from "./chosen_file.js";
import { otherKind, WHAT_FITS } from "./file_kinds.js";
import { readMetadata } from "./safetensors.js";

// One file that holds a whole model: safetensors, with configuration and vocabularies in its metadata.

const FORMAT = "qkv model 1";

/**
 * The model of a file that `qkv export CHECKPOINT --safetensors FILE` has written.
 * @param {File | {name: string, bytes: ArrayBuffer}} file
 * @returns {Promise<{checkpoint: object, parameters: ArrayBuffer}>} as `Translator` takes them
 * @throws {InputError} it is of another kind, cut short, or of another format
 */
export const readModelFile = async (file) => {
  const bytes = await readBytes(file);
  const kind = otherKind(file.name, bytes);
  if (kind) refuseFile(`${file.name} is ${kind}.`);
  const { format, model, source, target, max_len } = readMetadata(bytes);
  if (format !== FORMAT) refuseFile(`${file.name} ${otherFormat(file.name, format)}: ${WHAT_FITS}.`);
  const objects = { model: parse(model), source: parse(source), target: parse(target) };
  return { checkpoint: { ...objects, max_len: Number(max_len) }, parameters: bytes };
};

const parse = (text) => (typeof text === "string" ? parseObject(text) : undefined);

function otherFormat(name, format) {
  if (/^qkv model /.test(format)) return "is of another version of qkv than this page";
  if (/^(parameters|optimizer)-[0-9a-f]{16}\./.test(name)) return "is one part of a checkpoint";
  return "holds parameters without configuration and vocabularies";
}
