// Long computations in steps, so that a page may do something else in between.

/** What a computation in steps returns, computed at once. */
export function atOnce(steps) {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
