// The page's code cells: editors, and live outputs in the place of the stored ones. What is shown in
// which state says live.css.
import { OutputLimit } from "./output_limit.js";
import { tellVerdicts } from "./verdicts.js";

const EDITOR = {
  lineNumbers: false, indentUnit: 4, inputStyle: "contenteditable",
  viewportMargin: Infinity, autoRefresh: false, scrollbarStyle: "null",
};
const SETTLE_DELAY = 250; // ms; a widget draws itself a little later than its cell ends

// `edits` keeps what the reader writes; `run(cell)` is what Shift-Enter and a cell's button do;
// `onInput(cell, answer)` is told of an input() and of the promise of its answer.
export function makeCells(page, edits, rendermime, run, onInput) {
  const elements = [...document.querySelectorAll("div.cell:has(.cell_input pre)")];
  const shared = { page, edits, rendermime, run, onInput, count: elements.length };
  page.bar.closest("article").classList.add("qkv-live-open");
  return elements.map((element, index) => new Cell(shared, element, index));
}

class Cell {
  constructor({ page, edits, rendermime, run, onInput, count }, element, index) {
    Object.assign(this, { page, edits, rendermime, onInput, element, data: element.dataset, run: () => run(this) });
    Object.assign(this.data, { qkvCell: index, qkvState: "idle" });
    this.title = gettext("cell {number} of {count}", { number: index + 1, count });
    this.code = element.querySelector(".cell_input pre");
    this.stored = element.querySelector(".cell_output");
    this.original = this.code.textContent.replace(/\n$/, "");
    this.#addTools();
    this.limit = new OutputLimit(({ waits, flood }) => {
      element.classList.toggle("qkv-long", waits);
      element.classList.toggle("qkv-flood", flood);
    });
    if (edits.textOf(this.original) !== this.original) this.open();
    this.unfoldEdit();
    // An editor takes 10 ms to make, and a chapter has fifty cells. One that was made out of sight,
    // to be run, has measured nothing and shows nothing before it is refreshed.
    new IntersectionObserver((entries) => {
      if (entries.at(-1).isIntersecting) this.open().refresh();
    }, { rootMargin: "600px" }).observe(element.querySelector(".cell_input"));
  }

  get waiting() {
    return ["queued", "running"].includes(this.data.qkvState);
  }

  get edited() {
    return this.element.classList.contains("qkv-edited");
  }

  // What runs and is not the book's shall be in sight.
  unfoldEdit() {
    if (!this.edited) return;
    const input = this.element.querySelector(".cell_input");
    for (const fold of document.querySelectorAll("details")) if (fold.contains(input)) fold.open = true;
  }

