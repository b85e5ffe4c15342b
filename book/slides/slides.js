// Starts reveal.js, and enlarges what an explorer draws as far as its slide has room.
(() => {
  const [SMALLEST, LARGEST, TRIES] = [0.4, 3, 7];
  const frames = () => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); });

  // The drawing is laid out anew at each size: narrower where it is enlarged more.
  async function fits(explorer, size) {
    explorer.style.setProperty("--fit", size);
    await frames();
    const [place, drawn] = [explorer.parentElement, explorer].map((element) => element.getBoundingClientRect());
    return drawn.height <= place.height + 0.5
      && [explorer, ...explorer.querySelectorAll(".qkv-body, figcaption")].every((box) => box.scrollWidth <= box.clientWidth + 1);
  }

  async function largest(explorer, beside) {
    explorer.closest(".qkv-explore").classList.toggle("qkv-beside", beside);
    let [low, high] = [SMALLEST, LARGEST];
    for (let k = 0; k < TRIES; k++) {
      const size = (low + high) / 2;
      if (await fits(explorer, size)) low = size;
      else high = size;
    }
    return low;
  }

  async function fit(explorer) {
    const [above, beside] = [await largest(explorer, false), await largest(explorer, true)];
    explorer.closest(".qkv-explore").classList.toggle("qkv-beside", beside > above);
    await fits(explorer, Math.max(above, beside));
    explorer.dataset.fit = Math.max(above, beside).toFixed(2);
  }

  function fitIn(place) {
    for (const explorer of place.querySelectorAll(".qkv-explorer:not([data-fit])")) fit(explorer);
  }

  for (const explorer of document.querySelectorAll(".qkv-explorer")) explorer.parentElement.classList.add("qkv-fit");
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
