// The page's code cells: editors, and live outputs in the place of the stored ones.
import { markdown, typeset } from "./texts.js";

const EDITOR = {
  lineNumbers: false, indentUnit: 4, inputStyle: "contenteditable", viewportMargin: Infinity, autoRefresh: false,
  scrollbarStyle: "null",
};
const NO_BUTTONS = Object.fromEntries(["Run", "RunAll", "Restart", "RestartAll"].map((name) => [`mount${name}Button`, false]));
const NOTES = {
  queued: "waiting", running: "running", error: "error", lost: "not finished", aborted: "not run",
  unrun: "changed, not run", flood: "prints too much: the rest is not shown",
};
const MOST = 300_000; // characters that one run may print; a loop without end would fill the memory
const SLOW = 250; // ms; a quicker cell shows no sign of running, and costs the page no extra drawing

const sourceOf = (element) => element.querySelector(".cell_input pre");

// `run(cell)` is what Shift-Enter and a cell's button do.
export function makeCells(page, edits, run) {
  const { api } = globalThis.thebeCore;
  // With an address thebe keeps its LaTeX renderer; without a configuration it loads no MathJax.
  const config = api.makeConfiguration({ mathjaxUrl: "none", mathjaxConfig: "" });
  const rendermime = api.makeRenderMimeRegistry(config.mathjax);
  Object.assign(rendermime, { latexTypesetter: { typeset }, markdownParser: { render: markdown } });
  rendermime.sanitizer = withoutStyleParser(rendermime.sanitizer);

  const elements = [...document.querySelectorAll("div.cell")].filter(sourceOf);
  const stored = edits.all();
  const seen = new Map();
  const blocks = elements.map((element, index) => {
    const original = sourceOf(element).textContent.replace(/\n$/, "");
    const earlier = seen.get(original) ?? 0;
    seen.set(original, earlier + 1);
    const key = original + "\n".repeat(earlier); // tells cells with the same text apart
    return { id: `qkv-cell-${index}`, original, key, source: stored[key] ?? original };
  });
  const notebook = api.setupNotebookFromBlocks(blocks, config, rendermime);
  const cells = elements.map((element, index) => new Cell({ page, edits, run, notebook, element, index, ...blocks[index] }));
  openWhenNear(cells);
  return { cells, rendermime };
}

// Thebe holds no parser for the colours that terminals write into text, and warns at each one.
function withoutStyleParser(sanitizer) {
  const plain = { parseStyleAttributes: false, allowedStyles: undefined };
  return { sanitize: (html, options) => sanitizer.sanitize(html, { ...options, ...plain }) };
}

// An editor takes 10 ms to make, and a chapter has fifty cells. One that was made out of sight, to be
// run, has measured nothing and shows nothing before it is refreshed.
function openWhenNear(cells) {
  const cellOf = new Map(cells.map((cell) => [cell.element, cell]));
  const watch = new IntersectionObserver((entries) => {
    for (const { target } of entries.filter((entry) => entry.isIntersecting)) {
      cellOf.get(target).open().refresh();
      watch.unobserve(target);
    }
  }, { rootMargin: "600px" });
  for (const element of cellOf.keys()) watch.observe(element);
}

class Cell {
  constructor({ page, edits, run, notebook, element, index, id, original, key, source }) {
    Object.assign(this, { edits, notebook, element, id, original, key });
    this.run = () => run(this);
    this.title = `cell ${index + 1}`;
    this.thebe = notebook.getCellById(id);
    element.dataset.qkvCell = index;
    this.#addTools(page.bar.querySelector(".qkv-cell-template").content.cloneNode(true));
    this.state = "idle";
    if (source !== original) this.open();
  }

