// Jupyter widgets without a kernel: native controls from the state stored in the page, the links
// between them, and the explorers' drawing code (globalThis.qkvExplore, from src/qkv/explore).
(() => {
  const STATE_MIME = "application/vnd.jupyter.widget-state+json";
  const VIEW_MIME = "application/vnd.jupyter.widget-view+json";
  const EXPLORER_ID = "qkv.explore.framework.explorer.Explorer";
  const PLAYGROUND_ID = "qkv.explore.playground.widget.Playground";
  const { checkbox, choice, html, nativeInput, slider } = globalThis.qkvExplore;

  // The part of Backbone's widget model that views and links use.
  class Model {
    constructor(record) {
      this.name = record.model_name;
      this.state = { ...record.state };
      this.listeners = new Map();
      for (const { path: [key], data } of record.buffers ?? []) this.state[key] = decodeBase64(data);
    }

    get(key) {
      return this.state[key];
    }

    set(key, value) {
      if (this.state[key] === value) return;
      this.state[key] = value;
      for (const act of this.listeners.get(`change:${key}`) ?? []) act();
    }

    on(event, act) {
      if (!this.listeners.has(event)) this.listeners.set(event, new Set());
      this.listeners.get(event).add(act);
    }

    off(event, act) {
      this.listeners.get(event)?.delete(act);
    }

    save_changes() {} // there is no kernel to save to,

    send() {} // and none to answer
  }

  function decodeBase64(base64) {
    return new DataView(Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)).buffer);
  }

  const parseScript = (script) => JSON.parse(script.textContent);

  function createModels({ state }) {
    const models = new Map(Object.entries(state).map(([id, record]) => [id, new Model(record)]));
    models.of = (reference) => models.get(reference.replace("IPY_MODEL_", ""));
    for (const model of models.values()) if (model.name.endsWith("LinkModel")) linkModels(model, models);
    return models;
  }

  function linkModels(model, models) {
    const [[sourceId, sourceKey], [targetId, targetKey]] = [model.get("source"), model.get("target")];
    const [source, target] = [models.of(sourceId), models.of(targetId)];
    if (!source || !target) return;
    source.on(`change:${sourceKey}`, () => target.set(targetKey, source.get(sourceKey)));
    if (model.name === "LinkModel") {
      target.on(`change:${targetKey}`, () => source.set(sourceKey, target.get(targetKey)));
    }
    target.set(targetKey, source.get(sourceKey));
  }

  // A control of the drawing code that moves a model's value, and is moved by it.
  function linkControl(model, key, { element, show }) {
    model.on(`change:${key}`, () => show(model.get(key)));
    show(model.get(key));
    return element;
  }

  const indexed = (control) => (model) => linkControl(model, "index",
    control(model.get("description"), model.get("_options_labels"), (i) => model.set("index", i)));

  function dropdown(name, texts, act) {
    const input = nativeInput("select", { onchange: () => act(input.selectedIndex) });
    input.append(...texts.map((text) => html("option", { textContent: text })));
    const label = html("label", { htmlFor: input.id, textContent: name });
    const element = html("div", { className: "qkv-slider" }, label, input);
    return { element, show: (index) => { input.selectedIndex = index; } };
  }

  const checkboxOf = (model) => linkControl(model, "value",
    checkbox(model.get("description"), (on) => model.set("value", on)));

  function box(model, models) {
    return html("div", {}, ...model.get("children").map((child) => mount(models.of(child), models)));
  }

  function explorer(model) {
    const element = html("div");
    globalThis.qkvExplore.render({ model, el: element });
    return element;
  }

  // Its script comes after those that the page waits for, or before this one.
  function playground(model) {
    const element = html("div");
    const draw = () => globalThis.qkvPlayground(globalThis.qkvExplore).render({ model, el: element });
    if (globalThis.qkvPlayground) draw();
    else document.querySelector('script[src*="playground.js"]').addEventListener("load", draw);
    return element;
  }

  const ANY = { [EXPLORER_ID]: explorer, [PLAYGROUND_ID]: playground };

  const VIEWS = {
    SelectionSliderModel: indexed(slider),
    DropdownModel: indexed(dropdown),
    RadioButtonsModel: indexed(choice),
    CheckboxModel: checkboxOf,
    LabelModel: (model) => html("div", { textContent: model.get("value") }),
    VBoxModel: box,
    AnyModel: (model) => (ANY[model.get("_anywidget_id")] ?? unknownWidget)(model),
  };

  // This script may run before the one that has the page's words.
  function note(text) {
    const element = html("p", { className: "qkv-note" });
    const show = () => { element.textContent = text(); };
    if (globalThis.gettext) show();
    else document.addEventListener("DOMContentLoaded", show);
    return element;
  }

  function unknownWidget(model) {
    const { name } = model ?? {};
    return note(() => (name
      ? gettext("This part needs Jupyter ({name}).", { name })
      : gettext("This part needs Jupyter (its state is missing).")));
  }

  function mount(model, models) {
    const element = (VIEWS[model?.name] ?? unknownWidget)(model, models);
    element.classList.add(...(model?.get("_dom_classes") ?? []));
    return element;
  }

  // One explorer that cannot be shown says so, and leaves the others alone.
  function show(script, models) {
    try {
      script.before(mount(models?.get(parseScript(script).model_id), models));
    } catch (error) {
      script.before(note(() => gettext("This explorer failed: {error}", { error: error.message })));
      console.error(error);
    }
  }

  // A landing page embeds explorers of several notebooks, each with its own state beside it.
  const modelsByEmbed = new Map();
  const mounted = new Set();

  // What the browser has read to its end: something follows it.
  const isThere = (script) => document.readyState !== "loading" || script.nextSibling !== null;

  function mountWhatIsThere() {
    for (const script of document.querySelectorAll(`script[type="${STATE_MIME}"]`)) {
      const embed = script.closest(".qkv-embedded");
      if (!modelsByEmbed.has(embed) && isThere(script)) modelsByEmbed.set(embed, createModels(parseScript(script)));
    }
    for (const script of document.querySelectorAll(`script[type="${VIEW_MIME}"]`)) {
      if (mounted.has(script) || !isThere(script)) continue;
      mounted.add(script);
      show(script, modelsByEmbed.get(script.closest(".qkv-embedded")));
    }
  }

  // Each explorer is drawn as soon as the page is read so far, not when all of it is.
  if (document.readyState === "loading") {
    const reading = new MutationObserver(mountWhatIsThere);
    reading.observe(document, { childList: true, subtree: true });
    document.addEventListener("DOMContentLoaded", () => {
      reading.disconnect();
      mountWhatIsThere();
    });
  }
  mountWhatIsThere();
})();
