import { createPanels } from "../../framework/static/panels.js";
import { html } from "../../framework/static/elements.js";

// Panels that may become others from one sentence to the next.

const kindsOf = (panels) => JSON.stringify(panels.map(({ name, kind }) => [name, kind]));

/** @returns {{element: Element, show: (panels: object[]) => void, renew: () => void, stop: () => void}} */
export function panelGrid(labels) {
  const element = html("div", { className: "qkv-panels" });
  let [shown, panels, kinds, width] = [[], [], "", 0];

  function draw() {
    if (!width) return; // folded away: drawn when it opens
    if (kindsOf(shown) !== kinds) {
      kinds = kindsOf(shown);
      element.replaceChildren();
      panels = createPanels(shown, labels, element);
      for (const panel of panels) panel.measure();
    }
    shown.forEach((panel, i) => panels[i].update(panel));
  }

  const size = new ResizeObserver(() => {
    width = element.clientWidth;
    for (const panel of panels) panel.measure();
    draw();
  });
  size.observe(element);
  return {
    element,
    show(next) {
      shown = next;
      draw();
    },
    renew: () => { kinds = ""; }, // drawings of another sentence are not kept
    stop: () => size.disconnect(),
  };
}
