// What a reader has changed on a page, kept in the browser until it is reset. A cell is known by its
// original text: when the book changes, an answer does not land under another question.
const at = (page) => `qkv-live:${page}`;

export function editsOf(page) {
  try {
    return JSON.parse(localStorage.getItem(at(page))) ?? {};
  } catch {
    return {};
  }
}

// Whether the browser kept it. Reads before it writes: the page may be open in two tabs.
export function keepEdit(page, original, text) {
  try {
    localStorage.setItem(at(page), JSON.stringify({ ...editsOf(page), [original]: text }));
    return true;
  } catch {
    return false;
  }
}
