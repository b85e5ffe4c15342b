// The one function through which words for readers go in a script of the page: the message in the reader's
// language, each {name} in it replaced by the value of that name. A page in another language than English sets
// `messages` before this runs.
globalThis.gettext = (message, values = {}) =>
  (globalThis.messages?.[message] ?? message).replace(/\{(\w+)\}/g, (_, name) => values[name]);

// What scrolls sideways takes the keyboard's focus, so that the arrow keys move it in every browser;
// what fits its place takes none. The theme does so for code, but not for code in a fold that opens.
(() => {
  const boxes = [
    ...document.querySelectorAll(".bd-article :is(pre, .qkv-formula, .pst-scrollable-table-container)"),
  ];

  // All are measured before any is changed: each change between two would lay the page out anew.
  function judge(some) {
    const scrolls = some.map((box) => box.scrollWidth > box.clientWidth);
    some.forEach((box, i) => {
      if (scrolls[i]) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    });
  }

  const sizes = new ResizeObserver((entries) => judge(entries.map(({ target }) => target)));
  for (const box of boxes) sizes.observe(box);
  // A formula is wider in its own letters, which are asked for as it is first drawn.
  document.fonts.addEventListener("loadingdone", () => judge(boxes));
})();

// Paper is white: the dark theme steps aside while a page is printed. Browsers differ in which of
// the two they say, and when.
(() => {
  const { dataset } = document.documentElement;
  const paper = matchMedia("print");
  let theme = null;

  function print(begins) {
    if (begins === (theme !== null)) return;
    if (begins) [theme, dataset.theme] = [dataset.theme, "light"];
    else [dataset.theme, theme] = [theme, null];
  }

  paper.addEventListener("change", () => print(paper.matches));
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
})();
