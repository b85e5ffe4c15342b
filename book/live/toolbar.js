// The "Live code" bar: all that a page loads of live code until its button is pressed. A plain script,
// no module: a page opened from a file may load none, and has to say so.
(() => {
  const bar = document.querySelector(".qkv-live-bar");
  const actionsUrl = new URL("button_actions.js", document.currentScript.src);

  // `message` names a template of toolbar.html; each of `values` goes into a <b> of it. What is shown in which
  // state says live.css.
  function say(state, message, ...values) {
    const focused = bar.querySelector(":focus");
    const text = bar.querySelector(`[data-say="${message}"]`).content.cloneNode(true);
    text.querySelectorAll("b").forEach((place, n) => place.append(values[n] ?? ""));
    bar.querySelector(".qkv-live-message").replaceChildren(text);
    Object.assign(bar.dataset, { state, message });
    if (focused && !focused.checkVisibility()) bar.focus({ preventScroll: true });
  }

  // Says how many cells are not as in the book.
  function countEdited() {
    const count = document.querySelectorAll(".cell.qkv-edited").length;
    const note = bar.querySelector(".qkv-live-edited");
    if (note.querySelector("b").textContent !== String(count)) note.querySelector("b").textContent = count;
    note.hidden = !count;
  }

  // A button has the name of what it does, an export of button_actions.js. One that loses something asks first.
  bar.onclick = async ({ target: { name, dataset } }) => {
    if (!name || bar.dataset.state === "starting") return;
    if (location.protocol === "file:") return say("failed", "file");
    if (dataset.question && !confirm(dataset.question)) return;
    if (name === "goLive") say("starting", "loading");
    try {
      const actions = await import(actionsUrl);
      await actions[name]({ bar, say, countEdited, name: DOCUMENTATION_OPTIONS.pagename });
    } catch (error) {
      console.error(error);
      const { state } = bar.dataset;
      say(state === "starting" ? "failed" : state, "failed", error.message ?? error); // thebe throws texts
    }
  };
  bar.hidden = false;
})();
