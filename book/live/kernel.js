// A kernel for the page: asks the server, starts it, connects thebe to it.
import { mendWidgets } from "./widgets.js";

const PATIENCE = 60_000; // ms

// Says {live: true, base, python}, or {live: false} from a server that only has files. A server that
// was started anew knows neither the old page nor its cookie.
export async function askServer(page) {
  const options = { cache: "no-store", signal: AbortSignal.timeout(PATIENCE) };
  const answer = await fetch(new URL("_live/server.json", page.root), options);
  return answer.ok ? answer.json() : { live: false, forgotten: true };
}

// One kernel for each page: the server finds the one it has under the page's path, or starts one.
export async function startKernel(page, server) {
  const path = `${page.name}.ipynb`;
  const answer = await fetch(new URL(`${server.base}api/sessions`, location.origin), {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-XSRFToken": cookie("_xsrf") },
    body: JSON.stringify({ path, name: path, type: "notebook", kernel: { name: "python3" } }),
    signal: AbortSignal.timeout(PATIENCE),
  });
  if (answer.ok) return answer.json();
  const { message } = await answer.json().catch(() => ({}));
  throw new Error(`The server could not start Python (${message ?? answer.statusText}).`);
}

function cookie(name) {
  const found = document.cookie.split("; ").find((one) => one.startsWith(`${name}=`));
  return found ? found.slice(name.length + 1) : "";
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
export function connect(server) {
  const { api, module } = globalThis.thebeCore;
  const baseUrl = new URL(server.base, location.origin).href;
  const config = api.makeConfiguration({ serverSettings: { baseUrl, token: "", appendToken: false } });
  const thebe = new module.ThebeServer(config);
  thebe.connectToJupyterServer();
  return thebe;
}

// A session with the kernel that runs, once it answers.
export async function attach(thebe, model, rendermime) {
  await thebe.ready.catch((reason) => { throw new Error(reason); }); // thebe rejects with a text
  const session = await thebe.connectToExistingSession(model, rendermime);
  // A kernel that is busy since before a reload answers when it is done, or interrupted.
  if (model.kernel.execution_state !== "busy") await inTime(session.kernel.info, "Python does not answer.");
  return session;
}

export async function exists(server, kernel) {
  const answer = await fetch(new URL(`${server.base}api/kernels/${kernel}`, location.origin));
  return answer.status !== 404;
}

export function disconnect(session) {
  session.dispose();
  session.server.dispose();
}

export function inTime(promise, words) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(words)), PATIENCE);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
