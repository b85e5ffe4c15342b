// Selects one mark of a picture by pointer or arrow keys: `show(mark)` is called, with null for none.
// Where marks are links, the one that has the focus is selected too.
export function makeSelectable(picture, keys, markUnder, show, linked = false) {
  let selected = null;
  const select = (mark) => show((selected = mark));
  picture.addEventListener("pointermove", (event) => {
    const mark = markUnder(event);
    if (String(mark) !== String(selected)) select(mark);
  });
  picture.addEventListener("pointerleave", () => select(null));
  picture.addEventListener("blur", () => select(null));
  if (linked) {
    picture.addEventListener("focusin", (event) => select(markUnder(event)));
    picture.addEventListener("focusout", () => select(null));
  }
  picture.addEventListener("keydown", (event) => {
    const step = event.key === "Escape" ? () => null : keys[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation(); // a notebook would move to the next cell
    select(step(selected));
  });
  // To be called after a slider moved: the selected mark has a new value.
  return () => selected !== null && select(selected);
}

// Arrow keys along one row of n marks.
export function rowKeys(n) {
  const by = (step) => (i) => (i === null ? 0 : Math.min(n - 1, Math.max(0, i + step)));
  return { ArrowRight: by(1), ArrowLeft: by(-1), Home: () => 0, End: () => n - 1 };
}

export function pointerPosition(picture, event) {
  const box = picture.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}
