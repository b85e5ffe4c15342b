import { button } from "./sentence_form.js";
import { html } from "../../framework/static/elements.js";

// One line for what there is to say, with buttons for what can be done about it.

/**
 * @returns {{element: Element, say: (text: string, actions?: [string, () => void][]) => void,
 *   replace: (old: string, text: string) => void}} `replace` keeps what was said since the old text
 */
export function statusLine() {
  const line = html("p", { className: "qkv-status", role: "status" });
  const actions = html("div", { className: "qkv-actions" });
  return { element: html("div", { className: "qkv-said" }, line, actions), say(text, offered = []) {
    line.textContent = text;
    actions.replaceChildren(...offered.map(([name, act]) => button(name, act)));
  }, replace(old, text) {
    if (line.textContent === old) this.say(text);
  } };
}
