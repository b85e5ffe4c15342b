// Thebe asks a CDN for require.js before it shows any widget, and waits for ever without one. The
// book's widgets are Jupyter's own, which thebe holds, and anywidget, which lies beside this file.
let anywidget;

export function mendWidgets() {
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
