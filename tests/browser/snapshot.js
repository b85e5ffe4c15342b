// What one explorer shows, read from the page: numbers, colours, heights, words.
(root) => {
  const text = (node) => node.textContent;
  // Contrast of two plain colours by WCAG 2.2; a canvas reads every form that CSS gives them.
  const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  const luminances = new Map();
  const measured = (colour) => {
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3).map((x) => x / 255)
      .map((x) => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const luminance = (colour) => {
    if (!luminances.has(colour)) luminances.set(colour, measured(colour));
    return luminances.get(colour);
  };
  const contrast = (one, other) => {
    const [low, high] = [one, other].map(luminance).sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const filled = (node) => getComputedStyle(node).fill;
  const cell = (group) => {
    const fill = filled(group.querySelector("rect"));
    const rgb = (fill.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number);
    return {
      head: Number(group.parentNode.dataset.head), row: Number(group.dataset.row),
      column: Number(group.dataset.column), value: group.dataset.value, written: text(group),
      hatched: fill.startsWith("url"), contrast: contrast(fill, filled(group.lastChild)), rgb: fill.startsWith("color") ? rgb.map((c) => 255 * c) : rgb,
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
  // Where a mark stands in its picture: moved there by a transform, or its path's last point.
  const shift = (path) => (path?.style.transform.match(/-?[\d.]+/g) ?? []).map(Number);
  const within = (inner, outer) => {
    const [box, frame] = [inner, outer].map((element) => element.getBoundingClientRect());
    return [box.left - frame.left, box.top - frame.top, box.right - frame.left, box.bottom - frame.top];
  };
  const point = (group) => ({
    ...group.dataset, role: group.dataset.role ?? null, name: text(group.querySelector(".qkv-label")),
    at: shift(group.querySelector(".qkv-shape")), from: shift(group.querySelector(".qkv-hollow")),
    tip: (group.querySelector(".qkv-tip")?.getAttribute("d").match(/-?[\d.]+/g) ?? []).slice(0, 2).map(Number),
    box: within(group.querySelector(".qkv-label"), group.closest("[data-panel]")),
    seen: getComputedStyle(group.querySelector(".qkv-label")).visibility === "visible",
  });
  const treeNode = (group) => ({ ...group.dataset, written: all(group, "text", text),
    x: Number(group.querySelector("rect").getAttribute("x")) });
  const box = (group) => ({ ...part(group), contrast: group.matches(".qkv-box")
    ? contrast(filled(group.firstChild), filled(group.lastChild)) : null });
  const part = (group) => ({ ...group.dataset, role: group.dataset.role ?? null,
    written: [...all(group.parentNode, `[data-over="${group.dataset.name}"] text`, text), ...all(group, "text", text)],
    frame: group.matches(".qkv-surround"), fits: all(group, "text", (one) => one.getBBox().width)
      .every((width) => width <= (group.querySelector("rect")?.getBBox().width ?? Infinity)) });
  const all = (node, selector, read) => [...node.querySelectorAll(selector)].map(read);
  const labels = (node) => all(node, ".qkv-label", text);
  const panel = (node) => ({
    name: node.dataset.panel, kind: node.dataset.kind,
    named: node.querySelector("[role=img], svg[role=group], table")?.getAttribute("aria-label"),
    said: node.querySelector(".qkv-text-value")?.textContent,
    cells: all(node, ".qkv-cell", cell), bars: all(node, ".qkv-bar", bar),
    series: all(node, ".qkv-series", series), mark: node.querySelector(".qkv-mark")?.dataset.value,
    points: all(node, ".qkv-point", point), nodes: all(node, ".qkv-node", treeNode),
    boxes: all(node, ".qkv-box, .qkv-surround", box), links: all(node, ".qkv-link", part),
    circles: all(node, ".qkv-circle", (circle) => Number(circle.getAttribute("r"))),
    labels: labels(node), header: all(node, "thead tr > *", text),
    rows: all(node, "tbody tr", (row) => all(row, "td, th", text)),
    chosen: all(node, ".qkv-chosen", (rect) => rect.style.display !== "none"),
  });
  return {
    values: JSON.parse(root.dataset.values), note: text(root.querySelector(".qkv-note")),
    live: text(root.querySelector(".qkv-announcement")), panels: all(root, "[data-panel]", panel),
  };
}
