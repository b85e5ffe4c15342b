// Base64 text to bytes.

/** The bytes of a base64 text, as an ArrayBuffer. */
export function decodeBase64(text) {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let n = 0; n < bytes.length; n++) bytes[n] = characters.charCodeAt(n);
  return bytes.buffer;
}
