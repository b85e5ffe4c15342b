import { InputError } from "./input_error.js";
import { parseObject, readMetadata } from "./safetensors.js";
import { Translator } from "./translator.js";

// A reader's own model, from files that were chosen in the page and go nowhere else: the one that
// `qkv export CHECKPOINT --safetensors FILE` writes (model_file.py), or those of a `qkv train` folder.

const FORMAT = "qkv model 1";
const CHECKPOINT_FORMAT = "qkv checkpoint 2";
const MANIFESTS = ["best.json", "average.json", "last.json"]; // of a folder, in this order
const PARTS = /^\["source-[\da-f]{16}\.json","target-[\da-f]{16}\.json","parameters-[\da-f]{16}\.safetensors"/;
const SIZE_LIMIT = 200; // MB
const LOOKED_AT = 1000; // bytes

const EXPORT = "qkv export CHECKPOINT --safetensors FILE";
const WHAT_FITS = `choose one file that ${EXPORT} has written, or all files of a folder of qkv train together`;
const EXPORT_FITS = `${EXPORT} writes a file that fits`;
const PYTORCH = "is a checkpoint of PyTorch, which the page does not open, for it may hold code";

// What is no model: the part of it that is looked at, how that reads, what it then is, and what to do.
const OTHER_FILES = [
  ["start", /^(\x89PNG|\xff\xd8\xff|GIF8|RIFF)/, "is a picture, and no model"],
  ["name", /\.(pt|pth|bin|ckpt)$/i, PYTORCH, EXPORT_FITS],
  ["start", /^\x80\x02/, PYTORCH, EXPORT_FITS],
  ["start", /^PK\x03\x04/, "is an archive, and no model"],
  ["name", /\.onnx$/i, "is a model in ONNX, which the page does not run", EXPORT_FITS],
  ["start", /^(\xef\xbb\xbf)?\s*[[{][^\0-\x08]*$/, "is JSON of something else, and no model"],
  ["start", /^[^\0-\x08]*$/, "is a text, and no model"],
];
const OTHER_FORMATS = [
  ["format", /^qkv model /, "is of another version of qkv than this page"],
  ["name", /^(parameters|optimizer)-[\da-f]{16}\./, "is one part of a checkpoint"],
  ["name", /^/, "holds parameters without configuration and vocabularies"],
];
const OTHER_MANIFESTS = [
  ["format", /^qkv checkpoint 1$/, "was written by an older version of qkv", "train the model again"],
  ["name", /^/, "is no checkpoint of qkv train"],
];

/**
 * Open the model of one file, or of the files of a `qkv train` folder chosen together.
 * @param {File[]} files as a page's file input has them, so that a large one is refused unread
 * @returns {Promise<Translator>}
 * @throws {InputError} of kind "file": a sentence says what is wrong, and what to choose
 */
export const openFiles = async (files) => {
  const byName = new Map(files.map((file) => [file.name, file]));
  const manifests = MANIFESTS.filter((name) => byName.has(name));
  if (!manifests.length && files.length !== 1) refuse(`Here is no model to open: ${WHAT_FITS}.`);
  const read = manifests.length ? readFolder(manifests, byName) : readExport(files[0]);
  return new Translator(...(await read));
};

/** What `Translator` takes, from one file. */
async function readExport(file) {
  const { name } = file;
  const bytes = await readBytes(file);
  const start = String.fromCharCode(...new Uint8Array(bytes).subarray(0, LOOKED_AT));
  refuseAs(OTHER_FILES, { name, start });
  const { format, max_len, ...texts } = readMetadata(bytes);
  if (format !== FORMAT) refuseAs(OTHER_FORMATS, { name, format });
  const [model, source, target] = ["model", "source", "target"].map((part) => parseObject(texts[part]));
  return [{ model, source, target, max_len: Number(max_len) }, bytes];
}

/** The same from the first manifest whose parts are all there. */
async function readFolder(manifests, byName) {
  const incomplete = [];
  for (const name of manifests) {
    const { format, files, model, metadata } = parseObject(await readBytes(byName.get(name))) ?? {};
    if (format !== CHECKPOINT_FORMAT) refuseAs(OTHER_MANIFESTS, { name, format });
    const parts = [files?.source, files?.target, files?.parameters];
    if (!PARTS.test(JSON.stringify(parts)))
      refuse(`${name} does not name its vocabularies and parameters: take another.`);
    const missing = parts.filter((part) => !byName.has(part));
    if (!missing.length) {
      const [source, target, parameters] = await Promise.all(parts.map((part) => readBytes(byName.get(part))));
      const vocabularies = { source: parseObject(source), target: parseObject(target) };
      return [{ model, ...vocabularies, max_len: metadata?.max_len }, parameters];
    }
    incomplete.push(`${name} goes with ${missing.join(", ")}`);
  }
  return refuse(`Files are missing: ${incomplete.join("; ")}. Choose them together.`);
}

function readBytes(file) {
  const megabytes = Math.ceil(file.size / 1e6);
  if (!file.size) refuse(`${file.name} is empty.`);
  if (megabytes > SIZE_LIMIT)
    refuse(`${file.name} has ${megabytes} MB; the page opens files of up to ${SIZE_LIMIT} MB.`);
  return file.arrayBuffer().catch((error) => refuse(`${file.name} cannot be read: ${error.message}.`));
}

function refuseAs(kinds, looks) {
  const kind = kinds.find(([part, pattern]) => typeof looks[part] === "string" && pattern.test(looks[part]));
  if (kind) refuse(`${looks.name} ${kind[2]}: ${kind[3] ?? WHAT_FITS}.`);
}

function refuse(message) {
  throw new InputError(message, "file");
}
