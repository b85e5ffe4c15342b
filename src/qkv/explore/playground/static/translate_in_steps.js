import { uniformNumbers } from "./random_numbers.js";
import { isChanged, mendSettings, methodOf } from "./settings.js";

// A translation under some settings, growing word by word.

/**
 * Translate, and yield what is known after each token; a beam search knows nothing before its end.
 * @param {object} engine what the engine's index.js exports
 * @param {Translator} translator
 * @param {number[]} ids (S,) as `translator.encode` gives them
 * @param {object} settings as `DEFAULTS` names them; what does not fit the model is mended
 * @yields {Outcome | undefined} undefined where there is nothing to show yet
 *
 * @typedef {object} Outcome
 * @property {string[]} source (S,) tokens
 * @property {number[]} ids (S,)
 * @property {object} settings by which it came to be
 * @property {object[]} steps of the translation: token, its text and that of the token `read` before it,
 *   isEnd, logProbs (V,), probabilities (V,), from which it was chosen, sum, and attentionMaps of the
 *   decoder, a row of each head
 * @property {Object<string, Matrix[]>} encoderMaps (S, S) of each head
 * @property {object[]} [hypotheses] of a beam search, with its tree, as the engine's `beamSearch` gives
 *   them; isEnded says whether one came to its end
 * @property {object[][]} [tree]
 * @property {string} translation
 * @property {string} untouched the translation by greedy decoding with nothing switched off
 * @property {boolean} done
 */
export function* translateInSteps(engine, translator, ids, settings) {
  const mended = mendSettings(settings, translator);
  const state = yield* translator.startDecodingInSteps(ids, mended);
  const base = { source: ids.map((id) => translator.source.tokens[id]), ids, settings: mended };
  base.encoderMaps = state.encoderMaps;
  const textOf = (steps) => translator.decode(steps.map(({ token }) => token));
  const other = isChanged(mended) || methodOf(mended) !== "greedy" ? yield* untouched(translator, ids) : undefined;
  const grown = (steps, done, more) => {
    const translation = textOf(steps);
    return { ...base, ...more, steps, translation, untouched: other ?? translation, done };
  };
  if (methodOf(mended) === "beam") {
    const { beamSize, lengthPenalty } = mended;
    const first = state.copy(); // a search changes its own
    const { hypotheses, tree } = yield* translator.beamSearchInSteps(state, { beamSize, lengthPenalty });
    const steps = yield* stepsThrough(engine, translator, first, hypotheses[0].tokens);
    const ended = hypotheses.map((one) => ({ ...one, isEnded: one.tokens.at(-1) === engine.EOS }));
    yield grown(steps, true, { hypotheses: ended, tree });
    return;
  }
  const steps = [];
  for (const step of stepsOf(translator, state, mended)) {
    const probabilities = step.probabilities ?? step.logProbs.map(Math.exp); // (V,)
    const read = steps.at(-1)?.token ?? engine.SOS;
    steps.push({ ...step, probabilities, ...texts(engine, translator, step.token, read) });
    yield grown([...steps], steps.at(-1).isEnd || steps.length === translator.maxLength);
  }
}

const texts = (engine, { target }, token, read) => ({
  text: target.tokens[token],
  read: target.tokens[read],
  isEnd: token === engine.EOS,
});

function stepsOf(translator, state, settings) {
  if (methodOf(settings) === "greedy") return translator.greedy(state);
  const { temperature, topK, topP, seed } = settings;
  const uniforms = uniformNumbers(seed, translator.maxLength);
  return translator.sample(state, { uniforms, temperature, topK: topK || undefined, topP });
}

function* untouched(translator, ids) {
  const tokens = [];
  for (const { token } of translator.greedy(yield* translator.startDecodingInSteps(ids))) {
    tokens.push(token);
    yield;
  }
  return translator.decode(tokens);
}

/** The steps that lead through given tokens, such as the best sentence of a beam search. */
function* stepsThrough(engine, translator, state, tokens) {
  let sum = 0;
  const steps = [];
  for (const [t, token] of tokens.entries()) {
    const attentionMaps = {};
    const read = t ? tokens[t - 1] : engine.SOS;
    const logits = state.extend([read], attentionMaps).row(0); // (V,)
    const probabilities = engine.samplingDistribution(logits, {}); // (V,)
    const logProbs = probabilities.map(Math.log);
    sum = Math.fround(sum + logProbs[token]);
    steps.push({ token, logProbs, probabilities, sum, attentionMaps, ...texts(engine, translator, token, read) });
    yield;
  }
  return steps;
}
