import { attentionNames, lastCrossAttention } from "./attentions.js";

// What a reader may set: how a box begins, the values of each control, and how settings fit another model.

/** The settings that a box begins with. */
export const DEFAULTS = {
  view: "attention",
  method: "greedy",
  beamSize: 4,
  lengthPenalty: 1,
  temperature: 1,
  topK: 0, // all words
  topP: 1,
  seed: 1,
  word: 0, // from 0: of the translation, or the step of a search
  head: "average", // or a head, from 0
  part: "decoder.layers.0.cross_attention",
  switchedOff: {}, // heads by the name of their attention
  positions: { encoder: true, decoder: true },
};

/** The values that controls choose from, by the name of the setting. */
export const VALUES = {
  view: ["attention", "search", "heads"],
  method: ["greedy", "beam", "sampling"],
  beamSize: [1, 2, 3, 4, 5, 6, 7, 8],
  lengthPenalty: Array.from({ length: 21 }, (_, n) => n / 10),
  temperature: [0.3, 0.5, 0.7, 1, 1.5, 2, 3],
  topK: [1, 2, 5, 10, 50, 0],
  topP: [0.3, 0.5, 0.8, 0.9, 0.95, 1],
};

/** How the translation is made: attention and heads show the one of greedy decoding. */
export const methodOf = ({ view, method }) => (view === "search" ? method : "greedy");

/** Whether a head or the positions are off. */
export const isChanged = ({ switchedOff, positions }) =>
  !positions.encoder || !positions.decoder || Object.values(switchedOff).some((heads) => heads.length);

/** The settings without what the model does not have: parts and heads of another one. */
export function mendSettings(settings, { model: { config } }) {
  const names = attentionNames(config);
  const isHead = (head) => Number.isInteger(head) && head >= 0 && head < config.n_heads;
  const off = names.map((name) => [name, (settings.switchedOff[name] ?? []).filter(isHead)]);
  return {
    ...settings,
    part: names.includes(settings.part) ? settings.part : lastCrossAttention(config),
    head: isHead(settings.head) ? settings.head : "average",
    switchedOff: Object.fromEntries(off.filter(([, heads]) => heads.length)),
  };
}
