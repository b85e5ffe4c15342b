// All of the live code that a page loads until its button is pressed. A plain script, no module: a
// page opened from a file may load none, and has to say so.
(() => {
  const script = document.currentScript;
  const bar = document.querySelector(".qkv-live-bar");
  const pick = (name) => bar.querySelector(`.qkv-live-${name}`);
  const [start, buttons, message] = ["start", "buttons", "message"].map(pick);
  const name = DOCUMENTATION_OPTIONS.pagename;
  const root = new URL(document.documentElement.dataset.content_root, location.href);
  const storage = `qkv-live:${name}`;

  // `words` names a template of bar.html; `value` goes into its <b>.
  function say(state, words, value = "") {
    const focused = bar.querySelector(":focus");
    const text = bar.querySelector(`[data-say="${words}"]`).content.cloneNode(true);
    text.querySelector("b")?.append(value);
    message.replaceChildren(text);
    Object.assign(bar.dataset, { state, words });
    start.hidden = ["ready", "busy", "lost"].includes(state);
    buttons.hidden = !start.hidden;
    if (focused && !focused.checkVisibility()) (start.hidden ? bar : start).focus({ preventScroll: true });
  }

  start.onclick = async () => {
    if (bar.dataset.state === "starting") return;
    if (location.protocol === "file:") {
      say("failed", "file");
      return;
    }
    say("starting", "loading");
    try {
      const { goLive } = await import(new URL("live.js", script.src));
      await goLive({ bar, pick, say, name, root, storage });
    } catch (error) {
      console.error(error);
      say("failed", "failed", error.message);
    }
  };

  function hasEdits() {
    try {
      return localStorage.getItem(storage) !== null;
    } catch {
      return false; // a browser may forbid storage
    }
  }

  say("off", hasEdits() ? "edited" : "off");
  bar.hidden = false;
})();
