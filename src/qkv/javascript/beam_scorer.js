import { lengthNormalizer } from "./length_normalization.js";

// Beam scorer: of the best continuations, which end, which go on, and when a search is over.

export class BeamScorer {
  /** @param {object} options as `beamSearch` takes them */
  constructor(options) {
    this.options = options;
    this.hypotheses = []; // {score, tokens}, the best beamSize finished sentences, falling
    this.written = [[]]; // by beam, without the prefix
    this.length = 0;
    this.searching = true;
  }

  /** The score that a new hypothesis has to beat: −∞ while a place is free. */
  get worst() {
    const { hypotheses } = this;
    return hypotheses.length === this.options.beamSize ? hypotheses.at(-1).score : -Infinity;
  }

  /**
   * Extend the beams of the sentence by one token, and finish those that end.
   * @param {Candidate[]} candidates the best continuations, falling; the fate of each is written into it
   * @returns {Candidate[]} the beams that go on, none once the search is over
   *
   * @typedef {object} Candidate
   * @property {number} beam the row of the last call that it continues
   * @property {number} token by which it does
   * @property {number} logProb of that token
   * @property {number} sum of the log-probabilities of all its tokens
   * @property {"kept" | "finished" | "dropped"} fate
   * @property {number} [score] of what is finished: sum / normalizer(length)
   */
  process(candidates) {
    const { beamSize, eos, maxNewTokens } = this.options;
    this.length++;
    const ends = ({ token }) => token === eos || this.length === maxNewTokens;
    candidates.forEach((candidate, rank) => {
      candidate.fate = "dropped";
      if (ends(candidate) && rank < beamSize) this.finish(candidate);
    });
    // Where too few go on, impossible ones fill their rows.
    const impossible = candidates.filter(ends).map((candidate) => ({ ...candidate, sum: -Infinity }));
    const unfinished = candidates.filter((candidate) => !ends(candidate));
    const goingOn = [...unfinished, ...impossible].slice(0, beamSize);
    this.stop(goingOn[0].sum);
    if (!this.searching) return [];
    for (const candidate of goingOn) candidate.fate = "kept";
    this.written = goingOn.map(({ beam, token }) => [...this.written[beam], token]);
    return goingOn;
  }

  /** Let a finished sentence compete; of equals the older stays first, and an impossible one never enters. */
  finish(candidate) {
    const score = candidate.sum / this.normalizer(this.length);
    Object.assign(candidate, { fate: "finished", score });
    if (!(score > this.worst)) return;
    const rank = this.hypotheses.filter((other) => other.score >= score).length;
    this.hypotheses.splice(rank, 0, { score, tokens: [...this.written[candidate.beam], candidate.token] });
    this.hypotheses.length = Math.min(this.hypotheses.length, this.options.beamSize);
  }

  /** End the search once the best unfinished beam cannot improve on what is finished. */
  stop(sum) {
    const { earlyStopping, lengthPenalty, maxNewTokens } = this.options;
    // "never" gives up early: there a beam is promised the length that suits it best.
    const longest = earlyStopping === "never" && lengthPenalty > 0;
    const attainable = sum / this.normalizer(longest ? maxNewTokens : this.length);
    if (attainable <= this.worst || (earlyStopping === true && this.worst > -Infinity)) this.searching = false;
  }

  normalizer(length) {
    return lengthNormalizer(length, this.options.lengthPenalty, this.options.lengthFormula);
  }
}
