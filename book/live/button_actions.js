// What the bar's buttons do, each an export: start Python, run cells, interrupt, restart, stop, reset.
import { makeCells } from "./cells.js";
import { askServer, connect, pause, startKernel, waitForKernel, withTimeout } from "./kernel.js";
import { changedBinding, hasRun, verdictOn } from "./questions.js";
import { makeRendermime } from "./rendermime.js";
import { SavedEdits } from "./saved_edits.js";

const SLOW_CELL = 250; // ms; the bar does not flicker for quicker cells
const MAX_ERROR = 500; // characters of an error's message that the bar shows
const RECONNECT = 4000; // ms in which a lost connection may come back, before the server is asked

const queue = []; // the cells that are to run; Python has the first
let page, edits, cells, rendermime, session;
let waitsForInput; // whether Python waits for an answer to input()
let restarting; // while Python starts afresh, the promise that it will have done so

export async function goLive(opened) {
  page = opened;
  const server = await askServer();
  if (!server.live) return page.say("failed", server.message);
  page.say("starting", "starting");
  edits ??= new SavedEdits(page);
  // The kernel starts on the server while the browser reads the editor.
  const [model, thebe] = await Promise.all([startKernel(page, server), connect(server), cells ?? edits.load(server)]);
  // The cells become editors once; kernels come and go.
  rendermime ??= makeRendermime();
  cells ??= makeCells(page, edits, rendermime, run, onInput);
  const connected = await thebe.connectToExistingSession(model, rendermime);
  const before = model.kernel.execution_state;
  // A kernel that is busy since before a reload answers when it is done, or interrupted. An idle one may
  // have taken the place of a Python that died while no page was there to hear of it.
  if (before !== "busy") await withTimeout(connected.kernel.info);
  const known = before === "idle" && (await withTimeout(hasRun(connected.kernel)));
  session = connected;
  forgive();
  follow(session.kernel);
  if (before === "busy") page.say("busy", "still-busy");
  else page.say("ready", known ? "again" : "ready", server.python);
}

function onInput(cell, answer) {
  waitsForInput = true;
  page.say("busy", "asks", cell.title);
  answer.then(() => {
    waitsForInput = false;
    page.say("busy", "running", cell.title);
  });
}

// The buttons of a question of letters ask this Python, if there is one (exercise_buttons.js).
document.addEventListener("exercise-asked", ({ detail }) => {
  if (session) detail.verdict = verdictOn(session.kernel, detail.name, detail.keys);
});

const tell = (message, ...values) => page.say(page.bar.dataset.state, message, ...values);

async function run(cell) {
  if (!session) return tell("no-kernel");
  if (queue.includes(cell)) return;
  cell.data.qkvState = "queued";
  queue.push(cell);
  if (queue.length > 1) return;
  for (; queue.length; queue.shift()) {
    await execute(queue[0]).catch((error) => {
      cancelQueued(0);
      if (session) console.error(error);
    });
  }
}

