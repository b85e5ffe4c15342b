import { answerStatus } from "./answer_status.js";
import { controlRow } from "./control_row.js";
import { controlsOf, withControl } from "./controls.js";
import { formatText } from "./format_text.js";
import { html } from "../../framework/static/elements.js";
import { labelGroup } from "../../framework/static/jupyter_controls.js";
import { markKorean } from "../../framework/static/korean.js";
import { modelChoice } from "./model_choice.js";
import { modelLoad, modelSource } from "./model_source.js";
import { panelGrid } from "./panel_grid.js";
import { panelsOf } from "./panels_of.js";
import { sentenceForm } from "./sentence_form.js";
import { Session } from "./session.js";
import { statusLine } from "./status_line.js";
import { switchedOffLine } from "./switched_off_line.js";

// The box in which any sentence is translated, in the page.

const PATIENCE = 400; // ms after which work is worth a word, and a button that ends it

function render({ model, el, engine }) {
  const root = html("div", { className: "qkv-playground" });
  const [labels, title] = ["labels", "title"].map((key) => model.get(key));
  const source = modelSource(model, engine, labels);
  const session = new Session(model.get("view"), draw);
  const status = statusLine();
  const said = answerStatus(root, session, status, labels);
  const load = modelLoad(source, session, status, labels, take);
  const sentences = { start: model.get("start"), examples: model.get("examples") };
  const suggest = (text) => session.translator?.suggest(text) ?? [];
  const form = sentenceForm(labels, sentences, { suggest, submit, stop, refuse: () => status.say(labels.marks) });
  const megabytes = ((globalThis.qkvModel?.bytes ?? 0) / 1e6).toFixed(1);
  status.say(formatText(labels[source.isPage ? "page loads" : "kernel sends"], { megabytes }));
  const controls = controlRow(change);
  const off = switchedOffLine(labels, () => {
    session.switchAllOn();
    controls.element.querySelector("input:checked").focus(); // the button goes away
    perform(() => session.run(false));
  });
  const grid = panelGrid(labels);
  const own = modelChoice(labels, openOwn, async () => {
    use(await source.loadEngine(), await source.load());
    form.showOwn(false);
  });
  root.append(form.element, status.element, controls.element, off.element, grid.element, said.announcement, own);
  root.dataset.lmSuppressShortcuts = "true"; // JupyterLab would take the keys of all that is in it

  function draw() {
    const { outcome, settings, translator } = session;
    root.classList.toggle("qkv-stale", session.isStale);
    controls.element.hidden = !outcome;
    controls.show(outcome ? controlsOf(settings, outcome, translator, labels) : []);
    off.show(settings, translator);
    grid.show(outcome ? panelsOf(outcome, settings, translator, labels) : []);
    labelAndMark();
  }

  // With the title and the hint around it, as soon as they are there.
  function labelAndMark() {
    labelGroup(root, title);
    markKorean(root.closest(".qkv-explore") ?? root);
  }

  function take(newEngine, translator) {
    session.use(newEngine, translator);
    draw();
  }

  function use(newEngine, translator) {
    take(newEngine, translator);
    status.say(labels.loaded);
  }

  async function openOwn(files) {
    const ownEngine = await source.loadEngine();
    const translator = await ownEngine.openFiles(files);
    use(ownEngine, translator);
    form.showOwn(true);
    return translator;
  }

  let asked = 0;
  async function submit(text) {
    const request = ++asked;
    if (!(await load()) || request !== asked) return; // a later sentence came first
    grid.renew();
    perform(() => session.translate(text));
  }

  function change(control, value) {
    session.settings = withControl(session.settings, control.name, value, session.outcome, session.translator);
    if (control.recomputes) perform(() => session.run(false));
    else draw();
  }

  let performed = 0;
  async function perform(run) {
    const request = ++performed;
    status.say("");
    const timer = setTimeout(() => {
      if (!session.isRunning || request !== performed) return;
      said.say([labels.working]);
      form.showStop(true);
    }, PATIENCE);
    try {
      if ((await run()) && request === performed) said.finish(); // else there is something newer to say
    } catch (error) {
      said.refuse(error, form);
    } finally {
      clearTimeout(timer);
      form.showStop(session.isRunning && form.showsStop);
    }
  }

  function stop() {
    performed++;
    const count = session.giveUp();
    form.showStop(false);
    said.say([formatText(labels[count ? "stopped" : "stopped early"], { count })]);
  }

  root.addEventListener("click", load); // not earlier: what it says would move what is being pressed
  form.element.addEventListener("focusin", load);
  el.append(root);
  draw();
  const attached = new ResizeObserver(labelAndMark); // the box around it is there by then
  attached.observe(root);
  return () => {
    session.stop();
    grid.stop();
    attached.disconnect();
  };
}

export default { render };
