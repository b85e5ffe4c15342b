// What scrolls sideways takes the keyboard's focus, so that the arrow keys move it in every browser;
// what fits its place takes none. The theme does so for code, but not for code in a fold that opens.
(() => {
  const boxes = document.querySelectorAll(".bd-article :is(pre, .qkv-formula, .pst-scrollable-table-container)");

  function judge(box) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }

  const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => judge(target)));
  for (const box of boxes) sizes.observe(box);
  document.fonts.ready.then(() => boxes.forEach(judge)); // a formula is wider in its own letters
})();
