// Keeps a reader's edits until they are reset: the server does, in a file of the reader's own. A cell is
// known by its page and its original text: when the book changes, an answer does not land under another
// question.
const DELAY = 300; // ms after the last change; who types sends no request for each letter
const TIMEOUT = 10_000; // ms

export class SavedEdits {
  #pending = new Map(); // the new text of a cell by its original text, as in #kept
  #kept = new Map();
  #failure = ""; // why the last request kept nothing
  #sending = Promise.resolve();
  #timer;

  constructor({ name }) {
    this.address = new URL(`../../_live/edits/${name}`, import.meta.url);
    // A page that is left sends what it still has; one that cannot keep it asks whether it may go.
    addEventListener("pagehide", () => this.#send({ keepalive: true }));
    addEventListener("beforeunload", (event) => {
      if (this.#failure && this.#pending.size) event.preventDefault();
    });
  }

  async load({ xsrf }) {
    this.xsrf = xsrf;
    const { edits } = await (await this.#ask({})).json();
    this.#kept = new Map(Object.entries(edits));
  }

  textOf(original) {
    return this.#pending.get(original) ?? this.#kept.get(original) ?? original;
  }

  set(original, text) {
    if (text === this.textOf(original)) return;
    this.#pending.set(original, text);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.flush(), DELAY);
  }

  // Resolves when all is kept, to an empty text, or else to why it is not.
  flush() {
    clearTimeout(this.#timer);
    this.#sending = this.#sending.then(() => this.#send({}));
    return this.#sending;
  }

  // A request for each cell, as one has a limit. What fails waits for the next time.
  async #send(options) {
    const sent = [...this.#pending].map(async ([original, text]) => {
      const change = { [original]: text === original ? null : text };
      await this.#ask({ method: "PATCH", body: JSON.stringify(change), ...options });
      this.#kept.set(original, text);
      if (this.#pending.get(original) === text) this.#pending.delete(original);
    });
    const failed = (await Promise.allSettled(sent)).find(({ status }) => status === "rejected");
    this.#failure = failed?.reason.message ?? "";
    return this.#failure;
  }

  async #ask(options) {
    const headers = { "X-XSRFToken": this.xsrf };
    const answer = await fetch(this.address, { headers, signal: AbortSignal.timeout(TIMEOUT), ...options });
    if (answer.ok) return answer;
    const { message } = await answer.json().catch(() => ({}));
    throw new Error(message ?? gettext("the server answered {status}", { status: answer.status }));
  }
}
