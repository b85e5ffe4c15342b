// Thebe asks a CDN for require.js before it shows any widget, and waits for ever without one. The
// book's widgets are Jupyter's own, which thebe holds, and anywidget, which lies beside this file.
let anywidget;

export function mendWidgets() {
  const manager = globalThis.thebeCore.module.ThebeManager.prototype;
  const { loadClass } = Object.getPrototypeOf(manager);

  manager.loadClass = async function (name, package_, version) {
    if (package_.startsWith("@jupyter-widgets/")) return loadClass.call(this, name, package_, version);
    if (package_ !== "anywidget") throw new Error(`${package_} is not among the widgets of this book.`);
    anywidget ??= load((base) => loadClass.call(this, base, "@jupyter-widgets/base", "2.0.0"));
    return (await anywidget)[name];
  };
}

async function load(base) {
  const { default: define } = await import("./anywidget.js");
  const [DOMWidgetModel, DOMWidgetView] = await Promise.all(["DOMWidgetModel", "DOMWidgetView"].map(base));
  return define({ DOMWidgetModel, DOMWidgetView });
}
