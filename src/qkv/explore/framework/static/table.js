import { html } from "./elements.js";

// A table needs no picture: a screen reader and the eye read the same cells. A column without a head
// holds the heads of the rows.
export function table(panel) {
  const cell = (text, i) => panel.header[i]
    ? html("td", { textContent: text }) : html("th", { scope: "row", textContent: text });
  const body = html("tbody");
  const head = html("thead", {}, html("tr", {}, ...panel.header.map((text) =>
    text ? html("th", { scope: "col", textContent: text }) : html("td")))); // a corner heads nothing
  const element = html("table", { className: "qkv-table" }, head, body);
  return { element, update(next) {
    body.replaceChildren(...next.rows.map((row) => html("tr", {}, ...row.map(cell))));
    return "";
  } };
}
