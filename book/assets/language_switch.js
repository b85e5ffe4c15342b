// The link to the page in another language leads to the place that one reads: anchors are the same in each.
(() => {
  const TOP = 120; // pixels: what stands above is read
  const anchors = [...document.querySelectorAll(".bd-article :is(section, .cell, dt)[id]")];

  // The place of the address while it is in sight, else the last one that begins above.
  function place() {
    const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const { top, bottom } = named?.getBoundingClientRect() ?? {};
    if (top < innerHeight && bottom > 0 && scrollY) return location.hash;
    const above = anchors.filter((anchor) => anchor.checkVisibility() && anchor.getBoundingClientRect().top < TOP);
    return scrollY && above.length ? `#${above.at(-1).id}` : "";
  }

  for (const link of document.querySelectorAll(".qkv-language"))
    for (const event of ["pointerdown", "click"]) link.addEventListener(event, () => { link.hash = place(); });
})();
