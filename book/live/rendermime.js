// Jupyter's output renderer, with KaTeX for formulas and marked for Markdown. Both are loaded when the
// first output that needs them comes.
const ENVIRONMENTS = ["equation", "equation*", "align", "align*", "gather", "gather*", "alignat", "alignat*"];
const DISPLAY = [["$$", "$$"], ["\\[", "\\]"], ...ENVIRONMENTS.map((env) => [`\\begin{${env}}`, `\\end{${env}}`])];
const PAIRS = [...DISPLAY, ["\\(", "\\)"], ["$", "$"]];
const delimiters = PAIRS.map(([left, right], n) => ({ left, right, display: n < DISPLAY.length }));

export function makeRendermime() {
  // With an address thebe keeps its LaTeX renderer; without a configuration it loads no MathJax.
  const rendermime = globalThis.thebeCore.api.makeRenderMimeRegistry({ mathjaxUrl: "none" });
  Object.assign(rendermime, { latexTypesetter: { typeset }, markdownParser: { render } });
  // Thebe holds no parser for the colours that terminals write into text, and warns at each one.
  Object.assign(rendermime.sanitizer._options, { parseStyleAttributes: false, allowedStyles: undefined });
  // Its search for addresses in printed text takes minutes where that has no spaces.
  rendermime.sanitizer.setAutolink(false);
  return rendermime;
}

async function typeset(node) {
  if (!/[$\\]/.test(node.textContent)) return;
  const { default: renderMaths } = await import("./katex/contrib/auto-render.mjs");
  renderMaths(node, { delimiters, throwOnError: false });
}

async function render(text) {
  const { marked } = await import("./marked/marked.esm.js");
  return marked.parse(text);
}
