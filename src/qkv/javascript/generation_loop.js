import { logSoftmax } from "./log_softmax.js";

// The autoregressive loop of greedy decoding and sampling: token by token, until the end.

/**
 * Append one token after the other until <eos> or `maxNewTokens`.
 * @param {DecodingState} state as `startDecoding` gives it
 * @param {(logProbs: Float32Array) => object} choose from log-probabilities (V,) to {token, …}
 * @param {{sos: number, eos: number, maxNewTokens: number}} options
 * @yields {Step} what `choose` gave, and what it chose from, as soon as it is known
 *
 * @typedef {object} Step
 * @property {number} token
 * @property {Float32Array} logProbs (V,)
 * @property {number} sum of the log-probabilities of all tokens so far
 * @property {Object<string, Matrix[]>} attentionMaps of the decoder: a row (1, …) of each head, by name
 */
export function* generate(state, choose, { sos, eos, maxNewTokens }) {
  let [token, sum] = [sos, 0];
  for (let length = 0; length < maxNewTokens && token !== eos; length++) {
    const attentionMaps = {};
    const logProbs = logSoftmax(state.extend([token], attentionMaps).row(0)); // (V,)
    const chosen = choose(logProbs);
    token = chosen.token;
    sum = Math.fround(sum + logProbs[token]);
    yield { ...chosen, logProbs, sum, attentionMaps };
  }
}
