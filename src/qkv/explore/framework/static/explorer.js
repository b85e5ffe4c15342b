import { bars } from "./bars.js";
import { diagram } from "./diagram.js";
import { dataView, panelsAt, pointOf } from "./frames.js";
import { heatmap } from "./heatmap.js";
import { labelGroup } from "./jupyter_controls.js";
import { kernelInputs } from "./kernel_inputs.js";
import { holdsKorean, markKorean } from "./korean.js";
import { lines } from "./lines.js";
import { scatter } from "./scatter.js";
import { html, textWidth } from "./elements.js";
import { table } from "./table.js";
import { tree } from "./tree.js";

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

function createPanels(panels, labels, container) {
  let textRow = null; // numbers that follow each other share a row
  return panels.map((panel) => {
    const created = panel.kind === "text" ? textPanel(panel, labels) : figurePanel(panel, labels);
    if (panel.kind !== "text") textRow = null;
    else if (!textRow) container.append((textRow = html("div", { className: "qkv-texts qkv-wide" })));
    (panel.kind === "text" ? textRow : container).append(created.element);
    return created;
  });
}

// The switch "d_k follows d_model / heads": its leaders move d_k; a hand on d_k lets go.
function followListeners(model) {
  const rule = model.get("follow");
  if (!rule) return [];
  const follower = `i_${rule.axis}`;
  const leaders = [rule.leader].flat().map((name) => `i_${name}`);
  const place = () => leaders.reduce((places, leader) => places[model.get(leader)], rule.places);
  const follow = () => model.get("following") && setAndSave(model, follower, place());
  const release = () => {
    if (model.get(follower) !== place()) setAndSave(model, "following", false);
  };
  const moved = leaders.map((leader) => [`change:${leader}`, follow]);
  return [["change:following", follow], ...moved, [`change:${follower}`, release]];
}

function setAndSave(model, key, value) {
  if (model.get(key) === value) return;
  model.set(key, value);
  model.save_changes();
}

// Off the grid a slider keeps its place, but its number is the one that is drawn. On the built page
// nothing is off the grid.
function setReadouts(root, texts) {
  const controls = root.closest(".qkv-explore")?.querySelectorAll(".qkv-controls > *") ?? [];
  texts.forEach((text, i) => {
    const readout = controls[i]?.querySelector(".widget-readout");
    if (readout) readout.textContent = text;
  });
}

function render({ model, el }) {
  const [axes, labels, title] = ["axes", "labels", "title"].map((key) => model.get(key));
  const grid = html("div", { className: "qkv-panels" });
  const note = html("p", { className: "qkv-note", role: "status" });
  const announcement = html("output", { className: "qkv-announcement", ariaLive: "polite" });
  const root = html("div", { className: "qkv-explorer" }, grid, note, announcement);
  root.dataset.source = model.get("source");

  const places = () => axes.map((axis) => Number(model.get(`i_${axis.name}`)));
  const values = () => Object.fromEntries(axes.map((axis, i) => [axis.name, axis.values[places()[i]]]));
  const text = (axis, value) => axis.texts[axis.values.indexOf(value)] ?? String(value).replace("-", "−");
  const texts = (at) => axes.map((axis) => text(axis, at[axis.name]));
  const setting = (at) => texts(at).map((value, i) => `${axes[i].label} ${value}`).join(", ");

  const korean = holdsKorean(JSON.stringify([model.get("frames_layout"), axes, labels]));
  let shown = null;
  let panels = [];
  let width = 0;
  // Only a change of size measures: a layout forced by every move would cost more than the drawing.
  function fit() {
    labelGroup(root, title);
    width = grid.clientWidth;
    if (width && !panels.length) panels = createPanels(shown, labels, grid);
    for (const panel of panels) panel.measure();
    draw();
  }

  function draw() {
    if (!width) return; // folded away: drawn when it opens
    const summaries = shown.map((panel, i) => panels[i].update(panel));
    const ofTexts = shown.map((panel, i) => (panel.kind === "text" ? summaries[i] : "")).filter(Boolean);
    const parts = [note.textContent || setting(values()), ...(ofTexts.length ? ofTexts : summaries)];
    announcement.textContent = parts.join(". ");
    if (korean) markKorean(root.closest(".qkv-explore") ?? root);
  }

  const inputs = kernelInputs(model, labels, values, (layout, bytes, at) => {
    layout.ranges = model.get("frames_layout").ranges; // off the grid, but on its scales
    shown = panelsAt(layout, bytes, 0);
    note.textContent = `${labels.computed} ${setting(at)}`;
    root.dataset.values = JSON.stringify(at);
    setReadouts(root, texts(at));
    draw();
  }, (text) => { note.textContent = text; });
  root.insertBefore(inputs.element, note);

  function move() {
    note.textContent = "";
    shown = panelsAt(model.get("frames_layout"), dataView(model.get("frames")), pointOf(axes, places()));
    root.dataset.values = JSON.stringify(values());
    inputs.showValues(values());
    setReadouts(root, texts(values()));
    draw();
  }

  const listeners = [...followListeners(model), ...axes.map((axis) => [`change:i_${axis.name}`, move])];
  for (const [event, act] of listeners) model.on(event, act);
  const size = new ResizeObserver(fit);
  el.append(root);
  move();
  size.observe(grid);
  return () => {
    size.disconnect();
    inputs.stop();
    for (const [event, act] of listeners) model.off(event, act);
  };
}

export default { render };
