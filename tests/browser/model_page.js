// What a test asks of a page that holds a translator: everything about many sentences in one call.
// Numbers come back as base64 of float32, in the order in which `NumPyRoom.numbers` gives them.
(translator, asked) => {
  const { SOS } = qkvEngine;
  const numbers = [];
  const keepMaps = (maps) => {
    for (const name of Object.keys(maps).sort()) for (const head of maps[name]) numbers.push(head.data);
  };

  function stepByStep(state) {
    const steps = [...translator.greedy(state)];
    for (const { logProbs, attentionMaps } of steps) {
      numbers.push(logProbs);
      keepMaps(attentionMaps);
    }
    return { tokens: steps.map(({ token }) => token), sum: steps.at(-1).sum };
  }

  function allAtOnce(state, tokens) {
    const maps = {};
    numbers.push(state.extend([SOS, ...tokens.slice(0, -1)], maps).data);
    keepMaps(state.encoderMaps);
    keepMaps(maps);
  }

  function answer({ text, options, sampling, search }) {
    const ids = translator.encode(text);
    const start = () => translator.startDecoding(ids, options);
    const first = numbers.length;
    const { tokens, sum } = stepByStep(start());
    allAtOnce(start(), tokens);
    const count = numbers.slice(first).reduce((total, { length }) => total + length, 0);
    const beam = translator.beamSearch(start(), search);
    const sampled = [...translator.sample(start(), sampling)].map(({ token }) => token);
    return { ids, tokens, sum, count, beam, sampled, translation: translator.decode(tokens) };
  }

  const answers = asked.map(answer);
  return new Blob(numbers).arrayBuffer().then((buffer) => {
    const bytes = new Uint8Array(buffer);
    let binary = "";
    for (let n = 0; n < bytes.length; n += 32768)
      binary += String.fromCharCode(...bytes.subarray(n, n + 32768));
    return { answers, numbers: btoa(binary) };
  });
};
