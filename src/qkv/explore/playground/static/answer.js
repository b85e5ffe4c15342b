// A stand-in.
export const DEFAULTS = { view: "attention", method: "greedy", beamSize: 4, lengthPenalty: 0.6, temperature: 1, topK: 0, topP: 1,
  seed: 1, word: 0, head: "average", part: "decoder.layers.0.cross_attention", switchedOff: {}, positions: true };

export function* answer(engine, translator, ids, settings) {
  const source = ids.map((id) => translator.source.tokens[id]);
  const steps = [];
  for (const step of translator.greedy(translator.startDecoding(ids, settings))) {
    steps.push({ ...step, text: translator.target.tokens[step.token] });
    const translation = translator.decode(steps.map(({ token }) => token));
    yield { source, ids, settings, steps, translation, untouched: translation, done: step.token === engine.EOS };
  }
}
