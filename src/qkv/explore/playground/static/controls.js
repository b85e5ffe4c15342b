// A stand-in.
const VIEWS = ["attention", "search", "heads"];
const PART = "decoder.layers.0.cross_attention";
export function controlsOf(settings, outcome, translator, labels) {
  const off = settings.switchedOff[PART] ?? [];
  return [
    { name: "view", kind: "choice", label: "view", texts: VIEWS, value: VIEWS.indexOf(settings.view), recomputes: false },
    { name: "word", kind: "slider", label: "word", texts: outcome.steps.map(({ text }) => text),
      value: Math.min(settings.word, outcome.steps.length - 1), recomputes: false },
    { name: "switchedOff", kind: "switches", label: "heads", texts: ["head 1", "head 2"],
      value: [0, 1].map((head) => !off.includes(head)), recomputes: true },
    { name: "seed", kind: "button", label: "draw again", texts: [], value: 0, recomputes: true },
  ];
}
export function withControl(settings, name, value) {
  if (name === "view") return { ...settings, view: VIEWS[value] };
  if (name === "switchedOff") return { ...settings, switchedOff: { [PART]: [0, 1].filter((head) => !value[head]) } };
  if (name === "seed") return { ...settings, seed: settings.seed + 1 };
  return { ...settings, [name]: value };
}
