// The page's code cells as editors, each with its live output in the place of the stored one.
import { typeset } from "./maths.js";

const EDITOR = { lineNumbers: false, indentUnit: 4, inputStyle: "contenteditable", viewportMargin: Infinity };
const NO_BUTTONS = { mountRunButton: false, mountRunAllButton: false, mountRestartButton: false, mountRestartAllButton: false };
const NOTES = { queued: "waiting", running: "running", error: "error", lost: "not finished", aborted: "not run" };

const sourceOf = (element) => element.querySelector(".cell_input pre");

// `run(cell)` is what Shift-Enter and a cell's button do.
export function makeCells(page, edits, run) {
  const { api } = globalThis.thebeCore;
  // With an address thebe keeps its LaTeX renderer; without a configuration it loads no MathJax.
  const config = api.makeConfiguration({ mathjaxUrl: "none", mathjaxConfig: "" });
  const rendermime = api.makeRenderMimeRegistry(config.mathjax);
  rendermime.latexTypesetter = { typeset };

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
  return { cells, rendermime };
}

class Cell {
  constructor({ page, edits, run, notebook, element, index, id, original, key }) {
    Object.assign(this, { page, edits, element, original, key, title: `Cell ${index + 1}` });
    this.thebe = notebook.getCellById(id);
    element.dataset.qkvCell = index;
    this.#addOutput();
    this.#addEditor(notebook, id, run);
    this.#addTools(run);
    this.state = "idle";
    this.#offerReset();
  }

  // The stored output stays in sight until the cell is run.
  #addOutput() {
    this.stored = this.element.querySelector(".cell_output");
    this.output = this.page.html("div", { className: "qkv-live-output", hidden: true });
    this.output.setAttribute("role", "group");
    this.output.setAttribute("aria-label", `Output of ${this.title}`);
    const fold = this.element.matches(".tag_hide-cell") && this.element.querySelector("details");
    if (this.stored) this.stored.after(this.output);
    else (fold || this.element).append(this.output);
  }

  #addEditor(notebook, id, run) {
    for (const copy of this.element.querySelectorAll("button.copybtn")) copy.remove();
    const screenReaderLabel = `Code of ${this.title}. Shift-Enter runs it, Escape leaves it.`;
    const options = { ...NO_BUTTONS, codeMirrorConfig: { ...EDITOR, screenReaderLabel } };
    const placeholders = { source: sourceOf(this.element), output: this.output };
    globalThis.thebe.renderAllCells(options, notebook, [{ id, placeholders }]);
    this.editor = this.element.querySelector(".CodeMirror").CodeMirror;
    this.editor.setOption("extraKeys", {
      ...this.editor.getOption("extraKeys"),
      "Shift-Enter": () => run(this), "Ctrl-Enter": () => run(this), "Cmd-Enter": () => run(this),
      "Tab": "insertSoftTab", "Shift-Tab": "indentLess", "Esc": () => this.runButton.focus(),
    });
    this.editor.on("change", () => {
      const text = this.editor.getValue();
      this.edits.set(this.key, text === this.original ? undefined : text);
      this.#offerReset();
    });
    this.element.querySelector("details")?.addEventListener("toggle", () => this.editor.refresh());
  }

  #addTools(run) {
    const { html, button } = this.page;
    this.runButton = button("run", "Run", () => run(this));
    this.runButton.setAttribute("aria-label", `Run ${this.title}`);
    this.resetButton = button("reset", "Reset", () => this.reset());
    this.resetButton.setAttribute("aria-label", `Reset ${this.title} to the book's`);
    this.note = html("span", { className: "qkv-cell-note" });
    const tools = html("div", { className: "qkv-cell-tools" }, this.runButton, this.resetButton, this.note);
    // Where only the code is folded, its button stays in sight, above the output.
    const fold = this.element.matches(".tag_hide-input") && this.element.querySelector("details");
    (fold || this.element.querySelector(".thebe-cell")).after(tools);
  }

  get state() {
    return this.element.dataset.qkvState;
  }

  set state(state) {
    this.element.dataset.qkvState = state;
    this.runButton.disabled = this.resetButton.disabled = this.waiting;
    this.note.textContent = NOTES[state] ?? "";
  }

  get waiting() {
    return this.state === "queued" || this.state === "running";
  }

  #offerReset() {
    this.resetButton.hidden = this.editor.getValue() === this.original;
  }

  // Back to the text and the output of the book.
  reset() {
    if (this.waiting) return;
    this.editor.setValue(this.original);
    this.output.hidden = true;
    if (this.stored) this.stored.hidden = false;
    this.state = "idle";
    this.#offerReset();
  }

  // The variables that the run made are gone.
  forget() {
    if (!this.waiting) this.state = "idle";
  }

  // Returns how the run ended: `state` is done, error, aborted or lost.
  run(kernel) {
    if (!this.waiting) this.ended = this.#run(kernel);
    return this.ended;
  }

  async #run(kernel) {
    const code = this.editor.getValue();
    const start = performance.now();
    this.#showLive();
    this.state = "queued";
    const future = kernel.requestExecute({ code });
    this.thebe.area.future = future;
    future.registerMessageHook(({ header }) => {
      if (header.msg_type === "execute_input") this.state = "running";
      return true;
    });
    const { status, ename, evalue } = await future.done.then((reply) => reply.content, () => ({ status: "lost" }));
    this.state = status === "ok" ? "done" : status;
    this.element.dataset.qkvMs = (performance.now() - start).toFixed(1);
    this.output.style.minHeight = "";
    this.#describe(code);
    this.#offerReset();
    return { state: this.state, error: ename && `${ename}: ${evalue}`, ms: performance.now() - start };
  }

  // The new output keeps the room of the old one until it is there, so that the page does not jump.
  #showLive() {
    const old = this.output.hidden ? this.stored : this.output;
    this.output.style.minHeight = `${old?.offsetHeight ?? 0}px`;
    this.output.hidden = false;
    if (this.stored) this.stored.hidden = true;
  }

  // The stored figure's words fit the new one only if the code is the same.
  #describe(code) {
    const words = code === this.original && this.stored?.querySelector("img[alt]")?.alt;
    for (const image of this.output.querySelectorAll("img")) image.alt = words || `Figure of ${this.title}`;
    for (const area of this.output.querySelectorAll(".jp-OutputArea-output")) {
      if (area.scrollHeight > area.clientHeight || area.scrollWidth > area.clientWidth) area.tabIndex = 0;
    }
  }
}
