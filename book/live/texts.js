// Formulas and Markdown in outputs; KaTeX and marked are loaded when the first one comes.
const MATHS = /\$|\\\(|\\\[|\\begin\{/;
const NAMES = ["equation", "align", "gather", "alignat"].flatMap((name) => [name, `${name}*`]);
const DISPLAY = [["$$", "$$"], ["\\[", "\\]"], ...NAMES.map((name) => [`\\begin{${name}}`, `\\end{${name}}`])];
const INLINE = [["\\(", "\\)"], ["$", "$"]];
const delimiters = [...DISPLAY, ...INLINE].map(([left, right], n) => ({ left, right, display: n < DISPLAY.length }));

export async function typeset(node) {
  if (!MATHS.test(node.textContent)) return;
  const { default: render } = await import("./katex/contrib/auto-render.mjs");
  render(node, { delimiters, throwOnError: false });
}

export async function markdown(text) {
  const { marked } = await import("./marked/marked.esm.js");
  return marked.parse(text);
}
