// Loads widgets without a CDN. Thebe asks one for require.js before it shows any widget, and waits for
// ever without. The book's widgets are Jupyter's own, which thebe holds, and anywidget, which lies here.
import { metaRemoved } from "./rendermime.js";

const HTML_MODELS = ["HTMLModel", "HTMLMathModel"];
let anywidget;

export function patchWidgetLoader() {
  const manager = globalThis.thebeCore.module.ThebeManager.prototype;
  const { loadClass } = Object.getPrototypeOf(manager);

  manager.loadClass = async function (name, package_, version) {
    if (package_ !== "anywidget") {
      const found = await loadClass.call(this, name, package_, version);
      return HTML_MODELS.includes(name) ? withoutMeta(found) : found;
    }
    const { default: define } = await import("./anywidget.js");
    const base = (part) => loadClass.call(this, part, "@jupyter-widgets/base", "2.0.0");
    const [DOMWidgetModel, DOMWidgetView] = await Promise.all(["DOMWidgetModel", "DOMWidgetView"].map(base));
    anywidget ??= define({ DOMWidgetModel, DOMWidgetView });
    return anywidget[name];
  };
}

function withoutMeta(model) {
  return class extends model {
    get(key) {
      const value = super.get(key);
      return key === "value" ? metaRemoved(value) : value;
    }
  };
}
