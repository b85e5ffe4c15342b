// What live_cells.py times, by the page's own clock: the way from Python to the browser is not in it.
({
  // Resolves to the time at which `test` first holds, looked at whenever something in `node` changes.
  when(node, test) {
    return new Promise((resolve) => {
      const look = () => test() && (watch.disconnect(), resolve(performance.now()));
      const watch = new MutationObserver(look);
      watch.observe(node, { attributes: true, childList: true, characterData: true, subtree: true });
      look();
    });
  },

  // From the press to the bar's word that Python is ready, and to the end of the first cell.
  async firstResult(code) {
    const bar = document.querySelector(".qkv-live-bar");
    const start = performance.now();
    bar.querySelector(".qkv-live-start").click();
    const ready = await this.when(bar, () => ["ready", "failed"].includes(bar.dataset.state));
    if (bar.dataset.state === "failed") throw new Error(bar.textContent);
    await this.run(code);
    return { ready: ready - start, done: performance.now() - start };
  },

  // Run the first cell to its end, with other code in it if some is given.
  async run(code) {
    const cell = document.querySelector('[data-qkv-cell="0"]');
    if (code) {
      await this.when(cell, () => cell.querySelector(".CodeMirror"));
      cell.querySelector(".CodeMirror").CodeMirror.setValue(code);
    }
    cell.querySelector(".qkv-run").click();
    const { dataset } = cell;
    await this.when(cell, () => ["done", "error", "lost", "aborted"].includes(dataset.qkvState));
    if (dataset.qkvState !== "done") throw new Error(cell.textContent);
  },

  // From the next event of this kind, real or not, to a change below `selector` that adds `text`.
  async answer(kind, selector, text) {
    const node = document.querySelector(selector);
    const cell = node.closest("[data-qkv-cell]");
    const started = new Promise((resolve) => {
      addEventListener(kind, (event) => resolve(event.timeStamp), { capture: true, once: true });
    });
    const added = new Promise((resolve) => {
      const watch = new MutationObserver((changes) => {
        if (!changes.some((c) => [...c.addedNodes].some((n) => n.textContent.includes(text)))) return;
        watch.disconnect();
        resolve(performance.now());
      });
      watch.observe(node, { childList: true, characterData: true, subtree: true });
    });
    globalThis.qkvAnswer = Promise.all([started, added]).then(async ([start, end]) => {
      await this.when(cell, () => cell.dataset.qkvState === "done");
      return { ms: end - start, cell: Number(cell.dataset.qkvMs) };
    });
  },

  // From a number typed into a box of the explorer to the picture that the kernel computed for it.
  async offGrid(value) {
    const boxes = [...document.querySelectorAll(".qkv-live-output .qkv-kernel-inputs input")];
    const box = boxes.find((one) => Number.isInteger(one.valueAsNumber));
    const root = box.closest(".qkv-explorer");
    const { axis } = box.dataset;
    const note = root.querySelector(".qkv-note");
    box.value = value;
    const start = performance.now();
    box.dispatchEvent(new Event("change"));
    const shown = () => JSON.parse(root.dataset.values)[axis] === value;
    const end = await this.when(root, () => shown() || /Error/.test(note.textContent));
    if (!shown()) throw new Error(note.textContent);
    return end - start;
  },
})
