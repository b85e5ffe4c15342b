// Marks beside links to chapters: in the contents, in the table of chapters, on the map.
import { chapterAt, shortly, standing } from "./chapters.js";

const LINKS = ".bd-sidebar-primary nav a, .qkv-chapters a";
const BOXES = "svg a.qkv-box";

function mark(text) {
  const element = Object.assign(document.createElement("span"), { className: "qkv-progress-mark", textContent: text.signs, title: text.words });
  element.role = "img";
  element.ariaLabel = text.words;
  return element;
}

export function markLinks(progress) {
  for (const link of document.querySelectorAll(LINKS)) {
    const chapter = chapterAt(link.pathname);
    if (!chapter) continue;
    link.querySelector(".qkv-progress-mark")?.remove();
    const text = shortly(standing(chapter, progress));
    if (text) link.append(" ", mark(text));
  }
  markBoxes(document, progress);
}

// Of a box of the map: signs on its edge, where no label is; for the ear, its description.
export function markBoxes(root, progress) {
  root.querySelectorAll(BOXES).forEach((box, n) => {
    const chapter = chapterAt(new URL(box.href.baseVal, location).pathname);
    const id = `qkv-progress-mark-${n}`;
    box.parentNode.querySelector(`#${id}`)?.remove();
    box.removeAttribute("aria-describedby");
    const text = chapter && shortly(standing(chapter, progress));
    if (!text) return;
    const [x, y, width] = ["x", "y", "width"].map((name) => Number(box.querySelector("rect").getAttribute(name)));
    const sign = document.createElementNS("http://www.w3.org/2000/svg", "text");
    // Behind the box, not in it: its text is the name that one speaks to follow the link.
    const attributes = { id, class: "qkv-progress-mark", "aria-hidden": true, "aria-label": text.words, x: x + width - 6, y };
    for (const [name, value] of Object.entries(attributes)) sign.setAttribute(name, value);
    sign.textContent = text.signs;
    box.after(sign);
    box.setAttribute("aria-describedby", id);
  });
}
