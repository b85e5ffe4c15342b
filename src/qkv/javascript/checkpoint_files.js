import { parseObject, readBytes, refuseFile } from "./chosen_file.js";
import { WHAT_FITS } from "./file_kinds.js";

// The files of a `qkv train` folder: a manifest names its vocabularies and its parameters.

const MANIFESTS = ["best.json", "average.json", "last.json"]; // in this order
const FORMAT = "qkv checkpoint 2";
const OLDER_FORMAT = "qkv checkpoint 1";
const PART_NAMES = {
  source: /^source-[0-9a-f]{16}\.json$/,
  target: /^target-[0-9a-f]{16}\.json$/,
  parameters: /^parameters-[0-9a-f]{16}\.safetensors$/,
};

/** Whether one of the files is a manifest by its name. */
export const holdManifest = (files) => files.some(({ name }) => MANIFESTS.includes(name));

/**
 * The checkpoint of the first manifest whose parts are all there.
 * @param {(File | {name: string, bytes: ArrayBuffer})[]} files
 * @returns {Promise<{checkpoint: object, parameters: ArrayBuffer}>} as `Translator` takes them
 * @throws {InputError} parts are missing, or something is no part of a checkpoint
 */
export const readCheckpointFiles = async (files) => {
  const byName = new Map(files.map((file) => [file.name, file]));
  const incomplete = [];
  for (const name of MANIFESTS.filter((manifest) => byName.has(manifest))) {
    const manifest = await readManifest(byName.get(name));
    const missing = Object.values(manifest.files).filter((part) => !byName.has(part));
    if (!missing.length) return readParts(manifest, byName);
    incomplete.push(`${name} goes with ${missing.join(", ")}`);
  }
  return refuseFile(`Files are missing: ${incomplete.join("; ")}. Choose them together.`);
};

async function readManifest(file) {
  const { format, model, files, metadata } = parseObject(await readBytes(file)) ?? {};
  if (format === OLDER_FORMAT)
    refuseFile(`${file.name} was written by an older version of qkv: train the model again.`);
  if (format !== FORMAT) refuseFile(`${file.name} is no checkpoint of qkv train: ${WHAT_FITS}.`);
  const isPart = ([role, pattern]) => typeof files?.[role] === "string" && pattern.test(files[role]);
  if (!Object.entries(PART_NAMES).every(isPart))
    refuseFile(`${file.name} does not name its vocabularies and parameters: take another.`);
  const { source, target, parameters } = files;
  return { model, max_len: metadata?.max_len ?? undefined, files: { source, target, parameters } };
}

async function readParts({ model, max_len, files }, byName) {
  const read = (role) => readBytes(byName.get(files[role]));
  const [source, target] = [parseObject(await read("source")), parseObject(await read("target"))];
  return { checkpoint: { model, max_len, source, target }, parameters: await read("parameters") };
}
