import { formatText } from "./format_text.js";

// The attentions of a model: their names, and the words for them.

const NAME = /^(encoder|decoder)\.layers\.(\d+)\.(self|cross)_attention$/;

/** The names of all attentions of a model, encoder first. */
export function attentionNames({ n_layers, n_decoder_layers }) {
  const layers = (count, name) => Array.from({ length: count }, (_, n) => name(n));
  return [
    ...layers(n_layers, (n) => `encoder.layers.${n}.self_attention`),
    ...layers(n_decoder_layers, (n) => `decoder.layers.${n}.self_attention`),
    ...layers(n_decoder_layers, (n) => `decoder.layers.${n}.cross_attention`),
  ];
}

/** The cross-attention of the last layer, where the decoder looks at the source. */
export const lastCrossAttention = ({ n_decoder_layers }) =>
  `decoder.layers.${n_decoder_layers - 1}.cross_attention`;

/** What a reader calls an attention: its layer counts from 1, and is left out where it is the only one. */
export function attentionText(name, { n_layers, n_decoder_layers }, labels) {
  const [, stack, n, kind] = name.match(NAME);
  const part = kind === "cross" ? "cross" : stack;
  const only = (stack === "encoder" ? n_layers : n_decoder_layers) === 1;
  return formatText(labels[only ? part : `${part} layer`], { layer: Number(n) + 1 });
}

/** The words for n heads, counted from 1. */
export const headTexts = (n, labels) =>
  Array.from({ length: n }, (_, h) => formatText(labels["head number"], { head: h + 1 }));
