// The page's code cells: editors, and live outputs in the place of the stored ones. What is shown in
// which state says live.css.
import { editsOf, keepEdit } from "./edits.js";

const EDITOR = {
  lineNumbers: false, indentUnit: 4, inputStyle: "contenteditable", viewportMargin: Infinity, autoRefresh: false,
  scrollbarStyle: "null",
};
const NO_BUTTONS = Object.fromEntries(["Run", "RunAll", "Restart", "RestartAll"].map((name) => [`mount${name}Button`, false]));
const MOST = 300_000; // characters that one run may print; a loop without end would fill the memory
const SETTLED = 250; // ms; a widget draws itself a little later than its cell ends

const sourceOf = (element) => element.querySelector(".cell_input pre");

// `run(cell)` is what Shift-Enter and a cell's button do.
export function makeCells(page, rendermime, run) {
  const { api } = globalThis.thebeCore;
  const elements = [...document.querySelectorAll("div.cell")].filter(sourceOf);
  const edits = editsOf(page.name);
  const blocks = elements.map((element, index) => {
    const original = sourceOf(element).textContent.replace(/\n$/, "");
    return { id: `qkv-cell-${index}`, original, source: edits[original] ?? original };
  });
  const notebook = api.setupNotebookFromBlocks(blocks, api.makeConfiguration({}), rendermime);
  const template = page.bar.querySelector(".qkv-cell-template").content;
  const shared = { page: page.name, run, notebook, template };
  const titleOf = (index) => `cell ${index + 1} of ${elements.length}`;
  return elements.map((element, index) => {
    return new Cell({ ...shared, element, index, title: titleOf(index), ...blocks[index] });
  });
}

class Cell {
  kept = true; // false while the browser refuses to keep the reader's text

  constructor({ page, run, notebook, template, element, index, title, id, original, source }) {
    Object.assign(this, { page, notebook, element, id, original, title, run: () => run(this) });
    this.thebe = notebook.getCellById(id);
    element.dataset.qkvCell = index;
    this.#addTools(template.cloneNode(true));
    this.state = "idle";
    if (source !== original) this.open();
    this.#openWhenNear();
  }

  // The stored output stays in sight until the cell is run. Where only the code is folded, its
  // button stays in sight too, above the output.
  #addTools(parts) {
    const [tools, output] = parts.children;
    const foldOf = (tag) => (this.element.matches(`.tag_${tag}`) ? this.element.querySelector("details") : null);
    const [run, reset] = tools.children;
    Object.assign(this, { output, runButton: run, stored: this.element.querySelector(".cell_output") });
    run.onclick = this.run;
    reset.onclick = () => {
      this.reset();
      run.focus(); // the button is gone
    };
    for (const part of [run, reset, output]) part.setAttribute("aria-label", `${part.textContent || "Output of"} ${this.title}`);
    const folded = foldOf("hide-input");
    if (folded) folded.after(tools);
    else this.element.querySelector(".cell_input").append(tools);
    if (this.stored) this.stored.after(output);
    else (foldOf("hide-cell") ?? this.element).append(output);
  }

  // An editor takes 10 ms to make, and a chapter has fifty cells. One that was made out of sight, to
  // be run, has measured nothing and shows nothing before it is refreshed.
  #openWhenNear() {
    new IntersectionObserver((entries, watch) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      watch.disconnect();
      this.open().refresh();
    }, { rootMargin: "600px" }).observe(this.element);
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
    this.editor.on("change", () => this.#keep());
    this.element.querySelector("details")?.addEventListener("toggle", () => this.editor.refresh());
    this.element.classList.toggle("qkv-edited", this.edited);
    return this.editor;
  }

  #keep() {
    this.kept = keepEdit(this.page, this.original, this.edited ? this.editor.getValue() : undefined);
    this.element.classList.toggle("qkv-edited", this.edited);
    if (!this.waiting) this.state = "idle"; // what is shown is no longer what was run
  }

  get edited() {
    return Boolean(this.editor) && this.editor.getValue() !== this.original;
  }

  get state() {
    return this.element.dataset.qkvState;
  }

  set state(state) {
    this.element.dataset.qkvState = state;
  }

  get waiting() {
    return this.state === "queued" || this.state === "running";
  }

  // Back to the text and the output of the book.
  reset() {
    this.editor?.setValue(this.original);
    if (this.waiting) return;
    this.element.classList.remove("qkv-ran", "qkv-flood");
    this.state = "idle";
  }

  // The variables that the run made are gone, and widgets with them: the stored ones come back.
  forget() {
    if (!this.waiting) this.state = "idle";
    if (this.output.querySelector(".jupyter-widgets")) this.element.classList.remove("qkv-ran");
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
    setTimeout(() => this.#settle(), SETTLED);
    return { state: this.state, ename, evalue, ms };
  }

  // What a cell prints is cut off where it is too much.
  #admits({ header, content }) {
    if (header.msg_type === "execute_input") this.state = "running";
    if (header.msg_type !== "stream") return true;
    content.text = content.text.slice(0, MOST - this.printed);
    this.printed += content.text.length;
    this.element.classList.toggle("qkv-flood", this.printed === MOST);
    return content.text !== "";
  }

  // The new output keeps the room of the old one until it is there, so that the page does not jump.
  #showLive() {
    this.printed = 0;
    const old = this.element.classList.contains("qkv-ran") ? this.output : this.stored;
    this.output.style.minHeight = `${old?.offsetHeight ?? 0}px`;
    this.element.classList.remove("qkv-flood");
    this.element.classList.add("qkv-ran");
  }

  #settle() {
    if (this.waiting) return;
    this.output.style.minHeight = "";
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
