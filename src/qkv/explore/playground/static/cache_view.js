import { formatCount } from "../../framework/static/number_format.js";
import { heatmapPanel, textPanel } from "./panel_objects.js";

// The KV cache: the keys and values that decoding keeps, so that each step computes those of one token.

const MOST = 24; // steps and tokens that are drawn
const [NOT_YET, HELD, NEW] = [0, 1, 2];

/**
 * How many numbers of keys and values there are once `read` target tokens are read.
 * @param {object} config the model's
 * @returns {{self: number, cross: number, computed: number, without: number}} held for self- and for
 *   cross-attention; computed in this step; and what the step would compute if nothing were held
 */
export function cacheNumbers({ n_decoder_layers, n_kv_heads, d_k, d_v }, read, S) {
  const ofOneToken = n_decoder_layers * n_kv_heads * (d_k + d_v);
  const [self, cross] = [read * ofOneToken, S * ofOneToken];
  // The memory's are computed before the first token; the first step pays for them.
  return { self, cross, computed: ofOneToken + (read === 1 ? cross : 0), without: self + cross };
}

export function cachePanels({ source, steps }, at, { model: { config } }, labels) {
  const numbers = cacheNumbers(config, at + 1, source.length);
  // A window of steps around the one that is shown; step t reads the token before it.
  const first = Math.max(0, Math.min(at - MOST / 2, steps.length - MOST));
  const shown = steps.slice(first, first + MOST);
  const read = shown.map((step) => step.read);
  const T = shown.length;
  const state = (t, token) => (t > at - first || token > t ? NOT_YET : token < t ? HELD : NEW);
  const cells = Float32Array.from({ length: T * T }, (_, n) => state(Math.floor(n / T), n % T));
  const rows = shown.map((_, n) => `${labels.step} ${first + n + 1}`);
  const states = [labels["not yet"], labels.held, labels["new"]];
  const more = { limits: [NOT_YET, NEW], highlight_row: at - first, words: states };
  return [
    heatmapPanel("cache", cells, [T, T], rows, read, more),
    textPanel("held for self-attention", formatCount(numbers.self)),
    textPanel("held for cross-attention", formatCount(numbers.cross)),
    textPanel("computed in this step", formatCount(numbers.computed)),
    textPanel("without a cache", formatCount(numbers.without)),
  ];
}
