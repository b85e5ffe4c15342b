// Where a reader is: chapters read to the end, exercises accepted. A button at the top of each page says it
// and opens all of it; marks stand beside links to chapters.
import { addButton } from "./button.js";
import { CHAPTERS, chapterAt, shortly, standing } from "./chapters.js";
import { MAX_BYTES, VERSION, decode, encode } from "./file_format.js";
import { markBoxes, markLinks } from "./marks.js";
import { onceRead } from "./read_to_the_end.js";
import { ReadingProgress } from "./reading_progress.js";
import { KEY, SCRIPT } from "./stores.js";

const here = chapterAt(DOCUMENTATION_OPTIONS.pagename);
const exercises = new Set(CHAPTERS.flatMap(({ core, further }) => [...core, ...further]));
const progress = new ReadingProgress(() => {
  refreshButton();
  markLinks(progress);
  dialog?.show();
});
const refreshButton = addButton(here, progress, open);
let dialog;

// Its script is no module: a page opened from a file may load none.
async function open() {
  const Dialog = globalThis.qkvProgressDialog ?? await new Promise((loaded) => {
    document.head.append(Object.assign(document.createElement("script"), {
      src: new URL("{{ dialog }}", SCRIPT),
      onload: () => loaded(globalThis.qkvProgressDialog),
      onerror: () => alert(gettext("A part of this page could not be loaded. Is the server of the book still there?")),
    }));
  });
  dialog ??= new Dialog(progress);
  dialog.open(here);
}

document.addEventListener("links-drawn", ({ target }) => markBoxes(target, progress));
document.addEventListener("exercise-checked", ({ detail }) => {
  if (detail?.state === "right" && exercises.has(detail.name)) progress.set([[detail.name, true]]);
});
// From another tab.
addEventListener("storage", ({ key }) => (key === KEY || key === null) && progress.load());
addEventListener("pageshow", ({ persisted }) => persisted && progress.load());
if (here) onceRead(() => progress.set([[here.concept, true]]));
progress.load();
export default { CHAPTERS, MAX_BYTES, VERSION, decode, encode, shortly, standing };