async function execute(cell) {
  await restarting;
  const { status, ename, evalue, seconds } = await cell.execute(session.kernel);
  waitsForInput = false;
  const unkept = await edits.flush();
  const ran = gettext("{cell} in {seconds} s", { cell: cell.title, seconds });
  if (status === "ok") return tell(unkept ? "ran-unkept" : "ran", ran, unkept);
  cancelQueued();
  cell.element.scrollIntoView({ block: "nearest" });
  // Of a syntax error, the number of the line is the reader's, the name of the file is not.
  const why = evalue?.slice(0, MAX_ERROR).replace(/\(\d+\.py, /, "(");
  const what = [cell.title, ename, why].filter(Boolean).join(": ");
  if (ename === "KeyboardInterrupt") tell("interrupted", cell.title);
  else if (ename) tell(ename === "NameError" ? "name-error" : "error", `${what}.`);
  if (ename === "NameError") blameChange(cell, evalue, `${what}.`).catch(console.debug); // Python may be gone
}

// A name may be missing because of a change above, which is not where Python stopped.
async function blameChange(cell, message, what) {
  const changed = cells.slice(0, cells.indexOf(cell)).filter((above) => above.edited);
  const guilty = changed.length && (await changedBinding(session.kernel, message, changed));
  if (guilty && page.bar.dataset.message === "name-error") tell("name-changed", what, guilty.title);
}

// What waits for Python is not run.
function cancelQueued(first = 1) {
  for (const cell of queue.splice(first)) cell.data.qkvState = "aborted";
}

export function runAll() {
  for (const cell of cells) cell.unfoldEdit();
  cells.forEach(run);
}

export function resetAll() {
  for (const cell of cells) cell.reset();
  tell("reset");
}

export async function interrupt() {
  cancelQueued();
  if (queue.length) tell("interrupting");
  await session.kernel.interrupt();
}

export async function restart() {
  if (restarting) return;
  const { kernel } = session;
  page.say("busy", "restarting");
  forgive();
  await becomesReady(kernel, kernel.restart(), "restarted");
}

// Cells wait meanwhile: of what a fresh Python says first, some may get lost.
async function becomesReady(kernel, begun, message) {
  const ready = withTimeout(begun.then(() => waitForKernel(kernel)));
  restarting = ready;
  try {
    await ready;
    if (holds(kernel)) page.say("ready", message);
  } catch (error) {
    if (holds(kernel)) throw error; // else Python was lost meanwhile, and that is said
  } finally {
    if (restarting === ready) restarting = undefined;
  }
}

export async function stop() {
  const begun = restarting;
  const left = leave("starting", "stopping"); // a start in between would find the old kernel
  await begun?.catch(() => {}); // Jupyter's server cannot end a kernel that it is just starting
  await left.shutdown().finally(() => left.server.dispose());
  page.say("off", "stopped");
}

const lose = (message) => leave("failed", message).server.dispose();

function leave(state, message) {
  const left = session;
  session = restarting = undefined;
  cancelQueued();
  forget();
  page.say(state, message);
  return left;
}

const holds = (kernel) => session?.kernel === kernel;

const forget = () => cells.forEach((cell) => cell.forget());
const forgive = () => cells.forEach((cell) => cell.forgive());

// Says what becomes of the kernel and of the connection to it.
function follow(kernel) {
  const on = (signal, act) => signal.connect((_, value) => holds(kernel) && act(value));
  const says = (...messages) => messages.includes(page.bar.dataset.message);
  const running = () => {
    if (holds(kernel) && !waitsForInput) page.say("busy", "running", queue[0]?.title ?? "Python");
  };
  // Jupyter's server has started another by itself; the page's connection is made anew.
  const replaced = () => {
    page.say("busy", "died");
    becomesReady(kernel, pause(0), "died").catch(({ message }) => page.say("busy", "failed", message));
  };
  let slow;

  on(kernel.statusChanged, (status) => {
    clearTimeout(slow);
    if (status.endsWith("restarting")) forget();
    if (restarting) return; // the old Python speaks
    if (status === "busy") slow = setTimeout(running, SLOW_CELL);
    if (status === "idle") page.bar.dataset.state = "ready";
    if (status === "idle" && says("running", "asks", "still-busy")) page.say("ready", "idle");
    if (status === "autorestarting") replaced();
  });
  on(kernel.disposed, () => lose(kernel.status === "dead" ? "dead" : "ended-elsewhere"));
  // Jupyter's connection comes back by itself, if there is something to come back to.
  on(kernel.connectionStatusChanged, async (status) => {
    if (status === "connected" && says("lost")) page.say("busy", "found");
    if (status !== "connected" && !says("died") && !restarting) page.say("lost", "lost");
    await pause(RECONNECT);
    if (kernel.connectionStatus === "connected") return;
    const { message } = await askServer();
    if (message && holds(kernel)) lose(message);
  });
}
