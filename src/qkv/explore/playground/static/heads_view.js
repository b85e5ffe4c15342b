import { attentionNames, attentionText, headTexts } from "./attentions.js";
import { control, pick } from "./control_descriptors.js";
import { formatText } from "./format_text.js";
import { glossColumn, heatmapPanel, tablePanel, textPanel, translationText } from "./panel_objects.js";

// Heads: the weights of every head of an attention, and the translation while some are switched off.

const MOST_CELLS = 4000; // drawn at once
const MOST_TOKENS = 24; // of a map's side

export function headsControls(settings, _, { model: { config } }, labels) {
  const { part, switchedOff, positions } = settings;
  const names = attentionNames(config);
  const heads = headTexts(config.n_heads, labels);
  const on = heads.map((_, head) => !(switchedOff[part] ?? []).includes(head));
  const parts = names.map((name) => attentionText(name, config, labels));
  return [
    pick("part", labels.part, parts, names.indexOf(part)),
    control("switchedOff", "switches", labels["heads on"], heads, on, true),
    control("positions", "switches", labels["positions on"], ...positionSwitches(positions, labels), true),
  ];
}

const positionSwitches = (positions, labels) =>
  [Object.keys(positions).map((part) => labels[part]), Object.values(positions)];

export function headsPanels(outcome, { part }, translator, labels) {
  const english = glossColumn(translator, labels);
  const { maps, rows, columns } = mapsOf(outcome, part);
  const most = Math.min(MOST_TOKENS, Math.floor(Math.sqrt(MOST_CELLS / maps.length)));
  const [T, S] = [Math.min(rows.length, most), Math.min(columns.length, most)];
  const { translation, untouched } = outcome;
  const now = translation === untouched ? labels["the same"] : translationText(translation, labels);
  const sizes = { rows: T, columns: S, queries: rows.length, keys: columns.length };
  const isCut = T < rows.length || S < columns.length;
  const header = [labels.switches, labels.translation, ...english.header];
  const lines = [
    [labels["with all"], translationText(untouched, labels), ...english.cell(untouched)],
    [labels.now, now, ...english.cell(translation)],
  ];
  return [
    tablePanel("translations", header, lines),
    ...(isCut ? [textPanel("map", formatText(labels["map cut"], sizes))] : []),
    heatmapPanel("maps", weightsOf(maps, T, S), [maps.length, T, S], rows.slice(0, T), columns.slice(0, S)),
  ];
}

/**
 * The maps of an attention: by head, rows of weights; and the tokens of queries and of keys.
 * The decoder's grow with the text: what a query could not see yet has no weight.
 */
function mapsOf({ source, steps, encoderMaps }, part) {
  if (encoderMaps[part]) return { maps: encoderMaps[part].map((head) => [...head]), rows: source, columns: source };
  const rows = steps.map(({ text }) => text);
  const read = steps.map((step) => step.read);
  const n_heads = steps[0].attentionMaps[part].length;
  const maps = Array.from({ length: n_heads }, (_, h) => steps.map((step) => step.attentionMaps[part][h].row(0)));
  return { maps, rows, columns: part.endsWith("cross_attention") ? source : read };
}

/** The beginning of each map, (H · T · S,), zeros where there is no weight. */
function weightsOf(maps, T, S) {
  const weights = new Float32Array(maps.length * T * S);
  maps.forEach((rows, h) =>
    rows.slice(0, T).forEach((row, t) => weights.set(row.subarray(0, S), (h * T + t) * S)),
  );
  return weights;
}
