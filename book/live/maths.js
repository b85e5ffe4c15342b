// Sets the formulas in an output with KaTeX, which is loaded when the first one comes.
const MATHS = /\$|\\\(|\\\[|\\begin\{/;
const delimiters = [
  { left: "$$", right: "$$", display: true },
  { left: "\\[", right: "\\]", display: true },
  ...["equation", "align", "gather", "alignat"].flatMap((name) => [name, `${name}*`]).map((name) => (
    { left: `\\begin{${name}}`, right: `\\end{${name}}`, display: true }
  )),
  { left: "\\(", right: "\\)", display: false },
  { left: "$", right: "$", display: false },
];

export async function typeset(node) {
  if (!MATHS.test(node.textContent)) return;
  const { default: render } = await import("./katex/contrib/auto-render.mjs");
  render(node, { delimiters, throwOnError: false });
}
