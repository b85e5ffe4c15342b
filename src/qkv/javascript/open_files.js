import { holdManifest, readCheckpointFiles } from "./checkpoint_files.js";
import { refuseFile } from "./chosen_file.js";
import { WHAT_FITS } from "./file_kinds.js";
import { readModelFile } from "./model_file.js";
import { Translator } from "./translator.js";

// A reader's own model, from files that were chosen in the page. They go nowhere else.

/**
 * Open the model of one file, or of the files of a `qkv train` folder chosen together.
 * @param {Iterable<File | {name: string, bytes: ArrayBuffer}>} files as a page's file input has them, so that
 *   a large one is refused unread; or read already
 * @returns {Promise<Translator>}
 * @throws {InputError} of kind "file": a sentence says what is wrong, and what to choose
 */
export const openFiles = async (files) => {
  const chosen = [...files];
  const { checkpoint, parameters } = await read(chosen);
  return new Translator(checkpoint, parameters);
};

function read(chosen) {
  if (holdManifest(chosen)) return readCheckpointFiles(chosen);
  if (chosen.length === 1) return readModelFile(chosen[0]);
  return refuseFile(`Here is no model to open: ${WHAT_FITS}.`);
}
