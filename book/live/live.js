// From the button to running cells, and what the bar says on the way.
import { makeCells } from "./cells.js";
import { Edits } from "./edits.js";
import { askServer, attach, connect, disconnect, exists, inTime, loadThebe, startKernel } from "./kernel.js";

const PRESS = "Press the button for a fresh one; your changes are kept.";
const GONE = "The book's server has gone. Start it again with `make serve` and open the link that it prints; your changes are kept.";
const FORGOTTEN = "The book's server was started anew and does not know this page. Open the link that it printed last; your changes are kept.";

const SLOW = 250; // ms; the bar does not flicker for quicker cells

let page, edits, cells, rendermime, session;
let batch = 0; // which "run all" is the latest; interrupting one makes it an older one
let restarting = false;

export async function goLive(bar) {
  page = bar;
  const server = await askServer(page).catch(() => null);
  if (!server) return page.say("failed", GONE);
  if (!server.live) return page.say("failed", ...(server.forgotten ? [FORGOTTEN] : elsewhere()));
  page.say("starting", "Starting Python …");
  // The kernel starts on the server while the browser reads the editor.
  const started = startKernel(page, server);
  const [model, manager] = await Promise.all([started, loadThebe().then(() => open(server))]);
  session = await attach(manager, model, rendermime);
  follow(session);
  const { status } = session.kernel;
  if (status === "busy") page.say("busy", "Python is still busy with what was run before. Interrupt ends that.");
  else page.say("ready", `Python ${server.python} runs these cells. Edit one; Shift-Enter runs it.`);
  page.bar.focus({ preventScroll: true });
}

// Where a page can run that has nothing but files behind it.
function elsewhere() {
  const link = (text, href) => page.html("a", { textContent: text, href });
  const binder = page.binder ? [link("Open this page on Binder", page.binder), " (it takes some minutes), or run it on your machine: "] : ["To run its cells on your machine, "];
  const book = page.repository ? link("get the book", page.repository) : "get the book";
  return ["This copy of the book has no Python behind it. ", ...binder, book, ", and give `make serve` in its folder."];
}

// The cells become editors once; kernels come and go.
function open(server) {
  const manager = connect(server);
  if (cells) return manager;
  edits = new Edits(page.storage);
  ({ cells, rendermime } = makeCells(page, edits, run));
  const act = (name, text, work) => page.button(`live-${name}`, text, () => work().catch(complain));
  page.buttons.append(
    act("run-all", "Run all", runAll), act("interrupt", "Interrupt", interrupt), act("restart", "Restart", restart),
    act("stop", "Stop", stop), act("reset-all", "Reset all", async () => cells.forEach((cell) => cell.reset())),
  );
  skipWhatIsOutOfSight();
  return manager;
}

// Each output changes the height of the page; a browser need not draw all of it anew each time. A
// section keeps its height while it is skipped.
function skipWhatIsOutOfSight() {
  const article = page.bar.closest("article");
  for (const section of article.querySelectorAll("section > section")) {
    section.style.containIntrinsicBlockSize = `auto ${section.offsetHeight}px`;
  }
  article.classList.add("qkv-live-page");
}

const tell = (...words) => page.say(page.bar.dataset.state, ...words);
const complain = (error) => tell(`This did not work: ${error.message}`);

async function run(cell) {
  if (!session) return tell("No Python runs now. Press the button first.");
  const { state, error, ms } = await cell.execute(session.kernel);
  const time = ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
  if (error) tell(`In ${cell.title}: ${error}`);
  else if (state === "done") tell(`Ran ${cell.title} in ${time}.`, edits.kept ? "" : " This browser does not let the page keep your changes.");
  return state;
}

async function runAll() {
  const mine = (batch += 1);
  for (const cell of cells) {
    if ((await run(cell)) !== "done" || mine !== batch) return;
  }
  tell(`All ${cells.length} cells ran.`);
}

async function interrupt() {
  batch += 1;
  await session.kernel.interrupt();
}

async function restart() {
  batch += 1;
  restarting = true;
  page.say("busy", "Starting Python afresh …");
  try {
    await inTime(session.kernel.restart().then(() => session.kernel.info), "Python does not come back.");
    for (const cell of cells) cell.forget();
    page.say("ready", "Python was started afresh: all variables are gone.");
  } finally {
    restarting = false;
  }
}

async function stop() {
  batch += 1;
  const stopped = session;
  session = undefined;
  await stopped.shutdown().finally(() => disconnect(stopped));
  page.say("off", `Python is stopped. ${PRESS}`);
}

function lose(words) {
  const lost = session;
  session = undefined;
  batch += 1;
  disconnect(lost);
  page.say("failed", words);
}

// Says what becomes of the kernel and of the connection to it.
function follow(followed) {
  const { kernel } = followed;
  const shift = (from, to) => { if (page.bar.dataset.state === from) page.bar.dataset.state = to; };
  let slow;
  kernel.statusChanged.connect((_, status) => {
    if (session !== followed) return;
    clearTimeout(slow);
    if (status === "busy") slow = setTimeout(() => shift("ready", "busy"), SLOW);
    if (status === "idle" && !restarting) shift("busy", "ready");
    if (status === "dead") lose(`Python has died. ${PRESS}`);
    if (status === "autorestarting") {
      batch += 1;
      for (const cell of cells) cell.forget();
      page.say("ready", "Python died, and a fresh one has taken its place: all variables are gone. Run the cells again from the top.");
    }
  });
  let seeking = false;
  kernel.connectionStatusChanged.connect(async (_, status) => {
    if (status === "connected" || seeking || restarting) return;
    seeking = true;
    await seek(followed);
    seeking = false;
  });
}

async function seek(followed) {
  const waits = () => session === followed && followed.kernel.connectionStatus !== "connected";
  if (waits()) page.say("lost", "The connection to the book's server is lost; looking for it …");
  for (let failures = 0; waits(); ) {
    const server = await askServer(page).catch(() => null);
    if (!waits()) break;
    failures = server ? 0 : failures + 1;
    if (failures > 3) return lose(GONE);
    if (server && !server.live) return lose(FORGOTTEN);
    if (server && !(await exists(server, followed.kernel.id))) return lose(`Python was stopped elsewhere. ${PRESS}`);
    await new Promise((resolve) => { setTimeout(resolve, 1000); });
  }
  if (session === followed) page.say("ready", "The connection is there again.");
}
