// What a test asks of a page with the trained translator: everything about many sentences in one call.
// Numbers come back as base64 of float32, in the order in which the test reads them.
async (asked) => {
  const translator = await qkvModel.load();
  const { SOS } = await qkvModel.loadEngine();
  const numbers = [];
  const keep = (rows) => numbers.push(...rows);
  const keepMaps = (maps) => {
    for (const name of Object.keys(maps).sort()) for (const head of maps[name]) numbers.push(head.data);
  };

  function whole(ids, tokens, options) {
    const state = translator.startDecoding(ids, options);
    const maps = {};
    keep([state.extend([SOS, ...tokens.slice(0, -1)], maps).data]);
    keepMaps(state.encoderMaps);
    keepMaps(maps);
  }

  function stepByStep(ids, options) {
    const steps = [...translator.greedy(translator.startDecoding(ids, options))];
    for (const { logProbs, attentionMaps } of steps) {
      keep([logProbs]);
      keepMaps(attentionMaps);
    }
    return { tokens: steps.map(({ token }) => token), sum: steps.at(-1).sum };
  }

  function answer({ text, options, uniforms, sampling }) {
    const ids = translator.encode(text);
    const start = () => translator.startDecoding(ids, options);
    const greedy = stepByStep(ids, options);
    whole(ids, greedy.tokens, options);
    const { hypotheses, tree } = translator.beamSearch(start(), { beamSize: 4 });
    const sampled = [...translator.sample(start(), { uniforms, ...sampling })].map(({ token }) => token);
    return { ids, greedy, hypotheses, tree, sampled, text: translator.decode(greedy.tokens) };
  }

  const answers = asked.map(answer);
  const bytes = new Uint8Array(await new Blob(numbers).arrayBuffer());
  let binary = "";
  for (let n = 0; n < bytes.length; n += 32768)
    binary += String.fromCharCode(...bytes.subarray(n, n + 32768));
  return { answers, numbers: btoa(binary) };
};
