import { button } from "./sentence_form.js";
import { checkbox, choice, slider } from "../../framework/static/native_controls.js";
import { html } from "../../framework/static/elements.js";

// Native controls for what `controlsOf` describes. A control stays the same element while its name and
// its texts stay, so that it keeps the keyboard's focus.

function switches(label, texts, act) {
  let values = texts.map(() => false);
  // Kept at once: another box may be pressed before what this one changes is shown.
  const turn = (i) => act((values = values.map((on, k) => (k === i ? !on : on))));
  const boxes = texts.map((text, i) => checkbox(text, () => turn(i)));
  const element = html("fieldset", { className: "qkv-choice" }, html("legend", { textContent: label }),
    html("div", { className: "qkv-switches" }, ...boxes.map((box) => box.element)));
  return { element, show(next) {
    values = next;
    boxes.forEach((box, i) => box.show(next[i]));
  } };
}

function pressed(label, texts, act) {
  return { element: button(label, () => act()), show() {} };
}

const KINDS = { slider, choice, switches, button: pressed };

/**
 * @param {(control: object, value: number | boolean[] | undefined) => void} moved
 * @returns {{element: Element, show: (controls: object[]) => void}}
 */
export function controlRow(moved) {
  const element = html("div", { className: "qkv-controls" });
  const kept = new Map(); // by what is drawn of a control
  const drawnAs = ({ name, kind, label, texts }) => JSON.stringify([name, kind, label, texts]);

  function drawn(control) {
    const key = drawnAs(control);
    if (!kept.has(key)) {
      const { kind, label, texts } = control;
      const made = { ...KINDS[kind](label, texts, (value) => moved(made.control, value)) };
      kept.set(key, made);
    }
    return Object.assign(kept.get(key), { control });
  }

  return { element, show(controls) {
    const made = controls.map(drawn);
    for (const key of kept.keys()) if (!controls.some((control) => drawnAs(control) === key)) kept.delete(key);
    // Only what is new is put in, and what is gone is taken out: moving an element would take its focus.
    for (const child of [...element.children]) if (!made.some((one) => one.element === child)) child.remove();
    made.forEach((one, i) => {
      if (element.children[i] !== one.element) element.insertBefore(one.element, element.children[i] ?? null);
      one.show(one.control.value);
    });
  } };
}
