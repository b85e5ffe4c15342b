"""What a code cell stores, and what the live page shows of it, in the same words."""

from __future__ import annotations

import html.parser
import re
from typing import Any

ANSI = re.compile(r"\x1b\[[\d;]*m")
WIDGET = "application/vnd.jupyter.widget-view+json"
# Of several kinds, Jupyter shows the first. Others than these need a line here and one in `shown`.
KINDS = (WIDGET, "text/html", "image/svg+xml", "image/png", "text/plain")
# Every output of a cell that has been run: its kind and words, its picture's size and words.
OUTPUTS = """(cell) => {
  const kind = (node) => node.dataset.mimeType
    ?? (node.querySelector(".jupyter-widgets") ? "WIDGET" : "unknown");
  const nodes = [...cell.querySelectorAll(".qkv-live-output .jp-OutputArea-output")];
  return nodes.map((node) => {
    const image = node.querySelector("img");
    return { kind: kind(node), text: node.textContent, alt: image?.alt, size: image?.naturalWidth };
  });
}""".replace("WIDGET", WIDGET)


class Words(html.parser.HTMLParser):
    """The text of an HTML output."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.words = ""
        self.feed(text)

    def handle_data(self, data: str) -> None:
        self.words += data


def joined(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "".join(text)


def collapsed(text: str) -> str:
    return " ".join(text.split())


def stored(cell: dict[str, Any]) -> list[tuple[str, Any]]:
    """Kind and words of each stored output; warnings differ between machines and are left out."""
    alt = cell["metadata"].get("mystnb", {}).get("image", {}).get("alt")
    found: list[tuple[str, Any]] = []
    for output in cell["outputs"]:
        if output["output_type"] == "stream":
            if output["name"] == "stdout":
                found.append(("text", ANSI.sub("", joined(output["text"])).rstrip("\n")))
            continue
        data = output["data"]
        kind = next((kind for kind in KINDS if kind in data), " ".join(data))
        match kind:
            case "text/plain":
                found.append(("text", ANSI.sub("", joined(data[kind])).rstrip("\n")))
            case "text/html":
                found.append(("html", collapsed(Words(joined(data[kind])).words)))
            case "image/png" | "image/svg+xml":
                found.append(("picture", alt))
            case _:
                found.append((kind, ""))
    return found


def shown(outputs: list[dict[str, Any]]) -> list[tuple[str, Any]]:
    """The same of what the page shows, as OUTPUTS reads it."""
    found = []
    for output in outputs:
        match output["kind"]:
            case "application/vnd.jupyter.stderr":
                continue
            case "text/plain" | "application/vnd.jupyter.stdout":
                found.append(("text", output["text"].rstrip("\n")))
            case "text/html":
                found.append(("html", collapsed(output["text"])))
            case "image/png" | "image/svg+xml":
                found.append(("picture", output["alt"] if output["size"] else "not drawn"))
            case kind:
                found.append((kind, ""))
    return found
