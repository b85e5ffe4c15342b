// From the button to running cells, and what the bar says on the way.
import { makeCells } from "./cells.js";
import { askServer, awake, connect, inTime, pause, startKernel } from "./kernel.js";
import { makeRendermime } from "./texts.js";

const SLOW = 250; // ms; the bar does not flicker for quicker cells
const LONGEST = 500; // characters of an error's words that the bar shows
const LOOK = 4000; // ms in which a lost connection may come back, before the server is asked

const line = []; // the cells that are to run; Python has the first
let page, cells, rendermime, session;
let asking; // whether Python waits for an answer to input()
let fresh; // while Python starts afresh, the promise that it will have done so

export async function goLive(opened) {
  page = opened;
  const server = await askServer();
  if (!server.live) return page.say("failed", server.words);
  page.say("starting", "starting");
  // The kernel starts on the server while the browser reads the editor.
  const [model, thebe] = await Promise.all([startKernel(page, server), connect(server)]);
  // The cells become editors once; kernels come and go.
  rendermime ??= makeRendermime();
  cells ??= makeCells(page, rendermime, run, asked);
  const connected = await thebe.connectToExistingSession(model, rendermime);
  const before = model.kernel.execution_state;
  // A kernel that is busy since before a reload answers when it is done, or interrupted.
  if (before !== "busy") await inTime(connected.kernel.info);
  session = connected;
  follow(session.kernel);
  if (before === "busy") page.say("busy", "still-busy");
  else page.say("ready", before === "idle" ? "again" : "ready", server.python);
}

function asked(cell, answer) {
  asking = true;
  page.say("busy", "asks", cell.title);
  answer.then(() => {
    asking = false;
    page.say("busy", "running", cell.title);
  });
}

const tell = (words, value) => page.say(page.bar.dataset.state, words, value);

async function run(cell) {
  if (!session) return tell("no-kernel");
  if (line.includes(cell)) return;
  cell.data.qkvState = "queued";
  line.push(cell);
  if (line.length > 1) return;
  for (; line.length; line.shift()) {
    await execute(line[0]).catch((error) => {
      callOff(0);
      if (session) console.error(error);
    });
  }
}

async function execute(cell) {
  await fresh;
  const { status, ename, evalue, seconds } = await cell.execute(session.kernel);
  asking = false;
  if (status === "ok") return tell(cell.unkept ? "ran-unkept" : "ran", `${cell.title} in ${seconds} s`);
  callOff();
  cell.element.scrollIntoView({ block: "nearest" });
  // Of a syntax error, the number of the line is the reader's, the name of the file is not.
  const why = evalue?.slice(0, LONGEST).replace(/\(\d+\.py, /, "(");
  const what = [cell.title, ename, why].filter(Boolean).join(": ");
  if (ename === "KeyboardInterrupt") tell("interrupted", cell.title);
  else if (ename) tell(ename === "NameError" ? "name-error" : "error", `${what}.`);
}

// What waits for Python is not run.
function callOff(first = 1) {
  for (const cell of line.splice(first)) cell.data.qkvState = "aborted";
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
  callOff();
  if (line.length) tell("interrupting");
  await session.kernel.interrupt();
}

export async function restart() {
  if (fresh) return;
  const { kernel } = session;
  page.say("busy", "restarting");
  fresh = inTime(kernel.restart().then(() => awake(kernel)));
  try {
    await fresh;
    if (holds(kernel)) page.say("ready", "restarted");
  } catch (error) {
    if (holds(kernel)) throw error; // else Python was lost meanwhile, and that is said
  } finally {
    fresh = undefined;
  }
}

export async function stop() {
  const begun = fresh;
  const left = leave("starting", "stopping"); // a start in between would find the old kernel
  await begun?.catch(() => {}); // Jupyter's server cannot end a kernel that it is just starting
  await left.shutdown().finally(() => left.server.dispose());
  page.say("off", "stopped");
}

const lose = (words) => leave("failed", words).server.dispose();

function leave(state, words) {
  const left = session;
  session = fresh = undefined;
  callOff();
  forget();
  page.say(state, words);
  return left;
}

const holds = (kernel) => session?.kernel === kernel;

const forget = () => cells.forEach((cell) => cell.forget());

// Says what becomes of the kernel and of the connection to it.
function follow(kernel) {
  const on = (signal, act) => signal.connect((_, value) => holds(kernel) && act(value));
  const says = (...words) => words.includes(page.bar.dataset.words);
  const running = () => holds(kernel) && !asking && page.say("busy", "running", line[0]?.title ?? "Python");
  let slow;

  on(kernel.statusChanged, (status) => {
    clearTimeout(slow);
    if (status.endsWith("restarting")) forget();
    if (fresh) return; // the old Python speaks
    if (status === "busy") slow = setTimeout(running, SLOW);
    if (status === "idle") page.bar.dataset.state = "ready";
    if (status === "idle" && says("running", "asks", "still-busy")) page.say("ready", "idle");
    if (status === "autorestarting") page.say("ready", "died");
  });
  on(kernel.disposed, () => lose(kernel.status === "dead" ? "dead" : "ended-elsewhere"));
  // Jupyter's connection comes back by itself, if there is something to come back to.
  on(kernel.connectionStatusChanged, async (status) => {
    if (status === "connected" && says("lost")) page.say("busy", "found");
    if (status !== "connected" && !says("died") && !fresh) page.say("lost", "lost");
    await pause(LOOK);
    if (kernel.connectionStatus === "connected") return;
    const { words } = await askServer();
    if (words && holds(kernel)) lose(words);
  });
}
