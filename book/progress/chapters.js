// Of each chapter its page, its title in English, and the numbers of its exercises: those of the core, those of
// Going further. The build fills them in (book/extensions/reading_progress.py); messages.js has the titles in the
// language of the page, so that this script is the same in each edition: beside it is the book's server.
export const CHAPTERS = "{{ chapters }}".map(([page, name, core, further]) => {
  const title = `${parseInt(page, 10)} · ${gettext(name)}`;
  const concept = page.replace(/^\d+_/, ""); // the mark of a chapter that was read; "masks-3" is that of an exercise
  const names = (numbers) => numbers.map((number) => `${concept}-${number}`);
  return { page, title, concept, core: names(core), further: names(further) };
});

export const chapterAt = (path) => CHAPTERS.find(({ page }) => path.endsWith(`/${page}.html`) || path === `chapters/${page}`);

// What counts is the core; exercises of Going further are kept, and not counted.
export function standing(chapter, progress) {
  const done = chapter.core.filter((name) => progress.has(name)).length;
  return { read: progress.has(chapter.concept), done, total: chapter.core.length };
}

// The same twice: signs for the eye, words for the ear. Null where nothing is marked.
export function shortly({ read, done, total }) {
  if (!read && !done) return null;
  const signs = [...(read ? ["✓"] : []), ...(done ? [`${done}/${total}`] : [])].join(" ");
  if (!done) return { signs, words: gettext("read") };
  const counts = { done, total };
  return { signs, words: read
    ? gettext("read; {done} of {total} exercises done", counts)
    : gettext("{done} of {total} exercises done", counts) };
}
