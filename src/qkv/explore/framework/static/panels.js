import { bars } from "./bars.js";
import { diagram } from "./diagram.js";
import { heatmap } from "./heatmap.js";
import { lines } from "./lines.js";
import { scatter } from "./scatter.js";
import { html, textWidth } from "./elements.js";
import { table } from "./table.js";
import { tree } from "./tree.js";

// Panels on a page: each a named figure, or a named number or sentence in a row of them.
const DRAW = { heatmap, bars, lines, scatter, tree, diagram, table };
const WIDE = ["tree", "diagram"];
const READOUT = 14; // px, its letters
// What may change from one value to the next without the panel being drawn anew.
const UPDATED_IN_PLACE = new Set(["arrays", "range", "highlight_row", "mark", "text", "name",
  "box_texts", "arrow_labels", "details"]);

function signature(panel, width) {
  const fixed = Object.entries(panel).filter(([key]) => !UPDATED_IN_PLACE.has(key));
  if (panel.kind === "table") return JSON.stringify(panel.header);
  if (panel.kind === "lines") fixed.push(["x", [...panel.arrays[0]]]);
  return JSON.stringify([width, fixed]);
}

// A named place on the page for one panel; the drawing in it is replaced only when its shape is.
function figurePanel(panel, labels) {
  const name = labels[panel.name] ?? panel.name;
  const readout = html("output", { className: "qkv-readout" });
  const body = html("div", { className: "qkv-body" });
  const figure = html("figure", { className: "qkv-panel" },
    html("figcaption", {}, html("span", { textContent: name }), readout), body);
  figure.dataset.panel = panel.name;
  figure.dataset.kind = panel.kind;
  const isWide = WIDE.includes(panel.kind) || panel.shape?.length === 3;
  if (isWide || (panel.kind !== "scatter" && panel.shape?.[0] > 16)) figure.classList.add("qkv-wide");
  // Room for the longest text, so that the picture stays where it is while one points at its parts.
  const reserve = (texts) => {
    const lines = Math.ceil((1.1 * Math.max(...texts.map((text) => textWidth(text, READOUT)))) / width);
    readout.dataset.hint = labels.point ?? "Point at a part, or walk there with the arrow keys.";
    readout.style.minHeight = `${1.5 * Math.min(lines, 5)}em`;
  };
  const setReadout = (text) => { readout.textContent = text ?? ""; };
  const drawings = new Map(); // kept, so that a slider that goes back finds them made
  let width = 0;
  function measure() {
    if (width !== body.clientWidth) drawings.clear();
    width = body.clientWidth;
  }
  return { element: figure, measure, update(next) {
    const key = signature(next, width);
    if (!drawings.has(key)) drawings.set(key, DRAW[next.kind](next, width, labels, setReadout));
    const drawing = drawings.get(key);
    if (body.firstChild !== drawing.element) body.replaceChildren(drawing.element);
    if (drawing.longest) reserve(drawing.longest);
    const summary = drawing.update(next);
    drawing.element.setAttribute("aria-label", summary ? `${name}: ${summary}` : name);
    return summary && `${name}: ${summary}`;
  } };
}

// Text that Python formatted: a number stands large, a sentence as a sentence.
function textPanel(panel, labels) {
  const name = labels[panel.name] ?? panel.name;
  const value = html("span", { className: "qkv-text-value" });
  const element = html("p", { className: "qkv-text" }, html("span", { textContent: name }), value);
  element.dataset.panel = panel.name;
  element.dataset.kind = "text";
  return { element, measure() {}, update(next) {
    value.textContent = next.text;
    element.classList.toggle("qkv-sentence", next.text.length > 14);
    return `${name}: ${next.text}`;
  } };
}

/**
 * Put panels into a container, undrawn.
 * @param {object[]} panels as `panelsAt` returns them
 * @param {object} labels words, from Python
 * @param {Element} container that stands on the page
 * @returns {{element: Element, measure: () => void, update: (panel: object) => string}[]} one for each
 *   panel: `measure` takes its width, `update` draws it and returns a summary for the ear
 */
export function createPanels(panels, labels, container) {
  let textRow = null; // numbers that follow each other share a row
  return panels.map((panel) => {
    const created = panel.kind === "text" ? textPanel(panel, labels) : figurePanel(panel, labels);
    if (panel.kind !== "text") textRow = null;
    else if (!textRow) container.append((textRow = html("div", { className: "qkv-texts qkv-wide" })));
    (panel.kind === "text" ? textRow : container).append(created.element);
    return created;
  });
}
