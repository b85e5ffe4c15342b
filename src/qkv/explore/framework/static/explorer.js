import { dataView, panelsAt, pointOf } from "./frames.js";
import { labelGroup } from "./jupyter_controls.js";
import { kernelInputs } from "./kernel_inputs.js";
import { holdsKorean, markKorean } from "./korean.js";
import { checkbox, choice, nativeInput, slider } from "./native_controls.js";
import { createPanels } from "./panels.js";
import { formatCount, formatNumber } from "./number_format.js";
import { html, setAttributes } from "./elements.js";

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

// `render` is what anywidget asks for. The rest is for the other widgets of a page of the book.
const shared = { checkbox, choice, createPanels, formatCount, formatNumber, html, labelGroup, markKorean,
  nativeInput, setAttributes, slider };

export default { render, ...shared };
