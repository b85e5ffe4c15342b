import { html } from "./elements.js";

// Native controls that look like an explorer's: each with its name, and `show` to set its value.

let inputCount = 0;
const scriptId = Math.random().toString(36).slice(2); // stored and live explorers share a page

const uniqueId = (kind) => `qkv-${kind}-${scriptId}-${inputCount++}`;

/** An input or the like with an id of its own, whose keys JupyterLab leaves alone. */
export function nativeInput(tag, properties) {
  const input = html(tag, { id: uniqueId("input"), ...properties });
  input.dataset.lmSuppressShortcuts = "true";
  return input;
}

/** A slider over `texts`; `act` hears the index that it is moved to. */
export function slider(label, texts, act) {
  const input = nativeInput("input", { type: "range", min: 0, max: texts.length - 1, step: 1 });
  const value = html("output", { htmlFor: input.id });
  input.addEventListener("input", () => act(Number(input.value)));
  const name = html("label", { htmlFor: input.id, textContent: label });
  return { element: html("div", { className: "qkv-slider" }, name, value, input), show(index) {
    input.value = index;
    input.setAttribute("aria-valuetext", texts[index]);
    input.style.setProperty("--at", input.value / input.max);
    value.textContent = texts[index];
  } };
}

/** A row of buttons, one of them pressed; `act` hears the index of the one that is. */
export function choice(label, texts, act) {
  const name = uniqueId("choice");
  const inputs = texts.map((_, i) => nativeInput("input", { type: "radio", name, onchange: () => act(i) }));
  const buttons = html("div", { className: "qkv-buttons" },
    ...inputs.map((input, i) => html("label", {}, input, html("span", { textContent: texts[i] }))));
  const legend = html("legend", { textContent: label });
  const element = html("fieldset", { className: "qkv-choice", role: "radiogroup" }, legend, buttons);
  return { element, show: (index) => inputs.forEach((input, i) => { input.checked = i === Number(index); }) };
}

/** A checkbox; `act` hears whether it is checked. */
export function checkbox(label, act) {
  const input = nativeInput("input", { type: "checkbox", onchange: () => act(input.checked) });
  const element = html("label", { className: "qkv-switch" }, input, label);
  return { element, show: (on) => { input.checked = on; } };
}
