// Keeps a reader's edits in the browser's localStorage until they are reset. A cell is known by its page
// and its original text: when the book changes, an answer does not land under another question.
const keyOf = (cell) => `qkv-live:${cell.page.name}:${cell.original}`;

export const savedEdit = (cell) => attempt(() => localStorage.getItem(keyOf(cell))) ?? cell.original;

// Whether the browser keeps it.
export function saveEdit(cell, text) {
  if (text === cell.original) attempt(() => localStorage.removeItem(keyOf(cell)));
  else attempt(() => localStorage.setItem(keyOf(cell), text));
  return savedEdit(cell) === text;
}

// The storage may be full, or forbidden even to look at.
function attempt(act) {
  try {
    return act();
  } catch {
    return null;
  }
}
