import { concatenateRows } from "./matrix.js";

// Key-value cache: keys and values that decoding has computed already.

export class KeyValueCache {
  /**
   * A cache never changes: `append` makes a new one, so that all beams of a search may share the
   * beginning that they have in common.
   * @param {Matrix[]} keys (S, d_k) of each of n_kv_heads heads; none at first
   * @param {Matrix[]} values (S, d_v) likewise
   */
  constructor(keys = [], values = []) {
    Object.assign(this, { keys, values });
  }

  /** Number of tokens whose keys are held; the next token has this position. */
  get length() {
    return this.keys.length ? this.keys[0].rows : 0;
  }

  /** The cache with the keys (T, d_k) and values (T, d_v) of T new tokens, of each head, behind. */
  append(k, v) {
    if (!this.length) return new KeyValueCache(k, v);
    const joined = (old, more) => old.map((head, h) => concatenateRows(head, more[h]));
    return new KeyValueCache(joined(this.keys, k), joined(this.values, v)); // (S + T, d) of each head
  }
}
