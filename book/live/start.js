// The bar under a chapter's title. It is all of the live code that a page loads until its button is
// pressed. A plain script, no module: a page opened from a file may load none, and has to say so.
(() => {
  const script = document.currentScript;
  const heading = document.querySelector(".bd-article h1");
  if (!heading || !document.querySelector("div.cell .cell_input pre")) return;

  function html(tag, properties = {}, ...children) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  }

  function button(name, text, act) {
    return html("button", { type: "button", className: `qkv-${name}`, textContent: text, onclick: act });
  }

  const start = button("live-start", "Live code", goLive);
  const buttons = html("span", { className: "qkv-live-buttons" });
  const message = html("span", { className: "qkv-live-message" });
  message.setAttribute("role", "status");
  const bar = html("div", { className: "qkv-live-bar", tabIndex: -1 }, start, buttons, message);
  bar.setAttribute("role", "region");
  bar.setAttribute("aria-label", "Live code");

  // `state` is off, starting, ready, busy, lost or failed; `words` are text, with `code` between
  // backticks, and links.
  function say(state, ...words) {
    bar.dataset.state = state;
    start.disabled = state === "starting";
    start.hidden = ["ready", "busy", "lost"].includes(state);
    buttons.hidden = !start.hidden;
    message.replaceChildren(...words.flatMap(coded));
  }

  function coded(words) {
    if (typeof words !== "string") return words;
    return words.split("`").map((part, i) => (i % 2 ? html("code", { textContent: part }) : part));
  }

  const page = {
    bar, buttons, html, button, say,
    name: DOCUMENTATION_OPTIONS.pagename,
    root: new URL(document.documentElement.dataset.content_root, location.href),
    storage: `qkv-live:${DOCUMENTATION_OPTIONS.pagename}`,
    ...script.dataset, // repository and binder, where the book knows them
  };

  async function goLive() {
    if (location.protocol === "file:") {
      say("failed", "A page opened from a file cannot run anything. In the book's folder, give `make serve` and open the link that it prints.");
      return;
    }
    say("starting", "Loading the editor …");
    try {
      const live = await import(new URL("live.js", script.src));
      await live.goLive(page);
    } catch (error) {
      console.error(error);
      say("failed", `${error.message} Press the button to try again.`);
    }
  }

  function hasEdits() {
    try {
      return localStorage.getItem(page.storage) !== null;
    } catch {
      return false; // a browser may forbid storage
    }
  }

  heading.after(bar);
  say("off", hasEdits() ? "Run the cells of this page, with the changes that you made." : "Edit and run the cells of this page.");
})();
