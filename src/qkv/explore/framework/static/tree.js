import { formatCount, formatExact, formatNumber } from "./number_format.js";
import { makeSelectable } from "./mark_selection.js";
import { createPicture, FONT, label, setAttributes, svg, textWidth } from "./elements.js";

const GAP = { across: 34, down: 9 }; // px between columns, between rows
const LINE = 15;
const MARKS = { kept: "", pruned: "×", finished: "✓" };

const stateOf = (panel, i) => panel.states[i] ?? "";
const title = (panel, i) => [MARKS[stateOf(panel, i)], panel.labels[i]].filter(Boolean).join(" ");

function amount(panel, i) {
  if (panel.texts[i] !== null) return panel.texts[i];
  const values = [...panel.arrays[0]];
  const whole = values.every((v) => Number.isNaN(v) || Number.isInteger(v));
  return Number.isNaN(values[i]) ? "" : whole ? formatCount(values[i]) : formatNumber(values[i], 2);
}

function childrenOf(panel) {
  const children = panel.labels.map(() => []);
  panel.parents.forEach((parent, i) => { if (parent >= 0) children[parent].push(i); });
  return children;
}

// Leaves take one row each, every other node the middle of its children.
function rowsOf(children) {
  const rows = [];
  let next = 0;
  const visit = (i) => {
    children[i].forEach(visit);
    rows[i] = children[i].length ? (rows[children[i][0]] + rows[children[i].at(-1)]) / 2 : next++;
  };
  visit(0);
  return { rows, leaves: next };
}

function computeLayout(panel) {
  const children = childrenOf(panel);
  const { rows, leaves } = rowsOf(children);
  const depth = [];
  panel.parents.forEach((parent, i) => { depth[i] = parent < 0 ? 0 : depth[parent] + 1; });
  const amounts = panel.labels.map((_, i) => amount(panel, i));
  const high = LINE * (amounts.some(Boolean) ? 2 : 1) + 8;
  const wide = panel.labels.map((_, i) => 14 + Math.max(16, textWidth(title(panel, i), FONT),
    amounts[i] && textWidth(amounts[i], FONT), Number.isNaN(panel.arrays[0][i]) ? 0 : textWidth("−00.00", 11)));
  const columns = Array.from({ length: Math.max(...depth) + 1 }, (_, d) =>
    Math.max(...wide.filter((_, i) => depth[i] === d)));
  const left = columns.map((_, d) => 2 + columns.slice(0, d).reduce((sum, w) => sum + w + GAP.across, 0));
  const states = Object.keys(MARKS).filter((state) => panel.states.includes(state));
  const top = states.length ? 26 : 2;
  const place = (i) => ({ x: left[depth[i]], y: top + rows[i] * (high + GAP.down), width: columns[depth[i]], height: high });
  return { children, depth, states, places: panel.labels.map((_, i) => place(i)),
    width: Math.ceil(left.at(-1) + columns.at(-1) + 4), height: Math.ceil(top + leaves * (high + GAP.down)) };
}

function legend(layout, labels) {
  let x = 2;
  return layout.states.map((state) => {
    const text = [MARKS[state], labels[state] ?? state].filter(Boolean).join(" ");
    const entry = svg("g", { class: "qkv-key-entry", "data-state": state },
      svg("rect", { x, y: 3, width: 18, height: 12, rx: 3 }), label(text, { x: x + 25, y: 9 }));
    x += 25 + textWidth(text, FONT) + 16;
    return entry;
  });
}

function edge(layout, panel, i) {
  const [from, to] = [layout.places[panel.parents[i]], layout.places[i]];
  const [x1, y1, x2, y2] = [from.x + from.width, from.y + from.height / 2, to.x, to.y + to.height / 2];
  const middle = (x1 + x2) / 2;
  return svg("path", { class: "qkv-edge", "data-state": stateOf(panel, i), d: `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}` });
}

