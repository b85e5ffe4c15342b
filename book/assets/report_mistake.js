// *Report a mistake here* tells the section too: that of the last heading above the middle of the window.
(() => {
  const headings = [...document.querySelectorAll(".bd-article section > :is(h2, h3)")];

  function fillIn({ currentTarget: link }) {
    const above = headings.filter((heading) => heading.getBoundingClientRect().top < innerHeight / 2);
    const heading = above.at(-1)?.cloneNode(true);
    heading?.querySelector(".headerlink")?.remove();
    const form = new URL(link.href);
    const place = new URL(form.searchParams.get("address"));
    place.hash = above.at(-1)?.parentElement.id ?? "";
    form.searchParams.set("section", heading?.textContent.trim() ?? "");
    form.searchParams.set("address", place);
    link.href = form;
  }

  for (const link of document.querySelectorAll(".qkv-report, .btn-source-issues-button"))
    for (const event of ["pointerdown", "click"]) link.addEventListener(event, fillIn);
})();
