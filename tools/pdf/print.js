// Makes a page what is printed of it: its explorers drawn and still, with their values beside them, and what
// is wider than the paper as wide as the paper. Says what failed.
async ([on, off]) => {
  const faults = [];
  const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));

  // Calls `test` until it gives something, at each change of the page.
  const until = (root, test) => new Promise((done) => {
    const watch = new MutationObserver(look);
    function look() {
      const found = test();
      if (!found) return;
      watch.disconnect();
      done(found);
    }
    watch.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
    look();
  });

  // The box that translates in the page gets its first sentence translated, which is what it is there to show.
  async function translate(box) {
    box.querySelector("form").requestSubmit();
    const said = await until(box, () => box.querySelector(".qkv-announcement").textContent ||
      (box.querySelector(".qkv-stale, [role=alert]") && "failed"));
    if (said === "failed") faults.push(box.textContent);
  }

  const isDrawn = (explorer) => explorer.querySelector(".qkv-panels")?.children.length > 0;

  function named(control) {
    if (control.matches(".qkv-slider")) {
      const select = control.querySelector("select");
      const value = select ? select.selectedOptions[0].textContent : control.querySelector("output").textContent;
      return [control.querySelector("label").textContent, value];
    }
    if (control.matches(".qkv-switch")) {
      return [control.textContent, control.querySelector("input").checked ? on : off];
    }
    const chosen = [...control.querySelectorAll("input:checked")].map((input) => input.parentElement.textContent);
    return [control.querySelector("legend").textContent, chosen.join(", ")];
  }

  function still(box) {
    const controls = [...box.querySelectorAll(".qkv-slider, .qkv-choice, .qkv-switch")]
      .filter((one) => !one.parentElement.closest(".qkv-choice"));
    const sentence = box.querySelector(".qkv-field input");
    const values = controls.map(named);
    if (sentence) values.unshift([sentence.labels[0].textContent, sentence.value]);
    const list = document.createElement("dl");
    list.className = "pdf-values";
    for (const [name, value] of values.filter(([, text]) => text)) {
      const [pair, term, description] = ["div", "dt", "dd"].map((tag) => document.createElement(tag));
      term.textContent = name.trim();
      description.textContent = value.trim();
      pair.append(term, description);
      list.append(pair);
    }
    const copy = box.cloneNode(true);
    copy.querySelectorAll("form, button, details, .qkv-kernel-inputs, .qkv-announcement, .qkv-controls, .qkv-said")
      .forEach((part) => part.remove());
    if (list.children.length) copy.querySelector(".qkv-explorer, .qkv-playground").before(list);
    for (const link of copy.querySelectorAll("svg a[href]")) {
      const [, name] = link.getAttribute("href").match(/(\w+)\.html/) ?? [];
      if (name && document.getElementById(name)) link.setAttribute("href", `#${name}`);
      else link.removeAttribute("href");
    }
    // Its picture has the words for it; a panel of words or a table is no figure that needs some.
    for (const panel of copy.querySelectorAll("figure")) panel.setAttribute("role", "group");
    for (const part of copy.querySelectorAll("[tabindex]")) part.removeAttribute("tabindex");
    box.replaceWith(copy);
  }

  const views = document.querySelectorAll('script[type$="widget-view+json"]');
  await Promise.all([...views].map((view) => until(document.body, () => view.previousElementSibling)));
  const boxes = [...document.querySelectorAll(".qkv-explore")];
  for (const box of boxes.filter((one) => one.querySelector(".qkv-playground"))) await translate(box);
  await Promise.all(boxes.map((box) => until(box, () => isDrawn(box))));
  await document.fonts.ready;
  await frame();
  boxes.forEach(still);
  for (const fault of document.querySelectorAll(".qkv-explore .qkv-note:not(:empty)")) faults.push(fault.textContent);

  const [PAPER, HIGH] = [document.documentElement.clientWidth, 940]; // of A4, within its margins

  // All are measured before any is changed. A second time, since a narrower one wraps anew.
  for (let times = 0; times < 2; times++) {
    const large = [...document.querySelectorAll("table, .qkv-formula > .katex-display, .qkv-picture, img")]
      .map((one) => {
        const { width, height, left } = one.getBoundingClientRect();
        const room = Math.min(one.parentElement.clientWidth || PAPER, PAPER - left);
        const high = one.matches("table") ? 1 : HIGH / height; // a table goes on on the next page
        return [one, Math.min(room / Math.max(one.scrollWidth, width), high)];
      }).filter(([, share]) => share > 0 && share < 0.999);
    for (const [one, share] of large) one.style.zoom = (one.style.zoom || getComputedStyle(one).zoom) * share * 0.995;
  }
  await Promise.all([...document.images].map((image) => image.decode()
    .catch(() => faults.push(`no picture ${image.getAttribute("src")}`))));
  await document.fonts.ready;

  // What KaTeX and an explorer have inside is theirs to cut.
  for (const one of document.querySelectorAll("body *:not(.katex *, svg *)")) {
    const { right, width } = one.getBoundingClientRect();
    const cuts = getComputedStyle(one).overflow !== "visible" && one.clientWidth && !one.matches("svg, img") &&
      (one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1);
    if (width && (right > PAPER + 1 || cuts)) {
      faults.push(`cut: ${one.tagName} ${one.className.baseVal ?? one.className} "${one.textContent.trim().slice(0, 60)}"`);
    }
  }
  return faults;
}
