// The dialog "Your progress": every mark, to be set by hand too; out as a file, in from one, or forgotten.
// A script of its own, which a page loads when its button is pressed.
const { CHAPTERS, MAX_BYTES, VERSION, decode, encode, shortly, standing } = globalThis.qkvProgress;

const FILE = "runnable-transformer-progress.json";

function html(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

function refusal(reason, { name: file, size }, version) {
  const found = String(JSON.stringify(version)).slice(0, 20);
  return {
    size: () => gettext("“{file}” has {size} bytes, and no file that Export wrote has more than {most}: nothing was changed.", { file, size, most: MAX_BYTES }),
    json: () => gettext("“{file}” holds no JSON, where a file that Export wrote is expected: nothing was changed.", { file }),
    book: () => gettext("“{file}” holds JSON of something else, where a file that Export wrote is expected: nothing was changed.", { file }),
    version: () => gettext("“{file}” has version {found} of the format, and this copy of the book reads version {expected}: nothing was changed.", { file, found, expected: VERSION }),
    marks: () => gettext("“{file}” is damaged, as its marks are no list of names such as “masks” and “masks-3”: nothing was changed.", { file }),
  }[reason]();
}

class Dialog {
  #signs = new Map(); // of each chapter, the place in its line

  constructor(progress) {
    this.progress = progress;
    this.said = html("p", { role: "status", className: "qkv-said" });
    this.failure = html("p", { role: "status", className: "qkv-failure" });
    this.where = html("p");
    this.file = html("input", { type: "file", accept: ".json,application/json", hidden: true, onchange: () => this.#import() });
    const button = (text, onclick) => html("button", { type: "button", textContent: text, onclick });
    this.element = html("dialog", { className: "qkv-progress", onchange: ({ target }) => this.#tick(target) },
      html("h2", { id: "qkv-progress-title", textContent: gettext("Your progress") }),
      html("p", { textContent: gettext("A chapter is marked as read once the heading of its exercises has been in the window for two seconds. An exercise is marked once its check has accepted your answer. You can set or take back any mark yourself. Exercises of Going further are kept, and not counted.") }),
      this.where, this.failure,
      html("p", { className: "qkv-buttons" },
        button(gettext("Export"), () => this.#export()), button(gettext("Import"), () => this.file.click()),
        button(gettext("Forget all"), () => this.#forget()), button(gettext("Close"), () => this.element.close()), this.file),
      this.said, html("ul", {}, ...CHAPTERS.map((chapter) => this.#line(chapter))));
    this.element.setAttribute("aria-labelledby", "qkv-progress-title");
    document.body.append(this.element);
    progress.atServer.then((atServer) => {
      this.where.textContent = atServer
        ? gettext("The marks are kept on the machine that serves this book, in a file of yours, and sent nowhere else.")
        : gettext("The marks are kept in this browser, for the address of this page, and sent nowhere. To have them in another browser or at another address, export them here and import them there.");
    });
  }

  async open(current) {
    this.said.textContent = "";
    for (const fold of this.element.querySelectorAll("details")) fold.open = fold.dataset.page === current?.page;
    if (!this.element.open) this.element.showModal();
    await this.progress.load(); // another browser may have marks at the same server
  }

  show() {
    const { failure } = this.progress;
    this.failure.textContent = failure && gettext("The marks could not be kept, and last until you leave this page; Export saves them. The reason: {reason}", { reason: failure });
    for (const box of this.element.querySelectorAll("input[name]")) box.checked = this.progress.has(box.name);
    for (const [chapter, place] of this.#signs) {
      const text = shortly(standing(chapter, this.progress));
      place.textContent = text?.signs ?? "";
      place.role = text && "img";
      place.ariaLabel = text?.words ?? null;
    }
  }

  #line(chapter) {
    const { page, title, concept, core, further } = chapter;
    const sign = html("span", { className: "qkv-progress-mark" });
    this.#signs.set(chapter, sign);
    const address = `${document.documentElement.dataset.content_root}chapters/${page}.html`;
    const fold = html("details", {}, html("summary", {}, title, " ", sign),
      html("p", {}, html("a", { href: address, textContent: gettext("Open this chapter") })),
      this.#boxes([[concept, gettext("Read")], ...core.map((name) => [name, name])]),
      ...(further.length ? [html("p", { textContent: gettext("Going further:") }), this.#boxes(further.map((name) => [name, name]))] : []));
    fold.dataset.page = page;
    return html("li", {}, fold);
  }

  #boxes(named) {
    return html("p", { className: "qkv-boxes" },
      ...named.map(([name, text]) => html("label", {}, html("input", { type: "checkbox", name }), ` ${text}`)));
  }

  #tick({ type, name, checked }) {
    if (type === "checkbox") this.progress.set([[name, checked]]);
  }

  #export() {
    const address = URL.createObjectURL(new Blob([encode(this.progress.marks)], { type: "application/json" }));
    html("a", { href: address, download: FILE }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
    this.said.textContent = gettext("The file {file} goes where your browser puts downloads.", { file: FILE });
  }

  // What is there stays there: the two are united.
  async #import() {
    const [file] = this.file.files;
    if (!file) return;
    this.said.textContent = await this.#unite(file);
    this.file.value = ""; // the same file can be chosen again
  }

  async #unite(file) {
    if (file.size > MAX_BYTES) return refusal("size", file);
    const { refused, version, marks } = decode(await file.text());
    if (refused) return refusal(refused, file, version);
    const fresh = [...marks].filter((name) => !this.progress.has(name));
    await this.progress.set(fresh.map((name) => [name, true]));
    return gettext("“{file}” holds {count} marks; new here: {fresh}.", { file: file.name, count: marks.size, fresh: fresh.length });
  }

  async #forget() {
    const count = this.progress.marks.size;
    if (!confirm(gettext("Forget all {count} marks? They are gone for good, unless you have exported them.", { count }))) return;
    await this.progress.forget();
    if (!this.progress.failure) this.said.textContent = gettext("All marks are forgotten.");
  }
}

export default Dialog;
