import { decodeBase64 } from "./base64.js";
import { Translator } from "./translator.js";

// The trained model that the book brings along, from the script of its parameters.

/**
 * @param {object} checkpoint as `Translator` takes it, with `parameters`, a safetensors file in base64
 * @returns {Translator}
 */
export function openPretrained({ parameters, ...checkpoint }) {
  return new Translator(checkpoint, decodeBase64(parameters));
}