  // The stored output stays in sight until the cell is run. Where only the code is folded, its
  // button stays in sight too, above the output.
  #addTools(parts) {
    const [tools, output] = parts.children;
    const foldOf = (tag) => (this.element.matches(`.tag_${tag}`) ? this.element.querySelector("details") : null);
    const [code, stored] = [".cell_input", ".cell_output"].map((part) => this.element.querySelector(part));
    [this.runButton, this.resetButton, this.note] = tools.children;
    this.runButton.onclick = this.run;
    this.resetButton.onclick = () => this.reset();
    for (const part of [this.runButton, this.resetButton, output]) part.setAttribute("aria-label", `${part.textContent || "Output of"} ${this.title}`);
    const folded = foldOf("hide-input");
    if (folded) folded.after(tools);
    else code.append(tools);
    if (stored) stored.after(output);
    else (foldOf("hide-cell") ?? this.element).append(output);
    Object.assign(this, { output, stored });
  }

  open() {
    if (this.editor) return this.editor;
    for (const copy of this.element.querySelectorAll("button.copybtn")) copy.remove();
    const screenReaderLabel = `Code of ${this.title}. Shift-Enter runs it, Escape leaves it.`;
    const options = { ...NO_BUTTONS, codeMirrorConfig: { ...EDITOR, screenReaderLabel } };
    const placeholders = { source: sourceOf(this.element), output: this.output };
    globalThis.thebe.renderAllCells(options, this.notebook, [{ id: this.id, placeholders }]);
    this.editor = this.element.querySelector(".CodeMirror").CodeMirror;
    this.editor.setOption("extraKeys", {
      ...this.editor.getOption("extraKeys"),
      "Shift-Enter": this.run, "Ctrl-Enter": this.run, "Cmd-Enter": this.run,
      "Tab": "insertSoftTab", "Shift-Tab": false, // the way out backwards, as Escape is the one forwards
      "Esc": () => this.runButton.focus(),
    });
    this.editor.on("change", () => {
      const text = this.editor.getValue();
      this.edits.set(this.key, text === this.original ? undefined : text);
      this.#offerReset();
    });
    this.element.querySelector("details")?.addEventListener("toggle", () => this.editor.refresh());
    this.#offerReset();
    return this.editor;
  }

  get state() {
    return this.element.dataset.qkvState;
  }

  set state(state) {
    this.element.dataset.qkvState = state;
    clearTimeout(this.slow);
    if (this.waiting) this.slow = setTimeout(() => this.#note(), SLOW);
    else this.#note();
  }

  #note() {
    const unrun = this.edited && this.output.hidden && !this.waiting && NOTES.unrun;
    const notes = [NOTES[this.state], unrun, this.printed > MOST && NOTES.flood];
    this.note.textContent = notes.filter(Boolean).join("; ");
    this.element.classList.toggle("qkv-slow", this.waiting);
  }

  get waiting() {
    return this.state === "queued" || this.state === "running";
  }

  get edited() {
    return Boolean(this.editor) && this.editor.getValue() !== this.original;
  }

  #offerReset() {
    this.resetButton.hidden = !this.edited;
    this.#note();
  }

  // Back to the text and the output of the book.
  reset() {
    this.editor?.setValue(this.original);
    if (this.waiting) return;
    this.printed = 0;
    this.output.hidden = true;
    if (this.stored) this.stored.hidden = false;
    this.state = "idle";
  }

  // The variables that the run made are gone.
  forget() {
    if (!this.waiting) this.state = "idle";
  }

  // Returns how the run ended: `state` is done, error, aborted or lost.
  async execute(kernel) {
    const code = this.open().getValue();
    const start = performance.now();
    this.#showLive();
    let ended = { status: "lost" }; // without a connection, no request is taken or answered
    try {
      const future = kernel.requestExecute({ code });
      this.thebe.area.future = future;
      this.printed = 0;
      future.registerMessageHook((message) => this.#admits(message));
      ended = (await future.done).content;
    } catch (error) {
      console.debug(error);
    }
    const { status, ename, evalue } = ended;
    const ms = performance.now() - start;
    this.state = status === "ok" ? "done" : status;
    this.element.dataset.qkvMs = ms.toFixed(1);
    this.#describe(code);
    setTimeout(() => this.#settle(), SLOW); // a widget draws itself a little later
    return { state: this.state, ename, evalue, ms };
  }

  // What a cell prints is cut off where it is too much.
  #admits({ header, content }) {
    if (header.msg_type === "execute_input") this.state = "running";
    if (header.msg_type !== "stream") return true;
    const room = MOST - this.printed;
    this.printed += content.text.length;
    content.text = content.text.slice(0, Math.max(room, 0));
    if (this.printed > MOST) this.#note();
    return room > 0;
  }

  // The new output keeps the room of the old one until it is there, so that the page does not jump.
  #showLive() {
    const height = this.output.hidden ? (this.stored?.offsetHeight ?? 0) : this.height;
    this.output.style.minHeight = `${height}px`;
    this.output.hidden = false;
    if (this.stored) this.stored.hidden = true;
  }

  #settle() {
    if (this.waiting) return;
    this.output.style.minHeight = "";
    this.height = this.output.offsetHeight;
    for (const area of this.output.querySelectorAll(".jp-OutputArea-output")) {
      if (area.scrollHeight > area.clientHeight || area.scrollWidth > area.clientWidth) area.tabIndex = 0;
    }
  }

  // The stored figure's words fit the new one only if the code is the same.
  #describe(code) {
    const words = code === this.original && this.stored?.querySelector("img[alt]")?.alt;
    for (const image of this.output.querySelectorAll("img")) image.alt = words || `Figure of ${this.title}`;
  }
}
