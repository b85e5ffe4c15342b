import { ACTIVATIONS } from "./activations.js";
import { InputError, shortenJson } from "./input_error.js";
import { NORMS } from "./norms.js";
import { POSITIONS } from "./positional_encoding.js";

// Configuration of a Transformer, as `TransformerConfig` writes it into a checkpoint.

const CHOICES = {
  activation: Object.keys(ACTIVATIONS),
  norm: Object.keys(NORMS),
  norm_first: [false, true],
  positions: Object.keys(POSITIONS),
  layout: ["interleaved", "halves"],
  tie_word_embeddings: ["none", "target", "all"],
  causal: [true],
};
const SIZES = ["vocab_size", "d_model", "n_heads", "d_ff", "n_layers", "max_len"];
const SIZES_WITH_DEFAULT = ["target_vocab_size", "n_decoder_layers", "d_k", "d_v", "n_kv_heads"];

/**
 * The configuration with its defaults filled in.
 * @throws {InputError} a choice that the page does not compute, or a size that is none
 */
export function checkConfig(stored) {
  const config = withCurrentNames(stored);
  for (const [name, known] of Object.entries(CHOICES))
    if (!known.includes(config[name]))
      refuse(`${name} must be ${known.join(" or ")} for this page, got ${shortenJson(config[name])}.`);
  for (const name of SIZES)
    if (!isSize(config[name]))
      refuse(`${name} must be a whole number above 0, got ${shortenJson(config[name])}.`);
  for (const name of SIZES_WITH_DEFAULT)
    if (!isSize(config[name] ?? 1))
      refuse(`${name} must be a whole number above 0 or null, got ${shortenJson(config[name])}.`);
  if (typeof config.norm_eps !== "number" || !(config.norm_eps > 0))
    refuse(`norm_eps must be above 0, got ${shortenJson(config.norm_eps)}.`);
  const d_k = config.d_k ?? config.d_model / config.n_heads;
  const n_kv_heads = config.n_kv_heads ?? config.n_heads;
  if (![d_k, config.n_heads / n_kv_heads].every(Number.isInteger))
    refuse("n_heads must divide d_model, and n_kv_heads must divide n_heads.");
  if (config.positions === "rotary" && d_k % 2) refuse(`d_k must be even for rotary positions, got ${d_k}.`);
  const target_vocab_size = config.target_vocab_size ?? config.vocab_size;
  if (config.tie_word_embeddings === "all" && target_vocab_size !== config.vocab_size)
    refuse('tie_word_embeddings must not be "all" with two vocabularies.');
  return {
    ...config,
    target_vocab_size,
    n_decoder_layers: config.n_decoder_layers ?? config.n_layers,
    final_norm: config.final_norm ?? config.norm_first,
    d_k,
    d_v: config.d_v ?? d_k,
    n_kv_heads,
  };
}

/** The fields of a stored model under the names that they have now. */
function withCurrentNames({ norm_placement, tie, ...config }) {
  if (norm_placement !== undefined)
    config.norm_first = ["post", "pre"].includes(norm_placement) ? norm_placement === "pre" : norm_placement;
  if (tie !== undefined) config.tie_word_embeddings = tie;
  return config;
}

const isSize = (value) => Number.isSafeInteger(value) && value > 0;

function refuse(message) {
  throw new InputError(`The page cannot run this model: ${message}`, "file");
}
