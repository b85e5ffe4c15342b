// Questions of letters on a page without Python: the form under each, judged as a whole when Check is
// pressed. The words are Python's, stored when the notebook ran; where live code is on, its kernel is asked.
// What has been chosen is known by its key: see qkv/exercises/choices.py.
(() => {
  const MARKS = { right: "✓", wrong: "✗", open: "○" };
  const PATIENCE = 3000; // ms for a kernel, which may be busy for minutes, where a stored verdict is at hand

  function start(form) {
    const { exercise: name, verdicts } = form.dataset;
    const table = verdicts && JSON.parse(verdicts);
    const status = form.querySelector("[role=status]");
    let latest; // the choice that was judged last; undefined once it is another

    form.hidden = false;
    form.addEventListener("click", ({ target }) => {
      const { ariaPressed } = target;
      if (ariaPressed) target.ariaPressed = String(ariaPressed !== "true");
    });
    // A verdict would mislead beside another choice than the one that it is on.
    for (const change of ["click", "input"]) {
      form.addEventListener(change, ({ target }) => {
        if (!target.matches("[aria-pressed], input")) return;
        latest = undefined;
        status.replaceChildren();
      });
    }
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const keys = [...form.querySelectorAll(".qkv-part")].map(keyOf);
      latest = keys;
      const verdict = (await fromKernel(name, keys, table)) ?? (table && fromTable(table, keys));
      if (latest !== keys) return;
      const nobody = gettext("No Python is there to judge this. Press Live code, at the top of the page.");
      status.replaceChildren(shown(name, verdict ?? ["open", nobody, ""]));
      if (!verdict) return;
      const detail = { name, state: verdict[0] };
      document.dispatchEvent(new CustomEvent("exercise-checked", { detail }));
    });
  }

  function keyOf(part) {
    const number = part.querySelector("[type=number]");
    if (number) return number.valueAsNumber.toFixed(number.step.split(".")[1].length);
    const pressed = [...part.querySelectorAll("[aria-pressed=true]")].map((button) => button.textContent);
    const chosen = [...part.querySelectorAll(":checked")].map((radio) => radio.value);
    return chosen.length ? chosen.join(",") : pressed.join("");
  }

  // A verdict is [state, text, hint]. Of several parts, the first that is not right has the word.
  function fromTable({ verdicts, parts }, keys) {
    const said = keys.map((key, n) => verdicts[parts[n].choices[key] ?? parts[n].others]);
    return said.find(([state]) => state !== "right") ?? said[0];
  }

  // Live code, if it is on, puts the promise of a verdict into the event; null if none comes of it.
  async function fromKernel(name, keys, table) {
    const detail = { name, keys, verdict: null };
    document.dispatchEvent(new CustomEvent("exercise-asked", { detail }));
    const late = new Promise((resolve) => { if (table) setTimeout(resolve, PATIENCE, null); });
    return detail.verdict && Promise.race([detail.verdict.catch(() => null), late]);
  }

  function shown(name, [state, text, hint]) {
    const verdict = Object.assign(document.createElement("div"), { className: `qkv-verdict qkv-${state}` });
    const [exercise, label] = ["strong", "em"].map((tag) => document.createElement(tag));
    exercise.textContent = name;
    label.textContent = gettext("Hint:");
    verdict.append(`${MARKS[state]} `, exercise, `: ${text}`);
    if (hint) verdict.append(document.createElement("br"), label, ` ${hint}`);
    return verdict;
  }

  document.querySelectorAll(".qkv-choices").forEach(start);
})();
