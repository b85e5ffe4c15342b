
"use strict";
(() => {
  const TEXTS = {
    mean: "mean of all",
    hint: "Choose a word of the first line: the words it looked at light up in the second.",
    cross: ["The model says", "and looks at the source"],
    encoder: ["A word of the source", "looks at the source"],
    decoder: ["The model says", "and looks at what it has said so far"],
    reading: {
      cross: (word, seen) => `To say “${word}”, the model looked at ${seen}.`,
      encoder: (word, seen) => `“${word}” looked at ${seen}.`,
      decoder: (word, seen) => `To say “${word}”, the model looked back at ${seen}.`,
    },
  };
  const SCALE = 10000;
  const NAMED = 3; // words that the line beneath names

  function make(tag, properties = {}, ...children) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  }

  const formatted = (value) => (value / SCALE).toFixed(2);
  const shade = (value) => `w${Math.round((10 * value) / SCALE)}`;

  // A shadow tree keeps its ids to itself, so many views may stand in one page, and keeps the page's styles out.
  function start(host) {
    const sentences = JSON.parse(host.querySelector("script[type='application/json']").textContent);
    if (!sentences.length) return;
    const root = host.attachShadow({ mode: "open" });
    root.append(
      host.querySelector("style").cloneNode(true), host.querySelector("template").content.cloneNode(true));
    const $ = (id) => root.getElementById(id);

    // What is chosen; `query` is the row of the word that looks, and a layer or head of -1 is the mean of all.
    const state = { sentence: 0, kind: "cross", layer: -1, head: -1, whole: true, query: 0 };
    let weights = [];

    function view() {
      const views = sentences[state.sentence].views;
      return (state.whole ? views[0] : views.at(-1))[state.kind];
    }

    function averaged({ weights: all }) {
      const layers = state.layer < 0 ? all : [all[state.layer]];
      const heads = layers.flatMap((layer) => (state.head < 0 ? layer : [layer[state.head]]));
      return heads[0].map((_, k) => heads.reduce((sum, head) => sum + head[k], 0) / heads.length);
    }

    function setOptions(select, count, name) {
      const options = Array.from({ length: count }, (_, n) => make("option", { value: n, textContent: name(n) }));
      select.replaceChildren(...options);
    }

    function setNumbers(select, count, chosen) {
      setOptions(select, count + 1, (n) => (n ? `${n}` : TEXTS.mean));
      [...select.options].forEach((option, n) => { option.value = n - 1; });
      select.value = chosen;
    }

    function updateControls() {
      const all = view().weights;
      state.layer = Math.min(state.layer, all.length - 1);
      state.head = Math.min(state.head, all[0].length - 1);
      setNumbers($("layer"), all.length, state.layer);
      setNumbers($("head"), all[0].length, state.head);
      $("sentence-label").hidden = sentences.length < 2;
      $("whole-label").hidden = sentences[state.sentence].views.length < 2;
    }

    function drawQueries({ rows }) {
      $("queries").replaceChildren(...rows.map((word, n) => {
        const button = make("button", { type: "button", textContent: word });
        button.addEventListener("click", () => choose(n));
        button.addEventListener("keydown", (event) => {
          const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
          if (!by || n + by < 0 || n + by >= rows.length) return;
          event.preventDefault();
          event.stopPropagation(); // a notebook or a book would turn a page
          choose(n + by);
          $("queries").children[n + by].focus();
        });
        return button;
      }));
    }

    function drawTable({ rows, columns }) {
      const head = columns.map((word) => make("th", { scope: "col" }, make("span", { textContent: word })));
      const body = rows.map((word, i) => {
        const cells = columns.map((_, j) => {
          const value = weights[i * columns.length + j];
          return make("td", { className: shade(value), textContent: formatted(value) });
        });
        const row = make("tr", {}, make("th", { scope: "row", textContent: word }), ...cells);
        row.addEventListener("click", () => choose(i));
        return row;
      });
      $("table").replaceChildren(
        make("thead", {}, make("tr", {}, make("td"), ...head)), make("tbody", {}, ...body));
    }

    // Light up what one word looked at: in the line, in the table, and in words.
    function choose(query) {
      state.query = query;
      const { rows, columns } = view();
      const values = weights.slice(query * columns.length, (query + 1) * columns.length);
      [...$("queries").children].forEach((button, n) => button.setAttribute("aria-pressed", n === query));
      $("keys").replaceChildren(...columns.map((word, j) => make("li", { className: shade(values[j]) },
        make("span", { textContent: word }), make("small", { textContent: formatted(values[j]) }))));
      [...$("table").tBodies[0].rows].forEach((row, n) => row.classList.toggle("chosen", n === query));
      const best = columns.map((_, j) => j).sort((a, b) => values[b] - values[a] || a - b).slice(0, NAMED);
      const seen = best.filter((j) => formatted(values[j]) !== "0.00")
        .map((j) => `“${columns[j]}” ${formatted(values[j])}`);
      $("reading").textContent = TEXTS.reading[state.kind](rows[query], seen.join(", "));
    }

    function draw() {
      updateControls();
      const current = view();
      weights = averaged(current);
      [$("queries-title").textContent, $("keys-title").textContent] = TEXTS[state.kind];
      drawQueries(current);
      drawTable(current);
      choose(Math.min(state.query, current.rows.length - 1));
    }

    function listen(id, read) {
      $(id).addEventListener("change", ({ target }) => {
        Object.assign(state, read(target));
        draw();
      });
    }

    setOptions($("sentence"), sentences.length, (n) => `${n + 1}. ${sentences[n].text}`);
    listen("sentence", ({ value }) => ({ sentence: Number(value), query: 0 }));
    listen("kind", ({ value }) => ({ kind: value, query: 0 }));
    listen("layer", ({ value }) => ({ layer: Number(value) }));
    listen("head", ({ value }) => ({ head: Number(value) }));
    listen("whole", ({ checked }) => ({ whole: checked, query: 0 }));
    $("hint").textContent = TEXTS.hint;
    draw();
  }

  for (const host of document.querySelectorAll(".qkv-attention")) {
    if (!host.shadowRoot) start(host);
  }
})();
