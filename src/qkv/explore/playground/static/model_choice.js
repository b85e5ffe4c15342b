import { button } from "./sentence_form.js";
import { formatText } from "./format_text.js";
import { html } from "../../framework/static/elements.js";
import { nativeInput } from "../../framework/static/native_controls.js";

// A model of the reader's own: files are chosen, opened in the page, and go nowhere else.

/** A model in one line: its sizes and parameters. */
function describe({ model: { config }, parameterCount }, labels) {
  const { n_layers, n_decoder_layers } = config;
  const layers = n_layers === n_decoder_layers ? n_layers : `${n_layers} + ${n_decoder_layers}`;
  return formatText(labels["model sizes"], { ...config, layers, parameters: parameterCount.toLocaleString("en") });
}

/**
 * @param {object} labels words, from Python
 * @param {(files: File[]) => Promise<object>} open to a translator; it throws what is wrong with the files
 * @param {() => Promise<void>} back to the book's model
 * @returns {Element}
 */
export function modelChoice(labels, open, back) {
  const input = nativeInput("input", { type: "file", multiple: true });
  const line = html("p", { className: "qkv-status", role: "status" });
  const backButton = button(labels["book's model"], () => attempt(goBack, "load failed"));
  backButton.hidden = true;

  async function goBack() {
    await back();
    input.focus(); // the button goes away
    backButton.hidden = true;
    return labels["book's model in use"];
  }

  async function openChosen() {
    const files = [...input.files];
    const translator = await open(files);
    backButton.hidden = false;
    const name = files.length === 1 ? files[0].name : formatText(labels["own files count"], { count: files.length });
    return formatText(labels["own model in use"], { name, sizes: describe(translator, labels) });
  }

  // Says what came of it.
  async function attempt(act, failure) {
    const said = await act().catch((error) => formatText(labels[failure], { error: error.message }));
    line.textContent = said;
    input.value = ""; // the same files may be chosen again
  }

  input.addEventListener("change", () => input.files.length && attempt(openChosen, "own model refused"));
  const label = html("label", { htmlFor: input.id, textContent: labels["own files"] });
  const hint = html("p", { className: "qkv-own-hint", textContent: labels["own model hint"] });
  return html("details", { className: "qkv-own-model" },
    html("summary", { textContent: labels["own model"] }), hint, label, input, line, html("div", {}, backButton));
}
