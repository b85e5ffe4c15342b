// Tells the page what check() says of the answers to exercises, as it comes from Python.
const VERDICT = /^([✓✗○]) (\w+-\d+): /gmu;
const STATES = { "✓": "right", "✗": "wrong", "○": "open" };

// `content` is that of a message: a printed text, or a result in several forms.
export function tellVerdicts({ text, data = {} }) {
  for (const [, mark, name] of (text ?? data["text/plain"] ?? "").matchAll(VERDICT)) {
    const detail = { name, state: STATES[mark] };
    document.dispatchEvent(new CustomEvent("exercise-checked", { detail }));
  }
}
