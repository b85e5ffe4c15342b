// Mends five things in Sphinx's search page (searchtools.js, which holds Search).
{
  const MARKS = "sphinx_highlight_terms"; // where the next page looks for words to mark
  const UNREAD = ".headerlink, script, style, noscript, button, .katex-html, annotation, .qkv-live-bar";

  // A formula in a line of text: KaTeX's MathML, written as one would type it.
  const WRITTEN = {
    msub: (base, low) => `${base}_${low}`,
    msup: (base, high) => `${base}^${high}`,
    msubsup: (base, low, high) => `${base}_${low}^${high}`,
    mfrac: (over, under) => `${over}/${under}`,
    msqrt: (...parts) => `√${parts.join("")}`,
  };

  function written(node) {
    if (!node.children.length) return node.textContent;
    const parts = [...node.children].map(written);
    return WRITTEN[node.localName]?.(...parts) ?? parts.join("");
  }

  // What an excerpt is cut from: the text alone, not the page's buttons.
  Search.htmlToText = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    page.querySelectorAll(UNREAD).forEach((part) => part.remove());
    for (const formula of page.querySelectorAll("math")) formula.replaceWith(written(formula));
    const text = page.querySelector("article");
    return (anchor && text.querySelector(anchor) || text).textContent;
  };

  // A title is found by the words as they are typed, but for what Korean hangs on the last (korean_search.py).
  const parse = Search._parseQuery;
  Search._parseQuery = (query) => parse(globalThis.withoutParticle?.(query) ?? query);

  // Of results that are as good, chapters come first, in reading order: the earliest introduces the word.
  Scorer.score = ([page, , , , score]) => {
    const [, number] = page.match(/^chapters\/(\d+)_/) ?? [];
    return score + (number ? 0.5 - number / 100 : 0);
  };

  // The index is searched for a word as a name in an object, where `constructor` and `__proto__` are
  // names of the language. These objects keep the one name that Sphinx asks them for.
  const { hasOwnProperty } = Object.prototype;
  const WORDS = Object.assign(Object.create(null), { hasOwnProperty });

  // Sphinx leaves the words for whichever page opens next; here, for the result that is chosen.
  const perform = Search.query;
  Search.query = (query) => {
    for (const words of [Search._index.terms, Search._index.titleterms]) {
      Object.setPrototypeOf(words, WORDS);
    }
    perform(query);
    const words = localStorage.getItem(MARKS);
    localStorage.removeItem(MARKS);
    Search.output.addEventListener("click", ({ target }) => {
      if (target.closest("a")) localStorage.setItem(MARKS, words);
    });
  };
}
