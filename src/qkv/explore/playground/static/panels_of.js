// A stand-in.
export function panelsOf(outcome, settings, translator, labels) {
  const step = outcome.steps[Math.min(settings.word, outcome.steps.length - 1)];
  const maps = step.attentionMaps["decoder.layers.0.cross_attention"];
  const values = Float32Array
    .from(outcome.source, (_, i) => (maps[0].row(0)[i] + maps[1].row(0)[i]) / 2);
  return [
    { name: "translation", kind: "text", text: outcome.translation },
    { name: "attention", kind: "bars", labels: outcome.source, arrays: [values], shape: [values.length], limits: [0, 1] },
  ];
}
