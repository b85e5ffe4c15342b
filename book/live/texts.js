// Formulas and Markdown in outputs; KaTeX and marked are loaded when the first one comes.
const MATHS = /\$|\\\(|\\\[|\\begin\{/;
const ENVIRONMENTS = ["equation", "align", "gather", "alignat"].flatMap((name) => [name, `${name}*`]);
const delimiters = [
  { left: "$$", right: "$$", display: true },
  { left: "\\[", right: "\\]", display: true },
  ...ENVIRONMENTS.map((name) => ({ left: `\\begin{${name}}`, right: `\\end{${name}}`, display: true })),
  { left: "\\(", right: "\\)", display: false },
  { left: "$", right: "$", display: false },
];

export async function typeset(node) {
  if (!MATHS.test(node.textContent)) return;
  const { default: render } = await import("./katex/contrib/auto-render.mjs");
  render(node, { delimiters, throwOnError: false });
}

export async function markdown(text) {
  const { marked } = await import("./marked/marked.esm.js");
  return marked.parse(text);
}
