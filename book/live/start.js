// All of the live code that a page loads until its button is pressed. A plain script, no module: a
// page opened from a file may load none, and has to say so.
(() => {
  const bar = document.querySelector(".qkv-live-bar");
  const rest = new URL("live.js", document.currentScript.src);

  // `words` names a template of bar.html; `value` goes into its <b>. What is shown in which state
  // says live.css.
  function say(state, words, value = "") {
    const focused = bar.querySelector(":focus");
    const text = bar.querySelector(`[data-say="${words}"]`).content.cloneNode(true);
    text.querySelector("b")?.append(value);
    bar.querySelector(".qkv-live-message").replaceChildren(text);
    Object.assign(bar.dataset, { state, words });
    if (focused && !focused.checkVisibility()) bar.focus({ preventScroll: true });
  }

  // Says how many cells are not as in the book.
  function countEdited() {
    const count = document.querySelectorAll(".cell.qkv-edited").length;
    const note = bar.querySelector(".qkv-live-edited");
    if (note.querySelector("b").textContent !== String(count)) note.querySelector("b").textContent = count;
    note.hidden = !count;
  }

  // A button has the name of what it does, an export of live.js. One that loses something asks first.
  bar.onclick = async ({ target: { name, dataset } }) => {
    if (!name || bar.dataset.state === "starting") return;
    if (location.protocol === "file:") return say("failed", "file");
    if (dataset.question && !confirm(dataset.question)) return;
    if (name === "goLive") say("starting", "loading");
    try {
      const live = await import(rest);
      await live[name]({ bar, say, countEdited, name: DOCUMENTATION_OPTIONS.pagename });
    } catch (error) {
      console.error(error);
      const { state } = bar.dataset;
      say(state === "starting" ? "failed" : state, "failed", error.message ?? error); // thebe throws texts
    }
  };
  bar.hidden = false;
})();
