import { formatNumber } from "../../framework/static/number_format.js";
import { beamPanels } from "./beam_view.js";
import { cachePanels } from "./cache_view.js";
import { control, overValues } from "./control_descriptors.js";
import { formatText } from "./format_text.js";
import { glossColumn, sharesPanel, textPanel, translationText, within } from "./panel_objects.js";
import { methodOf } from "./settings.js";

// Search: how the words of a translation are chosen, and what is kept in the meantime.

const SHOWN = 10; // bars; the other words share one
const OF_METHOD = { greedy: [], beam: ["beamSize", "lengthPenalty"], sampling: ["temperature", "topK", "topP"] };

export function searchControls(settings, { steps }, _, labels) {
  const { method, word } = settings;
  const controls = ["method", ...OF_METHOD[method]].map((name) => overValues(name, settings, labels));
  if (method === "sampling") controls.push(control("seed", "button", labels["draw again"], [], 0, true));
  if (method === "beam") return controls;
  const texts = steps.map(({ text }, n) => `${n + 1} ${text}`);
  return [...controls, control("word", "slider", labels.step, texts, within(word, steps), false)];
}

export function searchPanels(outcome, settings, translator, labels) {
  if (outcome.hypotheses) return beamPanels(outcome, translator, labels);
  const at = within(settings.word, outcome.steps);
  return [
    textPanel("translation", translationText(outcome.translation, labels)),
    ...glossColumn(translator, labels).cell(outcome.translation).map((text) => textPanel("in English", text)),
    ...distributionPanels(outcome, at, translator, labels),
    ...cachePanels(outcome, at, translator, labels),
  ];
}

/** What the token of a step was chosen from: the likeliest words and that token, the others in one bar. */
function distributionPanels({ steps, settings }, at, { target }, labels) {
  const { token, text, logProbs, probabilities } = steps[at];
  const order = likeliest(logProbs);
  const shown = order.slice(0, SHOWN);
  if (!shown.includes(token)) shown[SHOWN - 1] = token; // sampling may draw a rare word
  const others = order.filter((id) => !shown.includes(id));
  const rest = others.reduce((sum, id) => sum + probabilities[id], 0);
  const names = [...shown.map((id) => target.tokens[id]), formatText(labels.others, { count: others.length })];
  const parts = { step: at + 1, count: steps.length, text, share: shareText(probabilities[token]) };
  const panels = [
    textPanel("chosen", formatText(labels["step shown"], parts)),
    sharesPanel("probability", [...shown.map((id) => probabilities[id]), rest], names),
  ];
  if (methodOf(settings) !== "sampling") return panels;
  return [
    ...panels,
    textPanel("words", probabilities.filter((p) => p > 0).length),
    textPanel("choices", formatNumber(perplexity(probabilities), 1)),
    textPanel("seed", settings.seed),
  ];
}

const shareText = (share) => (share < 0.005 ? "< 0.01" : formatNumber(share, 2));

/** All ids, falling by their log-probability; of equals, the lower id comes first. */
const likeliest = (logProbs) => [...logProbs.keys()].sort((a, b) => logProbs[b] - logProbs[a]);

/** exp of the entropy: among how many equally likely words the choice would be as open. */
function perplexity(probabilities) {
  return Math.exp(-probabilities.reduce((sum, p) => sum + (p > 0 ? p * Math.log(p) : 0), 0));
}