  // The stored output stays in sight until the cell is run. Where only the code is folded, the
  // buttons stay in sight too, above the output.
  #addTools() {
    const template = this.page.bar.querySelector(".qkv-cell-template");
    const [tools, output, rest] = template.content.cloneNode(true).children;
    const [run, reset] = tools.children;
    run.onclick = this.run;
    reset.onclick = () => this.reset();
    rest.onclick = () => this.#showRest();
    for (const part of [run, reset, output, rest]) part.ariaLabel = part.ariaLabel.replace("{cell}", this.title);
    const code = this.element.querySelector(".tag_hide-input > details, .cell_input");
    (this.stored ?? code).after(output, rest);
    if (code.matches("details")) code.after(tools);
    else code.append(tools);
    Object.assign(this, { output, runButton: run });
  }

  open() {
    if (this.editor) return this.editor;
    const { api } = globalThis.thebeCore;
    const placeholders = { source: this.code, output: this.output };
    const block = { id: this.title, source: this.edits.textOf(this.original), placeholders };
    const notebook = api.setupNotebookFromBlocks([block], api.makeConfiguration({}), this.rendermime);
    const screenReaderLabel = gettext("Code of {cell}. Shift-Enter runs it, Escape leaves it.", { cell: this.title });
    const options = { codeMirrorConfig: { ...EDITOR, screenReaderLabel } };
    globalThis.thebe.renderAllCells(options, notebook, [block]);
    this.area = notebook.cells[0].area;
    this.area.inputRequested.connect((_, { node, value }) => {
      node.querySelector("input").ariaLabel = gettext("Answer to {cell}", { cell: this.title });
      this.onInput(this, value);
    });
    this.editor = this.element.querySelector(".CodeMirror").CodeMirror;
    // CodeMirror gives its field a name, and no role that may have one.
    Object.assign(this.editor.getInputField(), { role: "textbox", ariaMultiLine: "true" });
    this.editor.addKeyMap({
      "Shift-Enter": this.run, "Ctrl-Enter": this.run, "Cmd-Enter": this.run,
      "Tab": "insertSoftTab", "Shift-Tab": false, // the way out backwards, as Escape is the one forwards
      "Esc": () => this.runButton.focus(),
    });
    this.editor.on("change", () => this.#keep());
    this.#keep();
    return this.editor;
  }

  get text() {
    return this.editor?.getValue() ?? this.original;
  }

  #keep() {
    this.edits.set(this.original, this.text);
    this.element.classList.toggle("qkv-edited", this.text !== this.original);
    this.page.countEdited();
    if (!this.waiting) this.data.qkvState = "idle"; // what is shown is no longer what was run
  }

  // Back to the text and the output of the book.
  reset() {
    this.editor?.setValue(this.original);
    if (this.waiting) return;
    this.element.classList.remove("qkv-ran", "qkv-long", "qkv-flood");
    this.data.qkvState = "idle";
  }

  // The variables that the run made are gone, and widgets with them: the stored ones come back. What
  // Python did not finish says so, even if the page hears of one end twice.
  forget() {
    if (!this.waiting && this.data.qkvState !== "lost") this.data.qkvState = "idle";
    if (this.output.querySelector(".jupyter-widgets")) this.element.classList.remove("qkv-ran");
  }

  // A fresh Python was asked for: it owes nothing.
  forgive() {
    if (this.data.qkvState === "lost") this.data.qkvState = "idle";
  }

  // Returns the kernel's reply, whose status is ok, error, aborted or, without an answer, lost.
  async execute(kernel) {
    const code = this.open().getValue();
    const start = performance.now();
    // The new output keeps the room of the old one until it is there: the page does not jump.
    this.output.style.minHeight = `${this.output.offsetHeight || this.stored?.offsetHeight || 0}px`;
    this.element.classList.add("qkv-ran");
    const future = kernel.requestExecute({ code });
    this.area.future = future;
    this.limit.restart(this.area.model);
    future.registerMessageHook((message) => {
      if (message.header.msg_type === "execute_input") this.data.qkvState = "running";
      if (!this.element.matches(".tag_solution")) tellVerdicts(message.content);
      return this.limit.admits(message);
    });
    const reply = await future.done.then(({ content }) => content, () => ({ status: "lost" }));
    const ms = performance.now() - start;
    this.data.qkvState = reply.status === "ok" ? "done" : reply.status;
    this.data.qkvMs = ms.toFixed(1);
    // The stored figure's alt text fits the new one only if the code is the same.
    const stored = code === this.original && this.stored?.querySelector("img[alt]")?.alt;
    const alt = stored || gettext("Figure of {cell}", { cell: this.title });
    for (const image of this.output.querySelectorAll("img")) image.alt = alt;
    setTimeout(() => this.#settle(), SETTLE_DELAY);
    return { ...reply, seconds: (ms / 1000).toPrecision(2) };
  }

  // The button goes with what it shows; the focus goes to what is shown.
  #showRest() {
    this.limit.showRest();
    this.output.tabIndex = -1;
    this.output.focus({ preventScroll: true });
    this.#settle();
  }

  // What the mouse can scroll, the keyboard can.
  #settle() {
    if (this.waiting) return;
    this.output.style.minHeight = "";
    for (const area of this.output.querySelectorAll(".jp-OutputArea-output")) {
      if (area.scrollHeight > area.clientHeight || area.scrollWidth > area.clientWidth) area.tabIndex = 0;
    }
  }
}
