// A chapter is read when the end of its text has stood in the window: the heading of its exercises.
const STAYS = 2000; // ms; who jumps past it, or scrolls by, has not read it
// In the upper quarter it is the first line of what one has jumped to.
const WINDOW = { rootMargin: "-25% 0px 0px" };

export function onceRead(act) {
  const end = document.querySelector("section[id^='exercise-']")?.parentElement.querySelector("h2");
  if (!end) return;
  let stays;
  const observer = new IntersectionObserver((entries) => {
    clearTimeout(stays);
    if (!entries.at(-1).isIntersecting) return;
    stays = setTimeout(() => {
      observer.disconnect();
      act();
    }, STAYS);
  }, WINDOW);
  observer.observe(end);
}
