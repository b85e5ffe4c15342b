// What one explorer shows, read from the page: numbers, colours, heights, words.
(root) => {
  const text = (node) => node.textContent;
  const cell = (group) => {
    const rect = group.querySelector("rect");
    const fill = getComputedStyle(rect).fill;
    const rgb = (fill.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number);
    return {
      head: Number(group.parentNode.dataset.head), row: Number(group.dataset.row),
      column: Number(group.dataset.column), value: group.dataset.value, written: text(group),
      hatched: fill.startsWith("url"), rgb: fill.startsWith("color") ? rgb.map((c) => 255 * c) : rgb,
    };
  };
  const bar = (group) => ({
    label: group.dataset.label, value: group.dataset.value, written: text(group),
    y: Number(group.querySelector("rect").getAttribute("y")),
    height: Number(group.querySelector("rect").getAttribute("height")),
  });
  const series = (group) => ({
    label: group.dataset.label, x: group.dataset.x.split(" "), values: group.dataset.values.split(" "),
    d: group.querySelector("path").getAttribute("d"), name: text(group.querySelector("text")),
  });
  const all = (node, selector, read) => [...node.querySelectorAll(selector)].map(read);
  const labels = (node) => all(node, ".qkv-label", text);
  const panel = (node) => ({
    name: node.dataset.panel, kind: node.dataset.kind,
    named: node.querySelector("[role=img], table")?.getAttribute("aria-label"),
    said: node.querySelector(".qkv-text-value")?.textContent,
    cells: all(node, ".qkv-cell", cell), bars: all(node, ".qkv-bar", bar),
    series: all(node, ".qkv-series", series), mark: node.querySelector(".qkv-mark")?.dataset.value,
    labels: labels(node), header: all(node, "th", text),
    rows: all(node, "tbody tr", (row) => all(row, "td", text)),
    chosen: all(node, ".qkv-chosen", (rect) => rect.style.display !== "none"),
  });
  return {
    values: JSON.parse(root.dataset.values), note: text(root.querySelector(".qkv-note")),
    live: text(root.querySelector(".qkv-announcement")), panels: all(root, "[data-panel]", panel),
  };
}
