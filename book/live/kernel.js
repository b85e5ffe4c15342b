// The page's kernel: asks the server for one, starts it, connects thebe to it.
import { patchWidgetLoader } from "./widget_loader.js";

const TIMEOUT = 30_000; // ms; pressing again finds what came later
const RETRY = 1000; // ms

export const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

// Returns {live: true, base, python, xsrf}, or why nothing can run: {message}, a template of toolbar.html.
// A server that was started anew knows neither the old page nor its cookie.
export async function askServer() {
  const address = new URL("../../_live/server.json", import.meta.url);
  const answer = await fetch(address, { signal: AbortSignal.timeout(TIMEOUT) }).catch(() => null);
  if (!answer) return { message: "gone" };
  return answer.ok ? answer.json() : { message: "forgotten" };
}

// One kernel for each page: the server finds the one it has under the page's path, or starts one.
export async function startKernel({ name }, { base, xsrf }) {
  const path = `${name}.ipynb`;
  const answer = await fetch(`${base}api/sessions`, {
    method: "POST",
    headers: { "X-XSRFToken": xsrf },
    body: JSON.stringify({ path, name: path, type: "notebook", kernel: { name: "python3" } }),
    signal: AbortSignal.timeout(TIMEOUT),
  });
  const model = await answer.json().catch(() => ({}));
  if (answer.ok) return model;
  throw new Error(gettext("the server could not start Python ({why}).", { why: model.message ?? answer.status }));
}

// Thebe's view of the server. It asks for what runs there, which nobody needs to wait for yet. To each
// request it adds what a cookie named _xsrf holds; a JupyterLab on this host has one of its own.
export async function connect({ base, xsrf }) {
  await loadThebe();
  const { api } = globalThis.thebeCore;
  const serverSettings = {
    baseUrl: new URL(base, location.origin).href, token: "",
    fetch(request) {
      request.headers.set("X-XSRFToken", xsrf);
      return fetch(request);
    },
  };
  return api.connectToJupyter(api.makeConfiguration({ serverSettings }));
}

// Thebe's script registers itself as globalThis.thebe and thebeCore.
async function loadThebe() {
  if (globalThis.thebeCore) return;
  const sheet = load("link", { rel: "stylesheet", href: new URL("thebe/thebe.css", import.meta.url) });
  await Promise.all([sheet, load("script", { src: new URL("thebe/index.js", import.meta.url) })]);
  patchWidgetLoader();
}

function load(tag, properties) {
  const element = Object.assign(document.createElement(tag), properties);
  document.head.prepend(element); // before the book's own sheets, which shall have the last word
  return new Promise((resolve, reject) => {
    element.onload = resolve;
    const address = element.src ?? element.href;
    element.onerror = () => reject(new Error(gettext("{address} could not be loaded.", { address })));
  });
}

// Resolves when Python has answered whole: a connection that is made anew may lose what comes first.
// What was asked before a death is cancelled with it, and asked again.
export async function waitForKernel(kernel) {
  if (kernel.isDisposed) throw new Error(gettext("Python has gone."));
  const asked = kernel.requestKernelInfo().catch(() => pause(RETRY));
  return (await Promise.race([asked, pause(RETRY)])) ?? waitForKernel(kernel);
}

export function withTimeout(promise) {
  const late = pause(TIMEOUT).then(() => { throw new Error(gettext("Python does not answer.")); });
  return Promise.race([promise, late]);
}
