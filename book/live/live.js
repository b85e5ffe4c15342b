// From the button to running cells, and what the bar says on the way.
import { makeCells } from "./cells.js";
import { Edits } from "./edits.js";
import { askServer, attach, connect, disconnect, exists, inTime, loadThebe, startKernel } from "./kernel.js";

const SLOW = 250; // ms; the bar does not flicker for quicker cells
const HEED = 3000; // ms that a cell may take to end when it is interrupted
const LOOKS = 4; // in vain, a second apart: then the server is gone

let page, edits, cells, rendermime, session;
let line = Promise.resolve(); // the cells that wait, each for the one before
let calledOff = 0; // counts what makes those that wait not run: an error, an interrupt, a fresh Python
let restarting, died;

export async function goLive(opened) {
  page = opened;
  const server = await askServer(page).catch(() => null);
  if (!server) return page.say("failed", "gone");
  if (!server.live) return page.say("failed", server.forgotten ? "forgotten" : "elsewhere");
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
  edits = new Edits(page.storage);
  ({ cells, rendermime } = makeCells(page, edits, run));
  const acts = { "run-all": runAll, interrupt, restart, stop, "reset-all": resetAll };
  for (const [name, act] of Object.entries(acts)) {
    page.pick(name).onclick = () => act().catch((error) => tell("refused", error.message));
  }
  skipWhatIsOutOfSight();
  page.bar.classList.add("qkv-live-open");
  return thebe;
}

// Each output changes the height of the page; a browser need not draw all of it anew each time. What
// is skipped keeps its height.
function skipWhatIsOutOfSight() {
  const article = page.bar.closest("article");
  const blocks = [...article.querySelectorAll("section > :is(p, ul, ol, div, details, figure)")].filter((one) => one !== page.bar);
  const heights = blocks.map((block) => block.offsetHeight);
  blocks.forEach((block, i) => { block.style.containIntrinsicBlockSize = `auto ${heights[i]}px`; });
  for (const block of blocks) block.classList.add("qkv-skipped");
}

const tell = (words, value) => page.say(page.bar.dataset.state, words, value);

function run(cell) {
  if (!session) return tell("no-kernel");
  if (cell.waiting) return cell.ended;
  cell.state = "queued";
  const before = calledOff;
  cell.ended = line.then(() => (before === calledOff ? execute(cell) : (cell.state = "aborted")));
  line = cell.ended.catch(() => {});
  return cell.ended;
}

async function execute(cell) {
  died = false;
  const place = `${cell.title} of ${cells.length}`;
  const slow = setTimeout(() => page.say("busy", "running", place), SLOW);
  const { state, ename, evalue, ms } = await cell.execute(session.kernel);
  clearTimeout(slow);
  const time = ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
  if (state === "error") calledOff += 1;
  if (state === "done") tell(edits.kept ? "ran" : "ran-unkept", `${place} in ${time}`);
  else if (ename === "KeyboardInterrupt") tell("interrupted", place);
  // Of a syntax error, the number of the line is the reader's, the name of the file is not.
  else if (ename) tell(ename === "NameError" ? "name-error" : "error", `${place}: ${ename}${evalue && `: ${evalue.replace(/\(\d+\.py, /, "(")}`}.`);
  return state;
}

async function runAll() {
  if (cells.some((cell) => cell.waiting)) return;
  const ends = await Promise.all(cells.map(run));
  if (ends.every((state) => state === "done")) tell("ran-all", cells.length);
}

async function resetAll() {
  const question = page.bar.querySelector('[data-say="sure"]').content.textContent;
  if (cells.some((cell) => cell.edited) && !confirm(question)) return;
  for (const cell of cells) cell.reset();
  tell("reset");
}

async function interrupt() {
  calledOff += 1;
  const running = cells.find((cell) => cell.state === "running");
  await session.kernel.interrupt();
  setTimeout(() => { if (running?.state === "running") tell("stubborn"); }, HEED);
}

async function restart() {
  calledOff += 1;
  restarting = true;
  page.say("busy", "restarting");
  try {
    await inTime(session.kernel.restart().then(() => session.kernel.info));
    for (const cell of cells) cell.forget();
    page.say("ready", "restarted");
  } finally {
    restarting = false;
  }
}

async function stop() {
  const stopped = session;
  release();
  page.say("starting", "stopping"); // a start in between would find the old kernel
  await stopped.shutdown().finally(() => {
    disconnect(stopped);
    page.say("off", "stopped");
  });
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

// Says what becomes of the kernel and of the connection to it.
function follow(followed) {
  const { kernel } = followed;
  const shift = (from, to) => { if (page.bar.dataset.state === from) page.bar.dataset.state = to; };
  let slow, seeking;
  kernel.statusChanged.connect((_, status) => {
    if (session !== followed) return;
    clearTimeout(slow);
    if (status === "busy") slow = setTimeout(() => shift("ready", "busy"), SLOW);
    if (status === "idle" && !restarting) {
      shift("busy", "ready");
      if (page.bar.dataset.words === "still-busy") tell("idle");
    }
    if (status === "dead") lose("dead");
    if (status === "autorestarting") {
      calledOff += 1;
      died = true;
      for (const cell of cells) cell.forget();
      page.say("ready", "died");
    }
  });
  kernel.disposed.connect(() => { if (session === followed) lose("ended-elsewhere"); });
  kernel.connectionStatusChanged.connect(async (_, status) => {
    if (status === "connected" || seeking || restarting) return;
    seeking = true;
    await seek(followed, kernel);
    seeking = false;
  });
}

// Jupyter's connection comes back by itself, if there is something to come back to.
async function seek(followed, kernel) {
  const waits = () => session === followed && kernel.connectionStatus !== "connected";
  if (waits()) page.say("lost", "lost");
  for (let failures = 0; waits(); ) {
    const server = await askServer(page).catch(() => null);
    const known = server?.live && (await exists(server, kernel.id).catch(() => true));
    if (!waits()) break;
    failures = server ? 0 : failures + 1;
    if (failures === LOOKS) return lose("gone");
    if (server && !server.live) return lose("forgotten");
    if (known === false) return lose("ended-elsewhere");
    await new Promise((resolve) => { setTimeout(resolve, 1000); });
  }
  if (session === followed) page.say(kernel.status === "busy" ? "busy" : "ready", died ? "died" : "found");
}
