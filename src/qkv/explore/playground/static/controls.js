import { attentionControls } from "./attention_view.js";
import { headsControls } from "./heads_view.js";
import { searchControls } from "./search_view.js";
import { overValues } from "./control_descriptors.js";
import { attentionNames } from "./attentions.js";
import { mendSettings, VALUES } from "./settings.js";

// The controls of the view that is shown, and the settings after one was moved.

const CONTROLS = { attention: attentionControls, search: searchControls, heads: headsControls };

/**
 * The controls of the view that is shown; the choice of the view comes first.
 * @param {object} settings
 * @param {Outcome} outcome
 * @param {Translator} translator
 * @param {Object<string, string>} labels words for the reader
 * @returns {Control[]}
 */
export function controlsOf(settings, outcome, translator, labels) {
  const mended = mendSettings(settings, translator);
  // Only the search shows anything but greedy decoding.
  const view = overValues("view", mended, labels, mended.method !== "greedy");
  return [view, ...CONTROLS[mended.view](mended, outcome, translator, labels)];
}

// How a control's value becomes a setting, where it is no place among `VALUES`.
const TAKE = {
  word: (settings, value) => ({ word: value }),
  head: (settings, value) => ({ head: value === 0 ? "average" : value - 1 }),
  part: (settings, value, { model }) => ({ part: attentionNames(model.config)[value] }),
  seed: ({ seed }) => ({ seed: seed + 1 }),
  positions: (settings, [encoder, decoder]) => ({ positions: { encoder, decoder } }),
  switchedOff: ({ part, switchedOff }, on) => {
    const heads = on.map((_, head) => head).filter((head) => !on[head]);
    return { switchedOff: { ...switchedOff, [part]: heads } };
  },
};

/**
 * The settings after a control was moved.
 * @param {object} settings
 * @param {string} name of the control
 * @param {number | boolean[]} [value] as the control holds it; a button has none
 * @param {Outcome} outcome
 * @param {Translator} translator
 */
export function withControl(settings, name, value, outcome, translator) {
  const mended = mendSettings(settings, translator);
  const moved = TAKE[name] ? TAKE[name](mended, value, translator) : { [name]: VALUES[name][value] };
  return mendSettings({ ...mended, ...moved }, translator);
}
