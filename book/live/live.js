// From the button to running cells, and what the bar says on the way.
import { makeCells } from "./cells.js";
import { askServer, attach, connect, inTime, loadThebe, startKernel } from "./kernel.js";
import { makeRendermime } from "./texts.js";

const SLOW = 250; // ms; the bar does not flicker for quicker cells
const LOOKS = 4; // in vain, a second apart: then the server is gone
const HEED = 3000; // ms that a cell may take to end when it is interrupted

let page, cells, rendermime, session;
let line = Promise.resolve(); // the cells that wait, each for the one before
let calledOff = 0; // counts what makes those that wait not run: an error, an interrupt, a fresh Python

export async function goLive(opened) {
  page = opened;
  const server = await askServer();
  if (!server.live) return page.say("failed", server.words);
  page.say("starting", "starting");
  // The kernel starts on the server while the browser reads the editor.
  const [model, thebe] = await Promise.all([startKernel(page, server), loadThebe().then(() => open(server))]);
  session = await attach(thebe, model, rendermime);
  follow(session);
  const { execution_state: before } = model.kernel;
  if (before === "busy") page.say("busy", "still-busy");
  else page.say("ready", before === "idle" ? "again" : "ready", server.python);
}

// The cells become editors once; kernels come and go.
function open(server) {
  const thebe = connect(server);
  if (cells) return thebe;
  rendermime = makeRendermime();
  cells = makeCells(page, rendermime, run);
  return thebe;
}

const tell = (words, value) => page.say(page.bar.dataset.state, words, value);

function run(cell) {
  if (!session) return tell("no-kernel");
  if (cell.waiting) return cell.ended;
  cell.data.qkvState = "queued";
  const before = calledOff;
  cell.ended = line.then(() => (before === calledOff ? execute(cell) : (cell.data.qkvState = "aborted")));
  line = cell.ended;
  return cell.ended;
}

async function execute(cell) {
  const { status, ename, evalue, seconds } = await cell.execute(session.kernel);
  if (status === "ok") {
    tell(cell.unkept ? "ran-unkept" : "ran", `${cell.title} in ${seconds} s`);
    return "done";
  }
  calledOff += 1;
  cell.element.scrollIntoView({ block: "nearest" });
  // Of a syntax error, the number of the line is the reader's, the name of the file is not.
  const what = [cell.title, ename, evalue?.replace(/\(\d+\.py, /, "(")].filter(Boolean).join(": ");
  if (ename === "KeyboardInterrupt") tell("interrupted", cell.title);
  else if (ename) tell(ename === "NameError" ? "name-error" : "error", `${what}.`);
  return status;
}

export async function runAll() {
  if (cells.some((cell) => cell.waiting)) return;
  const ends = await Promise.all(cells.map(run));
  if (ends.every((state) => state === "done")) tell("ran-all", cells.length);
}

export function resetAll() {
  for (const cell of cells) cell.reset();
  tell("reset");
}

export async function interrupt() {
  calledOff += 1;
  const running = cells.find((cell) => cell.data.qkvState === "running");
  if (running) tell("interrupting");
  await session.kernel.interrupt();
  setTimeout(() => { if (running?.data.qkvState === "running") tell("stubborn"); }, HEED);
}

export async function restart() {
  calledOff += 1;
  page.say("busy", "restarting");
  await inTime(session.kernel.restart().then(() => session.kernel.info));
  for (const cell of cells) cell.forget();
  page.say("ready", "restarted");
}

export async function stop() {
  const stopped = release();
  for (const cell of cells) cell.forget();
  page.say("starting", "stopping"); // a start in between would find the old kernel
  await stopped.shutdown().finally(() => disconnect(stopped));
  page.say("off", "stopped");
}

function lose(words) {
  disconnect(release());
  page.say("failed", words);
}

function release() {
  calledOff += 1;
  const released = session;
  session = undefined;
  return released;
}

function disconnect(ended) {
  ended.dispose();
  ended.server.dispose();
}

// Says what becomes of the kernel and of the connection to it.
function follow(followed) {
  const { kernel } = followed;
  const on = (signal, act) => signal.connect((_, value) => { if (session === followed) act(value); });
  const says = (...words) => words.includes(page.bar.dataset.words);
  const name = () => cells.find((cell) => cell.data.qkvState === "running")?.title ?? "Python";
  let slow;
  on(kernel.statusChanged, (status) => {
    clearTimeout(slow);
    if (status === "busy") slow = setTimeout(() => page.say("busy", "running", name()), SLOW);
    if (status === "idle" && says("running", "still-busy")) page.say("ready", "idle");
    else if (status === "idle" && !says("restarting")) page.bar.dataset.state = "ready";
    if (status === "dead") lose("dead");
    if (status === "autorestarting") {
      for (const cell of cells) cell.forget();
      page.say("ready", "died");
    }
  });
  on(kernel.connectionStatusChanged, (status) => {
    if (status !== "connected" && !says("lost", "restarting")) seek(kernel);
  });
  on(kernel.disposed, () => lose("ended-elsewhere"));
}

// Jupyter's connection comes back by itself, if there is something to come back to.
async function seek(kernel) {
  const waits = () => session?.kernel === kernel && kernel.connectionStatus !== "connected";
  const before = page.bar.dataset.words;
  page.say("lost", "lost");
  for (let failures = 0; waits(); ) {
    const { words } = await askServer();
    failures = words === "gone" ? failures + 1 : 0;
    if (waits() && (failures === LOOKS || words === "forgotten")) lose(words);
    await new Promise((resolve) => { setTimeout(resolve, 1000); });
  }
  if (page.bar.dataset.words === "lost") page.say(kernel.status === "busy" ? "busy" : "ready", before === "died" ? "died" : "found");
}
