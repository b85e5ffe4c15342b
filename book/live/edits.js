// What a reader has changed on a page, kept in the browser until it is reset. A cell is known by its
// original text: when the book changes, an answer does not land under another question.
export class Edits {
  kept = true; // false once the browser has refused to store something

  constructor(place) {
    this.place = place;
  }

  all() {
    try {
      return JSON.parse(localStorage.getItem(this.place)) ?? {};
    } catch {
      return {};
    }
  }

  // Reads before it writes, because the page may be open in two tabs.
  set(key, text) {
    const edits = { ...this.all(), [key]: text };
    if (text === undefined) delete edits[key];
    try {
      if (Object.keys(edits).length) localStorage.setItem(this.place, JSON.stringify(edits));
      else localStorage.removeItem(this.place);
    } catch {
      this.kept = false;
    }
  }
}
