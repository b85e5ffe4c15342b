// Reading marks: the pointer and the arrow keys choose one, `show(mark)` answers, null lets go.
export function readable(drawing, keys, under, show) {
  let at = null;
  const go = (next) => show((at = next));
  drawing.addEventListener("pointermove", (event) => {
    const found = under(event);
    if (String(found) !== String(at)) go(found);
  });
  drawing.addEventListener("pointerleave", () => go(null));
  drawing.addEventListener("blur", () => go(null));
  drawing.addEventListener("keydown", (event) => {
    const step = event.key === "Escape" ? () => null : keys[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation(); // a notebook would move to the next cell
    go(step(at));
  });
  // After a slider moved, the mark that is being read has a new number.
  return () => at !== null && go(at);
}

// Arrow keys along one row of n marks.
export function alongRow(n) {
  const by = (step) => (at) => (at === null ? 0 : Math.min(n - 1, Math.max(0, at + step)));
  return { ArrowRight: by(1), ArrowLeft: by(-1), Home: () => 0, End: () => n - 1 };
}

export function positionIn(drawing, event) {
  const box = drawing.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}
