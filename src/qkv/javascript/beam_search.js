import { BeamScorer } from "./beam_scorer.js";
import { logSoftmax } from "./log_softmax.js";
import { checkBeamSearch } from "./option_checks.js";
import { stableTopK } from "./stable_top_k.js";

// Beam search: the best few unfinished sentences, each extended by a token at a time.

const DEFAULTS = { beamSize: 4, lengthPenalty: 1, lengthFormula: "power", earlyStopping: false };

/**
 * Beam search, a step for each token of each beam, for the sentences of the highest
 * Σ log p / normalizer(length).
 *
 * Of all continuations of all beams the best 2 · beamSize are looked at: those among the first
 * beamSize that end are finished, the best beamSize of the others go on. Of equals, the lower beam
 * comes first, then the lower token id, then the older sentence.
 * @param {DecodingState} state
 * @param {object} options sos, eos, maxNewTokens, and
 * @param {number} [options.beamSize] unfinished sentences kept
 * @param {number} [options.lengthPenalty] with options.lengthFormula, as `lengthNormalizer` takes them
 * @param {boolean | "never"} [options.earlyStopping] when the search is done. true: once beamSize are
 *   finished; false: once no beam, divided as if it ended at its length, beats the worst of these;
 *   "never": once none can any more
 * @yields after each token of each beam
 * @returns {{hypotheses: {score: number, tokens: number[]}[], tree: Candidate[][]}} what is finished, from
 *   the best down, without the prefix; and at each step, every continuation that was looked at
 * @throws {Error} an option is out of its range
 */
export function* beamSearchInSteps(state, options) {
  const settings = { ...DEFAULTS, ...options };
  checkBeamSearch("beamSearch", settings);
  const scorer = new BeamScorer(settings);
  let beams = [{ state, token: settings.sos, sum: 0 }];
  const tree = [];
  while (beams.length) {
    const candidates = yield* bestContinuations(beams, 2 * settings.beamSize);
    tree.push(candidates);
    // Each goes on from a state of its own: several may continue one beam.
    beams = scorer.process(candidates).map(({ beam, token, sum }) => {
      return { state: beams[beam].state.copy(), token, sum };
    });
  }
  return { hypotheses: scorer.hypotheses, tree };
}

/** Of all continuations of all beams by one token, the best few as candidates, falling. */
function* bestContinuations(beams, count) {
  const logProbs = []; // K of (V,)
  for (const { state, token } of beams) {
    logProbs.push(logSoftmax(state.extend([token]).row(0)));
    yield;
  }
  const V = logProbs[0].length;
  const totals = new Float32Array(beams.length * V); // (K · V,)
  beams.forEach(({ sum }, k) => totals.set(logProbs[k].map((logProb) => sum + logProb), k * V));
  return stableTopK(totals, count).map((place) => {
    const [beam, token] = [Math.floor(place / V), place % V];
    return { beam, token, logProb: logProbs[beam][token], sum: totals[place] };
  });
}
