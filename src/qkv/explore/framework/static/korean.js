// lang="ko" on Korean that an explorer draws, for screen readers and fonts; what the page was built
// with is marked by the book itself.
const HANGUL = /\p{Script=Hangul}/u;
const KOREAN = /(\p{Script=Hangul}+(?:[\s.,!?-]+\p{Script=Hangul}+)*)/u;

export const holdsKorean = (text) => HANGUL.test(text);

export function markKorean(root) {
  for (const element of root.querySelectorAll("[lang=ko]")) {
    if (!holdsKorean(element.textContent)) element.removeAttribute("lang"); // drawn anew, in English
  }
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) texts.push(walker.currentNode);
  for (const text of texts) {
    const around = text.parentElement;
    if (!holdsKorean(text.data) || around.closest("[lang=ko], script")) continue;
    // In a picture every label is a text of its own; in a sentence the Korean words alone are marked.
    if (around.namespaceURI !== document.documentElement.namespaceURI) around.setAttribute("lang", "ko");
    else text.replaceWith(...text.data.split(KOREAN).map((part, i) => (i % 2 ? korean(part) : part)));
  }
}

function korean(words) {
  const span = document.createElement("span");
  return Object.assign(span, { lang: "ko", textContent: words });
}
