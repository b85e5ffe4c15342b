import { attentionPanels } from "./attention_view.js";
import { headsPanels } from "./heads_view.js";
import { textPanel } from "./panel_objects.js";
import { searchPanels } from "./search_view.js";
import { mendSettings } from "./settings.js";

// The panels of the view that is shown, as the explorers draw them.

const PANELS = { attention: attentionPanels, search: searchPanels, heads: headsPanels };

/**
 * @param {Outcome} outcome with one step or more
 * @param {object} settings
 * @param {Translator} translator
 * @param {Object<string, string>} labels words for the reader
 * @returns {object[]} as `panelsAt` of the explorers returns them
 */
export function panelsOf(outcome, settings, translator, labels) {
  const mended = mendSettings(settings, translator);
  // Beside a sentence that was refused, the answer to the one before still stands.
  const sentence = textPanel("sentence", translator.source.decode(outcome.ids));
  return [sentence, ...PANELS[mended.view](outcome, mended, translator, labels)];
}
