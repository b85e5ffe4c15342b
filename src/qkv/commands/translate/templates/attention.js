
"use strict";
const SAID = {
  mean: "mean of all",
  hint: "Choose a word of the first line: the words it looked at light up in the second.",
  cross: ["The model says", "and looks at the source"],
  encoder: ["A word of the source", "looks at the source"],
  decoder: ["The model says", "and looks at what it has said so far"],
  told: {
    cross: (word, seen) => `To say “${word}”, the model looked at ${seen}.`,
    encoder: (word, seen) => `“${word}” looked at ${seen}.`,
    decoder: (word, seen) => `To say “${word}”, the model looked back at ${seen}.`,
  },
};
const SCALE = 10000;
const TOLD = 3; // words that the line beneath names
const sentences = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

// What is chosen; `row` is the word that looks.
const state = { sentence: 0, kind: "cross", layer: -1, head: -1, whole: true, row: 0 };

const shown = (value) => (value / SCALE).toFixed(2);
const step = (value) => `w${Math.round((10 * value) / SCALE)}`;

function view() {
  const views = sentences[state.sentence].views;
  return (state.whole ? views[0] : views.at(-1))[state.kind];
}

// The weights of the chosen head; where none is chosen, the mean over all, and over all layers.
function weights({ weights: all }) {
  const layers = state.layer < 0 ? all : [all[state.layer]];
  const heads = layers.flatMap((layer) => (state.head < 0 ? layer : [layer[state.head]]));
  return heads[0].map((_, k) => heads.reduce((sum, head) => sum + head[k], 0) / heads.length);
}

function choices(select, count, names) {
  const options = Array.from({ length: count }, (_, n) => make("option", { value: n, textContent: names(n) }));
  select.replaceChildren(...options);
}

function numbered(select, count, chosen) {
  choices(select, count + 1, (n) => (n ? `${n}` : SAID.mean));
  [...select.options].forEach((option, n) => { option.value = n - 1; });
  select.value = chosen;
}

function fill() {
  const { views } = sentences[state.sentence];
  const all = view().weights;
  state.layer = Math.min(state.layer, all.length - 1);
  state.head = Math.min(state.head, all[0].length - 1);
  numbered($("layer"), all.length, state.layer);
  numbered($("head"), all[0].length, state.head);
  $("whole-label").hidden = views.length < 2;
}

function lookers({ rows }) {
  $("lookers").replaceChildren(...rows.map((word, n) => {
    const button = make("button", { type: "button", textContent: word });
    button.addEventListener("click", () => choose(n));
    button.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by || n + by < 0 || n + by >= rows.length) return;
      event.preventDefault();
      choose(n + by);
      $("lookers").children[n + by].focus();
    });
    return button;
  }));
}

function table({ rows, columns }, values) {
  const head = columns.map((word) => make("th", { scope: "col" }, make("span", { textContent: word })));
  const body = rows.map((word, i) => {
    const cells = columns.map((_, j) => {
      const value = values[i * columns.length + j];
      return make("td", { className: step(value), textContent: shown(value) });
    });
    const row = make("tr", {}, make("th", { scope: "row", textContent: word }), ...cells);
    row.addEventListener("click", () => choose(i));
    return row;
  });
  $("table").replaceChildren(
    make("thead", {}, make("tr", {}, make("td"), ...head)), make("tbody", {}, ...body));
}

// Light up what one word looked at: in the line, in the table, and in words.
function choose(row) {
  state.row = row;
  const { rows, columns } = view();
  const values = drawn.slice(row * columns.length, (row + 1) * columns.length);
  [...$("lookers").children].forEach((button, n) => button.setAttribute("aria-pressed", n === row));
  $("seen").replaceChildren(...columns.map((word, j) => make("li", { className: step(values[j]) },
    make("span", { textContent: word }), make("small", { textContent: shown(values[j]) }))));
  [...$("table").tBodies[0].rows].forEach((line, n) => line.classList.toggle("chosen", n === row));
  const best = columns.map((_, j) => j).sort((a, b) => values[b] - values[a] || a - b).slice(0, TOLD);
  const told = best.filter((j) => shown(values[j]) !== "0.00")
    .map((j) => `“${columns[j]}” ${shown(values[j])}`);
  $("reading").textContent = SAID.told[state.kind](rows[row], told.join(", "));
}

let drawn = [];

function draw() {
  fill();
  const now = view();
  drawn = weights(now);
  [$("says").textContent, $("sees").textContent] = SAID[state.kind];
  lookers(now);
  table(now, drawn);
  choose(Math.min(state.row, now.rows.length - 1));
}

function listen(id, read) {
  $(id).addEventListener("change", ({ target }) => {
    Object.assign(state, read(target));
    draw();
  });
}

if (sentences.length) {
  choices($("sentence"), sentences.length, (n) => `${n + 1}. ${sentences[n].text}`);
  listen("sentence", ({ value }) => ({ sentence: Number(value), row: 0 }));
  listen("kind", ({ value }) => ({ kind: value, row: 0 }));
  listen("layer", ({ value }) => ({ layer: Number(value) }));
  listen("head", ({ value }) => ({ head: Number(value) }));
  listen("whole", ({ checked }) => ({ whole: checked, row: 0 }));
  $("hint").textContent = SAID.hint;
  draw();
  $("live").hidden = false;
  $("still").hidden = true;
}
