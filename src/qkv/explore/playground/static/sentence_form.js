import { combobox } from "./combobox.js";
import { html } from "../../framework/static/elements.js";

// The field for a sentence, its button, and examples to press.

/** A plain button. */
export function button(text, onclick, className = "qkv-button") {
  return html("button", { type: "button", textContent: text, className, onclick });
}

/**
 * @param {object} labels words, from Python
 * @param {{start: string, examples: string[]}} sentences what stands in the field, and what can be put there
 * @param {(text: string) => object[]} suggest as `combobox` takes it
 * @param {(text: string) => void} submit
 * @returns {{element: Element, text: string, submitText: (text: string) => void, showOwn: (own: boolean) => void}}
 */
export function sentenceForm(labels, { start, examples }, suggest, submit) {
  const field = combobox(labels.field, labels.suggestions, suggest);
  field.input.value = start;
  const send = html("button", { type: "submit", textContent: labels.translate, className: "qkv-button qkv-primary" });
  const submitText = (text) => {
    field.input.value = text;
    submit(text);
  };
  const row = html("div", { className: "qkv-examples", role: "group", ariaLabel: labels.examples },
    html("span", { textContent: labels.examples }), ...examples.map((text) => button(text, () => submitText(text))));
  const element = html("form", { className: "qkv-sentence-form" }, field.element, send, row);
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    field.close();
    submit(field.input.value);
  });
  const showOwn = (own) => { // another model may read another language
    field.input.labels[0].textContent = own ? labels["own field"] : labels.field;
    row.hidden = own;
  };
  return { element, submitText, showOwn, get text() { return field.input.value; } };
}
