import { mergeHeads, splitHeads } from "./heads.js";
import { KeyValueCache } from "./key_value_cache.js";
import { linear } from "./linear.js";
import { causalMask } from "./masks.js";
import { Matrix } from "./matrix.js";
import { rotary } from "./positional.js";
import { scaledDotProductAttention } from "./scaled_dot_product.js";

// Multi-head attention: several attentions in parallel, context by one projection.

/**
 * Keys and values of each head of an input.
 * @param {Matrix} x (S, d_model)
 * @param {object} parameters with w_k, w_v
 * @param {number} n_kv_heads
 * @param {number} [start] position of the first: with it, keys are rotated by their positions (RoPE)
 * @returns {KeyValueCache} n_kv_heads keys (S, d_k) and values (S, d_v)
 */
export function keysAndValues(x, parameters, n_kv_heads, start) {
  const k = splitHeads(linear(x, parameters.w_k), n_kv_heads); // (S, d_k) of each head
  const v = splitHeads(linear(x, parameters.w_v), n_kv_heads); // (S, d_v) of each head
  return new KeyValueCache(start === undefined ? k : k.map((head) => rotary(head, start)), v);
}

/**
 * Multi-head attention: Concat(head₁ …) W_O, each head in a part of the width.
 * @param {Matrix} x (T, d_model) of the queries
 * @param {KeyValueCache} cache keys and values: of x and the tokens before it, or of the memory
 * @param {object} parameters with w_q, w_o
 * @param {object} options
 * @param {number} options.n_heads n_heads / n_kv_heads of them share each head of keys in turn
 * @param {number} [options.start] position of the first query: with it, queries are rotated (RoPE)
 * @param {boolean} [options.causal] hide the keys after each query, the last T of the S positions
 * @param {number[]} [options.switchedOff] heads whose output is zeros
 * @returns {{out: Matrix, weights: Matrix[]}} (T, d_model), and the (T, S) weights of each head
 */
export function multiHeadAttention(x, cache, parameters, options) {
  const { n_heads, start, causal, switchedOff = [] } = options;
  const shared = n_heads / cache.keys.length; // heads of queries to one of keys
  const mask = causal ? causalMask(x.rows, cache.length) : undefined;
  const weights = [];
  const heads = splitHeads(linear(x, parameters.w_q), n_heads).map((q, h) => {
    const [k, v] = [cache.keys, cache.values].map((held) => held[Math.floor(h / shared)]);
    const rotated = start === undefined ? q : rotary(q, start); // (T, d_k)
    const head = scaledDotProductAttention(rotated, k, v, mask);
    weights.push(head.weights); // (T, S)
    return switchedOff.includes(h) ? new Matrix(x.rows, v.width) : head.out; // (T, d_v)
  });
  return { out: linear(mergeHeads(heads), parameters.w_o), weights }; // (T, d_model)
}
