import { formatNumber } from "../../framework/static/number_format.js";
import { headTexts, lastCrossAttention } from "./attentions.js";
import { pick } from "./control_descriptors.js";
import { formatText } from "./format_text.js";
import { glossColumn, sharesPanel, tablePanel, textPanel, translationText, within } from "./panel_objects.js";

// Attention: where the model looks in the source for each word that it writes.

const CHOSEN = "←";
const MOST_BARS = 24; // on a phone, narrower ones have no names
const MOST_ROWS = 24;

/** The steps that wrote a word: the end is none, unless nothing else was written. */
function written(steps) {
  const words = steps.filter(({ isEnd }) => !isEnd);
  return words.length ? words : steps;
}

export function attentionControls({ word, head }, outcome, { model: { config } }, labels) {
  const words = written(outcome.steps);
  const heads = [labels.average, ...headTexts(config.n_heads, labels)];
  return [
    pick("word", labels.word, words.map(({ text }) => text), within(word, words)),
    pick("head", labels["attention of"], heads, head === "average" ? 0 : head + 1),
  ];
}

/** The weights (S,) of a step's cross-attention: of one head, or the average. */
function crossWeights({ attentionMaps }, head, config) {
  const heads = attentionMaps[lastCrossAttention(config)].map((one) => one.row(0)); // n_heads of (S,)
  if (head !== "average") return heads[head];
  return heads[0].map((_, s) => heads.reduce((sum, weights) => sum + weights[s], 0) / heads.length);
}

export function attentionPanels({ source, steps, translation }, { word, head }, translator, labels) {
  const { config } = translator.model;
  const english = glossColumn(translator, labels);
  const words = written(steps);
  const at = within(word, words);
  const first = Math.max(0, Math.min(at - MOST_ROWS / 2, words.length - MOST_ROWS));
  const rows = words.slice(first, first + MOST_ROWS).map((step, n) => {
    const weights = crossWeights(step, head, config);
    const most = weights.indexOf(weights.reduce((a, b) => Math.max(a, b)));
    const number = first + n === at ? `${at + 1} ${CHOSEN}` : `${first + n + 1}`;
    return [number, step.text, ...english.cell(step.text), source[most], formatNumber(weights[most], 2)];
  });
  const named = (...names) => names.map((name) => labels[name]);
  const header = [...named("number", "translation"), ...english.header, ...named("most of", "weight")];
  const parts = { word: at + 1, count: words.length, text: words[at].text, from: first + 1, to: first + rows.length };
  const shown = [formatText(labels["word shown"], parts)];
  if (rows.length < words.length) shown.push(formatText(labels["rows shown"], parts));
  const weights = crossWeights(words[at], head, config); // (S,)
  return [
    textPanel("translation", translationText(translation, labels)),
    tablePanel("looks at", header, rows),
    textPanel("shown", shown.join("; ")),
    sharesPanel("weights", ...fewBars(weights, source, labels)),
  ];
}

/** Of many tokens the largest weights in their order, the others in one bar. */
function fewBars(weights, tokens, labels) {
  const all = [...weights];
  if (all.length <= MOST_BARS) return [all, tokens];
  const order = all.map((_, s) => s).sort((a, b) => all[b] - all[a]);
  const shown = order.slice(0, MOST_BARS - 1).sort((a, b) => a - b);
  const rest = order.slice(MOST_BARS - 1);
  const others = formatText(labels.others, { count: rest.length });
  const sum = rest.reduce((total, s) => total + all[s], 0);
  return [[...shown.map((s) => all[s]), sum], [...shown.map((s) => tokens[s]), others]];
}
