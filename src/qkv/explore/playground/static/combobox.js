import { html, setAttributes } from "../../framework/static/elements.js";
import { nativeInput } from "../../framework/static/native_controls.js";

// A text field that suggests words while one types: an editable combobox with list autocomplete and
// manual selection, as the ARIA Authoring Practices describe it. Arrow keys walk through the words, Enter
// takes one, Escape puts them away, Tab goes on; a finger or a mouse takes one by pressing it.

const TOO_MANY_MARKS = /\p{M}{31}/u; // Unicode Annex 15 allows 30; of more, a browser needs the square in time
const LINE_BREAKS = /[\r\n\u2028\u2029]+/g;

/** The text with a suggested word: in place of the word that is being typed, or behind it. */
export function withWord(text, { word, completes }) {
  const kept = completes ? text.replace(/\S+$/, "") : text.replace(/\s*$/, " ");
  return `${kept.trimStart()}${word} `;
}

/**
 * @param {string} label of the field
 * @param {string} listLabel of the list of words
 * @param {(text: string) => {word: string, completes: boolean}[]} suggest
 * @param {() => void} refuse called where a text has too many marks on a letter: it is left out
 * @returns {{element: Element, input: HTMLInputElement, close: () => void}}
 */
export function combobox(label, listLabel, suggest, refuse) {
  const input = nativeInput("input", { type: "text", autocomplete: "off", spellcheck: false });
  const list = html("ul", { className: "qkv-suggestions", id: `${input.id}-list`, hidden: true });
  setAttributes(list, { role: "listbox", "aria-label": listLabel });
  setAttributes(input, { role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false",
    "aria-controls": list.id, autocapitalize: "off", enterkeyhint: "go" });
  let [words, active] = [[], -1];

  function choose(place) {
    active = place;
    [...list.children].forEach((option, i) => option.setAttribute("aria-selected", String(i === place)));
    if (place < 0) input.removeAttribute("aria-activedescendant");
    else input.setAttribute("aria-activedescendant", list.children[place].id);
    list.children[place]?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  function show(suggestions) {
    words = suggestions;
    list.replaceChildren(...words.map(({ word }, i) => {
      const option = html("li", { id: `${list.id}-${i}`, textContent: word, onclick: () => take(i) });
      return setAttributes(option, { role: "option" });
    }));
    list.hidden = !words.length;
    input.setAttribute("aria-expanded", String(!list.hidden));
    choose(-1);
  }

  const atEnd = () => input.selectionStart === input.value.length;
  const open = () => show(atEnd() ? suggest(input.value) : []);
  const close = () => show([]);

  function take(place) {
    input.value = withWord(input.value, words[place]);
    input.scrollLeft = input.scrollWidth;
    open();
  }

  function walk(step) {
    if (list.hidden) open();
    if (words.length) choose((Math.max(active, step < 0 ? 0 : -1) + step + words.length) % words.length);
  }

  const KEYS = {
    ArrowDown: () => walk(1),
    ArrowUp: () => walk(-1),
    Enter: () => active >= 0 && (take(active), true),
    Escape: () => !list.hidden && (close(), true),
  };
  input.addEventListener("keydown", (event) => {
    event.stopPropagation(); // a notebook would take the keys for itself
    if (event.isComposing) return;
    if (KEYS[event.key] && KEYS[event.key]() !== false) event.preventDefault();
    else if (active >= 0) choose(-1); // any other key is for the text
  });
  input.addEventListener("beforeinput", (event) => {
    const { value, selectionStart, selectionEnd } = input;
    const added = event.data ?? event.dataTransfer?.getData("text") ?? "";
    if (!TOO_MANY_MARKS.test(value.slice(0, selectionStart) + added + value.slice(selectionEnd))) return;
    event.preventDefault();
    refuse();
  });
  input.addEventListener("paste", (event) => {
    const text = event.clipboardData.getData("text");
    if (text.search(LINE_BREAKS) < 0 || TOO_MANY_MARKS.test(text)) return; // `beforeinput` refuses the latter
    event.preventDefault(); // a field of one line would join the words around a break
    input.setRangeText(text.replace(LINE_BREAKS, " "), input.selectionStart, input.selectionEnd, "end");
    open();
  });
  for (const event of ["input", "click"]) input.addEventListener(event, open);
  input.addEventListener("blur", close);
  list.addEventListener("pointerdown", (event) => event.preventDefault()); // the field keeps the focus
  const name = html("label", { htmlFor: input.id, textContent: label });
  return { element: html("div", { className: "qkv-field" }, name, input, list), input, close };
}
