import { view } from "./frames.js";
import { html } from "./svg.js";

// Number boxes for values off the grid. They come with the first answer of a kernel: on the built
// page, where nobody answers, there are none.
export function kernel(model, said, valuesNow, show, fail) {
  const boxes = new Map();
  const row = html("fieldset", { className: "qkv-kernel", hidden: true });
  let request = 0;

  function ask() {
    const typed = [...boxes].map(([name, box]) => [name, box.valueAsNumber]);
    if (typed.some(([, value]) => Number.isNaN(value))) return;
    send({ type: "compute", request: ++request, values: { ...valuesNow(), ...Object.fromEntries(typed) } });
  }

  function send(message) {
    try {
      model.send(message);
    } catch (error) {
      fail(String(error)); // the kernel has gone; the sliders still work
    }
  }

  function open() {
    row.hidden = boxes.size === 0;
  }

  for (const axis of model.get("axes")) {
    if (!axis.range) continue; // no numbers, or none that the slider does not reach
    const [min, max] = axis.range;
    const box = html("input", { type: "number", step: "any", min, max, onchange: ask });
    // A notebook would take Enter for itself, and the box would never report a change.
    box.addEventListener("keydown", (event) => event.stopPropagation());
    box.dataset.lmSuppressShortcuts = "true"; // JupyterLab would take the arrow keys
    box.dataset.axis = axis.name;
    boxes.set(axis.name, box);
    row.append(html("label", {}, axis.label, box));
  }
  row.prepend(html("legend", { textContent: said.kernel }));

  function answer(message, buffers) {
    if (message.type === "alive") open();
    if (message.request !== request) return; // an older question
    if (message.type === "error") fail(message.text);
    if (message.type === "frame") show(message.layout, view(buffers[0]), message.values);
  }

  model.on("msg:custom", answer);
  send({ type: "hello" });
  return {
    element: row,
    follow(values) { // back on the grid: the boxes say where
      request++;
      for (const [name, box] of boxes) box.value = values[name];
    },
    stop: () => model.off("msg:custom", answer),
  };
}
