// Text normalization: Unicode NFC, spaces between words, no control characters.

const CONTROL = /[\x00-\x1f\x7f-\x9f]/g;
const INVISIBLE = /\p{Cf}/gu; // of no width, as pages and keyboards put them between letters

/** NFC, with one space between words and none around them; ▁ and control characters count as spaces. */
export function normalizeText(text) {
  const spaced = text.normalize("NFC").replace(CONTROL, " ").replaceAll("▁", " ");
  return spaced.split(/\s+/).filter(Boolean).join(" ");
}

/** NFC, with spaces, tabs and line feeds as they are; other control characters become spaces. */
export function normalizeCharacters(text) {
  const kept = (character) => ("\t\n".includes(character) ? character : " ");
  return text.normalize("NFC").replaceAll("\r\n", "\n").replace(CONTROL, kept);
}

/** The same words in plain letters (ｃａｔ is cat), without the characters that nobody sees. */
export function normalizeLetters(text) {
  return normalizeText(normalizeText(text).normalize("NFKC").replace(INVISIBLE, ""));
}
