// The marks of a reader. What cannot be kept lasts as long as the page, and is tried again with the next mark.
import { change, openStorage } from "./stores.js";

export class ReadingProgress {
  failure = ""; // why marks are not kept
  #kept = new Set();
  #pending = new Map(); // whether each is set, of those that are not kept yet
  #opened = openStorage();
  #done = Promise.resolve();

  constructor(onChange) {
    this.onChange = onChange;
  }

  get marks() {
    return change(new Set(this.#kept), this.#pending);
  }

  has(name) {
    return this.#pending.get(name) ?? this.#kept.has(name);
  }

  get atServer() {
    return this.#opened.then(({ atServer }) => atServer);
  }

  load() {
    return this.#next((storage) => (this.#pending.size ? this.#write(storage) : storage.read()));
  }

  // Sets or takes back marks: [["masks-3", true], …].
  set(changes) {
    for (const [name, set] of changes) this.#pending.set(name, set);
    this.onChange();
    return this.#next((storage) => this.#write(storage));
  }

  forget() {
    this.#pending.clear();
    return this.#next(async (storage) => {
      await storage.forget();
      return new Set();
    });
  }

  async #write(storage) {
    const sent = new Map(this.#pending);
    const kept = await storage.write(sent);
    for (const [name, set] of sent) if (this.#pending.get(name) === set) this.#pending.delete(name);
    return kept;
  }

  // One after the other: an answer that was overtaken would show old marks.
  #next(act) {
    this.#done = this.#done.then(async () => {
      try {
        this.#kept = await act(await this.#opened);
        this.failure = "";
      } catch (error) {
        this.failure = error.message ?? String(error);
      }
      this.onChange();
    });
    return this.#done;
  }
}
