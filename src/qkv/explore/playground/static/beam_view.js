import { formatNumber } from "../../framework/static/number_format.js";
import { formatText } from "./format_text.js";
import { glossColumn, tablePanel, textPanel, translationText } from "./panel_objects.js";

// Beam search: the sentences that it ended, and the tree of what it kept and dropped.

const MOST_NODES = 160; // of a tree: a larger one is no longer looked through

export function beamPanels(outcome, translator, labels) {
  const { target } = translator;
  const { translation, tree, steps: best } = outcome;
  const { nodes, steps } = treeNodes(tree, outcome.settings.beamSize);
  const written = [translationText(translation, labels)];
  if (steps < tree.length) written.push(formatText(labels["tree cut"], { steps, count: tree.length }));
  return [
    textPanel("translation", written.join(" · ")),
    hypothesesPanel(outcome, translator, labels),
    treePanel(nodes, target.tokens, best[0].read),
  ];
}

/** Each finished sentence: how long, the sum of its log-probabilities, and that divided by length^α. */
function hypothesesPanel({ hypotheses, settings }, translator, labels) {
  const english = glossColumn(translator, labels);
  const header = [labels["best first"], ...english.header, ...["tokens", "sum", "score"].map((name) => labels[name])];
  const rows = hypotheses.map(({ tokens, score, isEnded }) => {
    const total = score * tokens.length ** settings.lengthPenalty;
    const translation = translator.target.decode(tokens);
    const text = translationText(translation, labels) + (isEnded ? "" : " …");
    return [text, ...english.cell(translation), String(tokens.length), formatNumber(total, 2), formatNumber(score, 2)];
  });
  return tablePanel("hypotheses", header, rows);
}

/**
 * The nodes of a search: at each step what ended and what went on, and the best of what was dropped.
 * After the last step nothing goes on: of it, the best `beamSize` are given.
 * @param {Candidate[][]} tree as the engine's `beamSearch` gives it
 * @param {number} beamSize
 * @returns {{nodes: object[], steps: number}} {token, parent, sum, state}, and how many steps they show
 */
export function treeNodes(tree, beamSize) {
  const nodes = [{ token: undefined, parent: -1, sum: 0, state: null }];
  let parents = [0]; // the node of each beam
  for (const [n, candidates] of tree.entries()) {
    const isLast = n === tree.length - 1;
    const shown = isLast ? candidates.slice(0, beamSize) : withoutLaterDropped(candidates);
    if (nodes.length + shown.length > MOST_NODES) return { nodes, steps: n };
    const goingOn = [];
    for (const { beam, token, sum, fate } of shown) {
      if (parents[beam] === undefined) continue; // an impossible beam, which fills a row
      if (fate === "kept") goingOn.push(nodes.length);
      const state = fate !== "dropped" ? fate : isLast ? null : "pruned";
      nodes.push({ token, parent: parents[beam], sum, state });
    }
    parents = goingOn;
  }
  return { nodes, steps: tree.length };
}

function withoutLaterDropped(candidates) {
  const first = candidates.findIndex(({ fate }) => fate === "dropped");
  return candidates.filter(({ fate }, rank) => fate !== "dropped" || rank === first);
}

function treePanel(nodes, tokens, first) {
  const sums = nodes.map(({ sum }) => Number(sum.toFixed(2)));
  return {
    name: "tree",
    kind: "tree",
    labels: nodes.map(({ token }) => tokens[token] ?? first),
    parents: nodes.map(({ parent }) => parent),
    states: nodes.map(({ state }) => state),
    texts: nodes.map(() => null),
    arrays: [Float32Array.from(sums)],
    shape: [nodes.length],
  };
}
