// Completes the controls that Jupyter draws, for the ear and for the keyboard. The built page draws
// its own (book/assets/static_widgets.js), and these find nothing there.

// The box of controls and picture is one group with one name, once it is on the page.
export function labelGroup(root, title) {
  const box = root.closest(".qkv-explore") ?? root;
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", title);
  for (const handle of box.querySelectorAll(".noUi-handle, input")) suppressShortcuts(handle);
  for (const slider of box.querySelectorAll(".widget-slider:has(.noUi-handle)")) labelSlider(slider);
  for (const choice of box.querySelectorAll(".widget-radio:has(input)")) labelChoice(choice);
}

function suppressShortcuts(input) {
  input.dataset.lmSuppressShortcuts = "true"; // JupyterLab would take the arrow keys
}

// Jupyter's slider has no name to the ear, and says the place of its value instead of the value.
function labelSlider(slider) {
  const handle = slider.querySelector(".noUi-handle");
  const [name, readout] = [".widget-label", ".widget-readout"].map((part) => slider.querySelector(part));
  if (handle.hasAttribute("aria-label")) return;
  const setValueText = () => {
    const text = readout.textContent;
    if (handle.getAttribute("aria-valuetext") !== text) handle.setAttribute("aria-valuetext", text);
  };
  handle.setAttribute("aria-label", name.textContent);
  new MutationObserver(setValueText).observe(slider,
    { subtree: true, childList: true, characterData: true, attributeFilter: ["aria-valuetext"] });
  setValueText();
}

// Jupyter's radio buttons share no name, so that the browser takes each for a group of its own; and
// Jupyter makes new ones whenever something else than a click on them has moved their value.
let choiceCount = 0;
const scriptId = Math.random().toString(36).slice(2);

function labelChoice(choice) {
  const buttons = choice.querySelector(".widget-radio-box");
  if (buttons.hasAttribute("role")) return;
  const name = `qkv-choice-${scriptId}-${choiceCount++}`;
  const join = () => {
    for (const input of buttons.querySelectorAll("input")) {
      input.name = name;
      suppressShortcuts(input);
    }
  };
  buttons.setAttribute("role", "radiogroup");
  buttons.setAttribute("aria-label", choice.querySelector(".widget-label").textContent);
  new MutationObserver(join).observe(buttons, { childList: true });
  join();
}
