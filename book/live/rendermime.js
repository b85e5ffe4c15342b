// Jupyter's output renderer, with KaTeX for formulas and marked for Markdown. Both are loaded when the
// first output that needs them comes.
const ENVIRONMENTS = ["equation", "equation*", "align", "align*", "gather", "gather*", "alignat", "alignat*"];
const DISPLAY = [["$$", "$$"], ["\\[", "\\]"], ...ENVIRONMENTS.map((env) => [`\\begin{${env}}`, `\\end{${env}}`])];
const PAIRS = [...DISPLAY, ["\\(", "\\)"], ["$", "$"]];
// An output's <meta http-equiv="refresh"> would lead the page away. A <wbr> is as empty, and does nothing.
const META = /<meta(?=[\s/>])/gi;
const MARKUP = ["text/html", "text/markdown", "image/svg+xml"];
const delimiters = PAIRS.map(([left, right], n) => ({ left, right, display: n < DISPLAY.length }));

export function makeRendermime() {
  // With an address thebe keeps its LaTeX renderer; without a configuration it loads no MathJax.
  const rendermime = globalThis.thebeCore.api.makeRenderMimeRegistry({ mathjaxUrl: "none" });
  Object.assign(rendermime, { latexTypesetter: { typeset }, markdownParser: { render } });
  // Thebe holds no parser for the colours that terminals write into text, and warns at each one.
  Object.assign(rendermime.sanitizer._options, { parseStyleAttributes: false, allowedStyles: undefined });
  // Its search for addresses in printed text takes minutes where that has no spaces.
  rendermime.sanitizer.setAutolink(false);
  const createRenderer = rendermime.createRenderer.bind(rendermime);
  rendermime.createRenderer = (type) => {
    const renderer = createRenderer(type);
    const renderModel = renderer.renderModel.bind(renderer);
    if (MARKUP.includes(type)) renderer.renderModel = (model) => renderModel(withoutMeta(model, type));
    return renderer;
  };
  return rendermime;
}

function withoutMeta(model, type) {
  const text = metaRemoved([model.data[type]].flat().join(""));
  return Object.create(model, { data: { value: { ...model.data, [type]: text } } });
}

export const metaRemoved = (html) => html.replace(META, "<wbr");

async function typeset(node) {
  if (!/[$\\]/.test(node.textContent)) return;
  const { default: renderMaths } = await import("./katex/contrib/auto-render.mjs");
  renderMaths(node, { delimiters, throwOnError: false });
}

async function render(text) {
  const { marked } = await import("./marked/marked.esm.js");
  return marked.parse(text);
}
