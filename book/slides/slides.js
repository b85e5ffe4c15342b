// Starts reveal.js, and enlarges what an explorer draws as far as its slide has room.
(() => {
  const [SMALLEST, LARGEST, TRIES] = [0.4, 3, 7];
  const BESIDE = [380, 520]; // px, of controls
  const WORDS = [28, 24, 20, 16]; // px: what was moved to a table too long for its slide is set smaller
  const frames = () => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); });

  // The drawing is laid out anew at each size: narrower where it is enlarged more.
  async function fits(explorer, size) {
    explorer.style.setProperty("--fit", size);
    await frames();
    const box = explorer.closest(".qkv-explore");
    const [place, drawn, around, control] = [explorer.parentElement, explorer, box, box.querySelector(".qkv-controls").lastElementChild]
      .map((element) => element.getBoundingClientRect());
    return drawn.height <= place.height + 0.5 && control.bottom <= around.bottom + 0.5
      && [explorer, ...explorer.querySelectorAll(".qkv-body, figcaption")].every((box) => box.scrollWidth <= box.clientWidth + 1);
  }

  async function largest(explorer, high = LARGEST) {
    let low = SMALLEST;
    for (let k = 0; k < TRIES; k++) {
      const size = (low + high) / 2;
      if (await fits(explorer, size)) low = size;
      else high = size;
    }
    return low;
  }

  // Controls stand above the drawing or beside it, whichever leaves it the most room.
  async function fit(explorer) {
    const box = explorer.closest(".qkv-explore");
    const found = [];
    for (const width of [0, ...BESIDE]) {
      place(box, width);
      found.push([await largest(explorer), width]);
    }
    const [size, width] = found.reduce((best, other) => (other[0] > best[0] ? other : best));
    place(box, width);
    await settle(explorer, size);
  }

  function place(box, width) {
    box.classList.toggle("qkv-beside", width > 0);
    box.style.setProperty("--beside", `${width}px`);
  }

  // What takes more room than it did at the start is drawn smaller. Nothing grows again under the reader's hand.
  async function refit(explorer) {
    let size = Number(explorer.dataset.fit);
    delete explorer.dataset.fit;
    do {
      moved.delete(explorer);
      for (const words of WORDS) {
        explorer.style.setProperty("--words", `${words}px`);
        if (await fits(explorer, size)) break;
        size = await largest(explorer, size);
        if (await fits(explorer, size)) break;
      }
    } while (moved.has(explorer));
    await settle(explorer, size);
  }

  async function settle(explorer, size) {
    await fits(explorer, size);
    explorer.dataset.fit = size.toFixed(3);
    explorer.parentElement.classList.add("qkv-fitted");
    if (moved.has(explorer)) refit(explorer);
  }

  const moved = new Set(); // since their size was last looked at
  const moves = new MutationObserver((changes) => {
    for (const explorer of new Set(changes.map(({ target }) => target))) {
      moved.add(explorer);
      if (explorer.dataset.fit) refit(explorer);
    }
  });

  function fitIn(place) {
    for (const explorer of place.querySelectorAll(".qkv-explorer:not([data-fit])")) fit(explorer);
  }

  for (const explorer of document.querySelectorAll(".qkv-explorer")) {
    explorer.parentElement.classList.add("qkv-fit");
    moves.observe(explorer, { attributeFilter: ["data-values"] });
  }
  for (const box of document.querySelectorAll(".qkv-explore")) box.addEventListener("keydown", keys);

  // Arrows move a slider, not the slides. What a clicker sends, Page Down, always goes on; Escape
  // gives the keys back to the slides.
  function keys(event) {
    if (!event.target.closest?.(".qkv-explore")) return;
    const act = { PageDown: () => Reveal.next(), PageUp: () => Reveal.prev(), Escape: () => {} }[event.key];
    if (act) {
      event.preventDefault();
      event.target.blur();
      act();
    }
    event.stopPropagation();
  }

  // On paper all slides are there at once, as soon as they are laid out; on a screen one after another.
  Reveal.on("pdf-ready", () => fitIn(document));
  Reveal.on("slidechanged", ({ currentSlide }) => fitIn(currentSlide));
  Reveal.on("ready", ({ currentSlide }) => Reveal.isPrintView() || fitIn(currentSlide));
  Reveal.initialize({
    width: 1280, height: 720, margin: 0, minScale: 0.1, maxScale: 4, center: false, display: "flex",
    hash: true, transition: "none", slideNumber: "c/t", controls: false, navigationMode: "linear",
    pdfSeparateFragments: false, pdfMaxPagesPerSlide: 1, plugins: [RevealNotes],
  });
})();
