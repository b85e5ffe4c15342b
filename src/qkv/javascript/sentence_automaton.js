import { InputError } from "./input_error.js";

// All sentences of the grammar of the training data, as an automaton: words lead from state to state.

export class SentenceAutomaton {
  /**
   * By state, as sentence_automaton.py writes them; the start is the last.
   * @param {object} states
   * @param {number[]} states.end 1 where a sentence may end, or 0
   * @param {number[][]} states.words the ids of the words that lead on
   * @param {number[][]} states.next the state to which each leads, a lower one
   */
  constructor({ end, words, next }) {
    if (![end, words, next].every((list) => Array.isArray(list) && list.length === end.length))
      throw new InputError("The sentences of this model cannot be read.", "file");
    Object.assign(this, { end, words, next, start: end.length - 1 });
    this.counts = []; // by state: the sentences that it begins
    next.forEach((states, n) => {
      this.counts[n] = states.reduce((sum, k) => sum + this.counts[k], end[n]);
    });
  }

  /** Number of the sentences. */
  get size() {
    return this.counts[this.start];
  }

  /** The state to which words lead from the start; undefined where no sentence begins so. */
  stateAfter(ids) {
    return ids.reduce((state, id) => this.next[state]?.[this.words[state].indexOf(id)], this.start);
  }

  /** Whether the words are one of the sentences. */
  accepts(ids) {
    return this.end[this.stateAfter(ids)] === 1;
  }

  /** The ids of the words with which a beginning goes on, those of most sentences first. */
  continuations(ids) {
    const state = this.stateAfter(ids);
    if (state === undefined) return [];
    const counts = this.next[state].map((k) => this.counts[k]);
    const order = counts.map((_, n) => n).sort((a, b) => counts[b] - counts[a] || a - b);
    return order.map((n) => this.words[state][n]);
  }
}