function node(panel, layout, i) {
  const { x, y, width, height } = layout.places[i];
  const middle = { x: x + width / 2, "text-anchor": "middle" };
  const value = label("", { ...middle, y: y + height - LINE / 2 - 4, class: "qkv-label qkv-worth" });
  const name = label(title(panel, i), { ...middle, y: amount(panel, i) ? y + LINE / 2 + 4 : y + height / 2, class: "qkv-label qkv-name" });
  const group = svg("g", { class: "qkv-node", "data-node": i, "data-label": panel.labels[i],
    "data-parent": panel.parents[i], "data-state": stateOf(panel, i) },
  svg("rect", { x, y, width, height, rx: 6 }), name, value);
  return { group, value };
}

function build(panel, layout, labels) {
  const picture = createPicture(layout.width, layout.height);
  const edges = panel.parents.map((parent, i) => (parent < 0 ? null : edge(layout, panel, i)));
  const nodes = panel.labels.map((_, i) => node(panel, layout, i));
  picture.append(...legend(layout, labels), ...edges.filter(Boolean), ...nodes.map(({ group }) => group));
  return { picture, edges, nodes };
}

function pathTo(panel, i) {
  return i < 0 ? [] : [...pathTo(panel, panel.parents[i]), i];
}

function reading(panel, i, labels) {
  const state = stateOf(panel, i);
  const worth = amount(panel, i);
  return pathTo(panel, i).map((k) => panel.labels[k]).join(" → ") + (worth && `: ${worth}`)
    + (state && `, ${labels[state] ?? state}`);
}

// Left to the parent, right to the first child, up and down among nodes of the same depth.
function keys(panel, layout) {
  const beside = (step) => (i) => {
    if (i === null) return 0;
    const column = panel.labels.map((_, k) => k).filter((k) => layout.depth[k] === layout.depth[i])
      .sort((a, b) => layout.places[a].y - layout.places[b].y);
    return column[column.indexOf(i) + step] ?? i;
  };
  return { ArrowLeft: (i) => (i === null ? 0 : Math.max(0, panel.parents[i])),
    ArrowRight: (i) => (i === null ? 0 : layout.children[i][0] ?? i),
    ArrowUp: beside(-1), ArrowDown: beside(1), Home: () => 0, End: () => panel.labels.length - 1 };
}

function summary(panel, labels) {
  const values = [...panel.arrays[0]];
  const finite = values.filter((v) => !Number.isNaN(v));
  const best = finite.length ? `; ${labels.largest} ${reading(panel, values.indexOf(Math.max(...finite)), labels)}` : "";
  return `${values.length} ${labels.nodes ?? "nodes"}${best}`;
}

export function tree(first, width, labels, setReadout) {
  const layout = computeLayout(first);
  const { picture, edges, nodes } = build(first, layout, labels);
  let panel = first;
  const nodeUnder = (event) => {
    const under = event.target.closest(".qkv-node");
    return under ? Number(under.dataset.node) : null;
  };
  const refreshSelection = makeSelectable(picture, keys(first, layout), nodeUnder, (at) => {
    const path = at === null ? [] : pathTo(panel, at);
    nodes.forEach(({ group }, i) => {
      group.classList.toggle("qkv-path", path.includes(i));
      group.classList.toggle("qkv-on", i === at);
      edges[i]?.classList.toggle("qkv-path", path.includes(i));
    });
    if (at !== null && picture.matches(":focus-visible")) nodes[at].group.scrollIntoView({ block: "nearest", inline: "nearest" });
    setReadout(at === null ? null : reading(panel, at, labels));
  });
  return { element: picture, longest: first.labels.map((_, i) => reading(first, i, labels)), update(next) {
    panel = next;
    nodes.forEach(({ group, value }, i) => {
      group.dataset.value = panel.texts[i] ?? formatExact(panel.arrays[0][i]);
      value.textContent = amount(panel, i);
    });
    refreshSelection();
    return summary(panel, labels);
  } };
}
