import { Translator } from "./translator.js";

// The trained model that the book brings along, from the script of its parameters.

/**
 * @param {object} checkpoint as `Translator` takes it, with `parameters`, a safetensors file in base64
 * @returns {Translator}
 */
export function openPretrained({ parameters, ...checkpoint }) {
  return new Translator(checkpoint, decodeBase64(parameters));
}

function decodeBase64(text) {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let n = 0; n < bytes.length; n++) bytes[n] = characters.charCodeAt(n);
  return bytes.buffer;
}
