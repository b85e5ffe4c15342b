// Where marks are kept: in the browser's storage; or by the server of `make serve`, which has another address
// in each run, so that a browser's storage would be empty each time.
import { MAX_BYTES, decode, encode, isMark } from "./file_format.js";

export const KEY = "qkv-progress";
// Where such a server is.
const HOME = /^(127\.0\.0\.1|\[::1\]|(.+\.)?localhost)$/;
// Of this script, or, in an edition below the English one (ko/_static), of that of the whole book: the server's
// addresses are there.
const { lang } = document.documentElement;
const { src } = document.currentScript;
export const SCRIPT = lang === "en" ? src : src.replace(`/${lang}/_static/`, "/_static/");

export function change(marks, changes) {
  for (const [name, set] of changes) marks[set ? "add" : "delete"](name);
  return marks;
}

class BrowserStorage {
  async read() {
    return this.#read();
  }

  // Nothing may come between reading and writing: another tab has marks of its own.
  async write(changes) {
    const marks = change(this.#read(), changes);
    localStorage.setItem(KEY, encode(marks));
    return marks;
  }

  async forget() {
    localStorage.removeItem(KEY);
  }

  #read() {
    const text = localStorage.getItem(KEY);
    if (text === null) return new Set();
    const { marks } = text.length > MAX_BYTES ? {} : decode(text);
    if (!marks) throw new Error(gettext("This browser's storage holds something else in their place, or marks of a newer copy of the book; it stays so until you press Forget all."));
    return marks;
  }
}

// Kept as the changes in cells are: it is the page "progress" there, each mark a cell (src/qkv/live/edits.py).
class ServerStorage {
  atServer = true;
  #address = new URL("../_live/edits/progress", SCRIPT);

  constructor({ xsrf }) {
    this.headers = { "X-XSRFToken": xsrf };
  }

  async read() {
    const { edits } = await (await this.#ask({})).json();
    return new Set(Object.keys(edits).filter(isMark));
  }

  async write(changes) {
    const body = JSON.stringify(Object.fromEntries([...changes].map(([name, set]) => [name, set ? "done" : null])));
    // Also from a page that is left.
    await this.#ask({ method: "PATCH", body, keepalive: true });
    return this.read();
  }

  async forget() {
    await this.write(new Map([...await this.read()].map((name) => [name, false])));
  }

  async #ask(options) {
    const answer = await fetch(this.#address, { headers: this.headers, signal: AbortSignal.timeout(10_000), ...options });
    if (answer.ok) return answer;
    const { message } = await answer.json().catch(() => ({}));
    throw new Error(message ?? `${answer.status} ${answer.statusText}`);
  }
}

export const openStorage = async () => {
  if (location.protocol === "file:" || !HOME.test(location.hostname)) return new BrowserStorage();
  const server = await fetch(new URL("../_live/server.json", SCRIPT)).then((answer) => answer.json()).catch(() => ({}));
  return server.live ? new ServerStorage(server) : new BrowserStorage();
};
