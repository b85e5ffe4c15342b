// A kernel for the page: asks the server, starts it, connects thebe to it.
import { mendWidgets } from "./widgets.js";

const PATIENCE = 30_000; // ms; pressing again finds what came later

function ask(address, options) {
  const token = document.cookie.match(/(?:^|; )_xsrf=([^;]*)/)?.[1] ?? "";
  const headers = { "Content-Type": "application/json", "X-XSRFToken": token };
  return fetch(address, { headers, cache: "no-store", signal: AbortSignal.timeout(PATIENCE), ...options });
}

// Says {live: true, base, python}, or why nothing can run: {words}, a template of bar.html. A server
// that was started anew knows neither the old page nor its cookie.
export async function askServer() {
  const answer = await ask(new URL("../../_live/server.json", import.meta.url)).catch(() => null);
  if (!answer) return { words: "gone" };
  return answer.ok ? answer.json() : { words: "forgotten" };
}

// One kernel for each page: the server finds the one it has under the page's path, or starts one.
export async function startKernel({ name }, { base }) {
  const path = `${name}.ipynb`;
  const body = JSON.stringify({ path, name: path, type: "notebook", kernel: { name: "python3" } });
  const answer = await ask(`${base}api/sessions`, { method: "POST", body });
  const model = await answer.json().catch(() => ({}));
  if (answer.ok) return model;
  throw new Error(`the server could not start Python (${model.message || answer.statusText || answer.status}).`);
}

// Thebe's script registers itself as globalThis.thebe and thebeCore.
export async function loadThebe() {
  if (globalThis.thebeCore) return;
  await Promise.all([
    load("link", { rel: "stylesheet", href: new URL("thebe/thebe.css", import.meta.url) }),
    load("script", { src: new URL("thebe/index.js", import.meta.url) }),
  ]);
  mendWidgets();
}

function load(tag, properties) {
  return new Promise((resolve, reject) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.onload = resolve;
    element.onerror = () => reject(new Error(`${element.src ?? element.href} could not be loaded.`));
    document.head.prepend(element); // before the book's own sheets, which shall have the last word
  });
}

// Thebe's view of the server. It asks for what runs there, which nobody needs to wait for yet.
export function connect({ base }) {
  const { api, module } = globalThis.thebeCore;
  const serverSettings = { baseUrl: new URL(base, location.origin).href, token: "", appendToken: false };
  const thebe = new module.ThebeServer(api.makeConfiguration({ serverSettings }));
  thebe.connectToJupyterServer();
  return thebe;
}

// A session with the kernel that runs, once it answers.
export async function attach(thebe, model, rendermime) {
  const session = await thebe.connectToExistingSession(model, rendermime);
  // A kernel that is busy since before a reload answers when it is done, or interrupted.
  if (model.kernel.execution_state !== "busy") await inTime(session.kernel.info);
  return session;
}

export function inTime(promise) {
  const late = new Promise((_, reject) => { setTimeout(() => reject(new Error("Python does not answer.")), PATIENCE); });
  return Promise.race([promise, late]);
}
