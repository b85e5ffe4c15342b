import { dataView } from "./frames.js";
import { html } from "./elements.js";

// Number inputs for values off the grid. They come with the first answer of a kernel: on the built
// page, where nobody answers, there are none.
export function kernelInputs(model, labels, currentValues, onFrame, onError) {
  const inputs = new Map();
  const fieldset = html("fieldset", { className: "qkv-kernel-inputs", hidden: true });
  let request = 0;

  function requestFrame() {
    const typed = [...inputs].map(([name, input]) => [name, input.valueAsNumber]);
    if (typed.some(([, value]) => Number.isNaN(value))) return;
    const values = { ...currentValues(), ...Object.fromEntries(typed) };
    send({ type: "compute", request: ++request, values });
  }

  function send(message) {
    try {
      model.send(message);
    } catch (error) {
      onError(String(error)); // the kernel has gone; the sliders still work
    }
  }

  function reveal() {
    fieldset.hidden = inputs.size === 0;
  }

  for (const axis of model.get("axes")) {
    if (!axis.range) continue; // no numbers, or none that the slider does not reach
    const [min, max] = axis.range;
    const input = html("input", { type: "number", step: "any", min, max, onchange: requestFrame });
    // A notebook would take Enter for itself, and the input would never report a change.
    input.addEventListener("keydown", (event) => event.stopPropagation());
    input.dataset.lmSuppressShortcuts = "true"; // JupyterLab would take the arrow keys
    input.dataset.axis = axis.name;
    inputs.set(axis.name, input);
    fieldset.append(html("label", {}, axis.label, input));
  }
  fieldset.prepend(html("legend", { textContent: labels.kernel }));

  function receive(message, buffers) {
    if (message.type === "alive") reveal();
    if (message.request !== request) return; // an older question
    if (message.type === "error") onError(message.text);
    if (message.type === "frame") onFrame(message.layout, dataView(buffers[0]), message.values);
  }

  model.on("msg:custom", receive);
  send({ type: "hello" });
  return {
    element: fieldset,
    showValues(values) { // back on the grid
      request++;
      for (const [name, input] of inputs) input.value = values[name];
    },
    stop: () => model.off("msg:custom", receive),
  };
}
