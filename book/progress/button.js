// The button at the top of a page: where the reader is in this chapter, or in the book.
import { CHAPTERS, standing } from "./chapters.js";

function texts(here, progress) {
  if (!here) {
    const counts = { done: CHAPTERS.filter(({ concept }) => progress.has(concept)).length, total: CHAPTERS.length };
    return [gettext("{done} of {total} read", counts), `${counts.done}/${counts.total}`,
      gettext("Your progress. {done} of {total} chapters are read. Press to see all marks.", counts)];
  }
  const { read, ...counts } = standing(here, progress);
  const short = `${counts.done}/${counts.total}`;
  return read
    ? [gettext("✓ {done} of {total} done", counts), `✓ ${short}`,
      gettext("Your progress. This chapter is read, and {done} of its {total} exercises are done. Press to see all marks.", counts)]
    : [gettext("{done} of {total} done", counts), short,
      gettext("Your progress. In this chapter {done} of {total} exercises are done. Press to see all marks.", counts)];
}

// Returns what writes it anew.
export function addButton(here, progress, onclick) {
  const [long, short] = ["long", "short"].map((kind) =>
    Object.assign(document.createElement("span"), { className: `qkv-where-${kind}` }));
  const button = Object.assign(document.createElement("button"), { type: "button", className: "btn btn-sm qkv-where", onclick });
  button.append(long, short);
  document.querySelector(".article-header-buttons")?.prepend(button);
  return () => {
    [long.textContent, short.textContent, button.title] = texts(here, progress);
  };
}
