// All of the live code that a page loads until its button is pressed. A plain script, no module: a
// page opened from a file may load none, and has to say so.
(() => {
  const script = document.currentScript;
  const bar = document.querySelector(".qkv-live-bar");
  const pick = (name) => bar.querySelector(`.qkv-live-${name}`);
  const start = pick("start");
  const name = DOCUMENTATION_OPTIONS.pagename;
  const root = new URL(document.documentElement.dataset.content_root, location.href);

  // `words` names a template of bar.html; `value` goes into its <b>. What is shown in which state
  // says live.css.
  function say(state, words, value = "") {
    const focused = bar.querySelector(":focus");
    const text = bar.querySelector(`[data-say="${words}"]`).content.cloneNode(true);
    text.querySelector("b")?.append(value);
    pick("message").replaceChildren(text);
    Object.assign(bar.dataset, { state, words });
    if (focused && !focused.checkVisibility()) (start.checkVisibility() ? start : bar).focus({ preventScroll: true });
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
      await goLive({ bar, pick, say, name, root });
    } catch (error) {
      console.error(error);
      say("failed", "failed", error.message);
    }
  };

  say("off", "off");
  bar.hidden = false;
})();
