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
 * @param {object} acts
 * @param {(text: string) => object[]} acts.suggest as `combobox` takes it
 * @param {(text: string) => void} acts.submit
 * @param {() => void} acts.stop
 * @param {() => void} acts.refuse as `combobox` takes it
 * @returns {{element: Element, text: string, submitText: (text: string) => void, showOwn: (own: boolean) => void,
 *   showStop: (works: boolean) => void, showsStop: boolean}} showStop puts one button in the place of the other
 */
export function sentenceForm(labels, { start, examples }, { suggest, submit, stop, refuse }) {
  const field = combobox(labels.field, labels.suggestions, suggest, refuse);
  field.input.value = start;
  const send = html("button", { type: "submit", textContent: labels.translate, className: "qkv-button qkv-primary" });
  const end = button(labels.stop, stop, "qkv-button qkv-stop");
  end.hidden = true;
  const submitText = (text) => {
    field.input.value = text;
    submit(text);
  };
  const row = html("div", { className: "qkv-examples", role: "group", ariaLabel: labels.examples },
    html("span", { textContent: labels.examples }), ...examples.map((text) => button(text, () => submitText(text))));
  const element = html("form", { className: "qkv-sentence-form" }, field.element, send, end, row);
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    field.close();
    submit(field.input.value);
  });
  const showOwn = (own) => { // another model may read another language
    field.input.labels[0].textContent = own ? labels["own field"] : labels.field;
    row.hidden = own;
  };
  const showStop = (works) => {
    const [shown, hidden] = works ? [end, send] : [send, end];
    const hadFocus = hidden === document.activeElement;
    [shown.hidden, hidden.hidden] = [false, true];
    if (hadFocus) shown.focus();
  };
  return {
    element, submitText, showOwn, showStop,
    get showsStop() { return !end.hidden; },
    get text() { return field.input.value; },
  };
}
