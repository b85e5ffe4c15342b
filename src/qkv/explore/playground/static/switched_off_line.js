import { attentionText } from "./attentions.js";
import { button } from "./sentence_form.js";
import { formatText } from "./format_text.js";
import { html } from "../../framework/static/elements.js";

// While something is switched off, a line says what, and a button switches all on.

/** What is off, in words: heads by their attention, then positions by their part. */
export function whatIsOff({ switchedOff, positions }, translator, labels) {
  const heads = Object.entries(switchedOff).filter(([, off]) => off.length).map(([name, off]) => {
    const part = attentionText(name, translator.model.config, labels);
    return formatText(labels["heads off"], { part, heads: off.map((head) => head + 1).join(", ") });
  });
  const parts = Object.keys(positions).filter((part) => !positions[part]);
  return [...heads, ...parts.map((part) => formatText(labels["positions off"], { part: labels[part] }))].join("; ");
}

/** @returns {{element: Element, show: (settings: object) => void}} */
export function switchedOffLine(labels, switchAllOn) {
  const line = html("span");
  const element = html("p", { className: "qkv-off", hidden: true }, line, button(labels["switch all on"], switchAllOn));
  return { element, show(settings, translator) {
    const what = whatIsOff(settings, translator, labels);
    element.hidden = !what;
    line.textContent = what && formatText(labels.off, { what });
  } };
}
