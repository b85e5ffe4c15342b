// A kernel for the page: asks the server, starts it, connects thebe to it.
import { mendWidgets } from "./widgets.js";

const PATIENCE = 30_000; // ms; pressing again finds what came later

const at = (path) => new URL(path, location.origin);

// Says {live: true, base, python}, or {live: false} from a server that only has files. A server that
// was started anew knows neither the old page nor its cookie.
export async function askServer({ root }) {
  const answer = await fetch(new URL("_live/server.json", root), { cache: "no-store", signal: AbortSignal.timeout(PATIENCE) });
  return answer.ok ? answer.json() : { live: false, forgotten: true };
}

// One kernel for each page: the server finds the one it has under the page's path, or starts one.
export async function startKernel({ name }, { base }) {
  const path = `${name}.ipynb`;
  const token = document.cookie.match(/(?:^|; )_xsrf=([^;]*)/)?.[1] ?? "";
  const answer = await fetch(at(`${base}api/sessions`), {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-XSRFToken": token },
    body: JSON.stringify({ path, name: path, type: "notebook", kernel: { name: "python3" } }),
    signal: AbortSignal.timeout(PATIENCE),
  });
  if (answer.ok) return answer.json();
  const { message } = await answer.json().catch(() => ({}));
  throw new Error(`the server could not start Python (${message || answer.statusText || answer.status}).`);
}

export async function exists({ base }, kernel) {
  return (await fetch(at(`${base}api/kernels/${kernel}`))).status !== 404;
}

let loading;

// Thebe's script registers itself as globalThis.thebe and thebeCore.
export function loadThebe() {
  loading ??= Promise.all([
    load("link", { rel: "stylesheet", href: new URL("thebe/thebe.css", import.meta.url) }),
    load("script", { src: new URL("thebe/index.js", import.meta.url) }),
  ]).then(mendWidgets).catch((error) => {
    loading = undefined; // the next press tries again
    throw error;
  });
  return loading;
}

function load(tag, properties) {
  return new Promise((resolve, reject) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.onload = resolve;
    element.onerror = () => {
      element.remove();
      reject(new Error(`${element.src ?? element.href} could not be loaded.`));
    };
    document.head.prepend(element); // before the book's own sheets, which shall have the last word
  });
}

// Thebe's view of the server. It asks for what runs there, which nobody needs to wait for yet.
export function connect({ base }) {
  const { api, module } = globalThis.thebeCore;
  const serverSettings = { baseUrl: at(base).href, token: "", appendToken: false };
  const thebe = new module.ThebeServer(api.makeConfiguration({ serverSettings }));
  thebe.connectToJupyterServer();
  return thebe;
}

// A session with the kernel that runs, once it answers.
export async function attach(thebe, model, rendermime) {
  await thebe.ready.catch((reason) => { throw new Error(reason); }); // thebe rejects with a text
  const session = await thebe.connectToExistingSession(model, rendermime);
  // A kernel that is busy since before a reload answers when it is done, or interrupted.
  if (model.kernel.execution_state !== "busy") await inTime(session.kernel.info);
  return session;
}

export function disconnect(session) {
  session.dispose();
  session.server.dispose();
}

export function inTime(promise) {
  const late = new Promise((_, reject) => { setTimeout(() => reject(new Error("Python does not answer.")), PATIENCE); });
  return Promise.race([promise, late]);
}
