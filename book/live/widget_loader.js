// Loads widgets without a CDN. Thebe asks one for require.js before it shows any widget, and waits for
// ever without. The book's widgets are Jupyter's own, which thebe holds, and anywidget, which lies here.
let anywidget;

export function patchWidgetLoader() {
  const manager = globalThis.thebeCore.module.ThebeManager.prototype;
  const { loadClass } = Object.getPrototypeOf(manager);

  manager.loadClass = async function (name, package_, version) {
    if (package_ !== "anywidget") return loadClass.call(this, name, package_, version);
    const { default: define } = await import("./anywidget.js");
    const base = (part) => loadClass.call(this, part, "@jupyter-widgets/base", "2.0.0");
    const [DOMWidgetModel, DOMWidgetView] = await Promise.all(["DOMWidgetModel", "DOMWidgetView"].map(base));
    anywidget ??= define({ DOMWidgetModel, DOMWidgetView });
    return anywidget[name];
  };
}
