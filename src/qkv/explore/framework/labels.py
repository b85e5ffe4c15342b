"""Words of an explorer that are neither a title nor a panel's own; `labels=` replaces them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from qkv.language import gettext, gettext_noop

DEFAULT_LABELS = {
    "n_heads": gettext_noop("heads"),
    "d_k follows n_heads": gettext_noop("d_k follows d_model / heads"),
    "d_k follows d_model and n_heads": gettext_noop("d_k follows d_model / heads"),
    "yes": gettext_noop("yes"),
    "no": gettext_noop("no"),
    "head": gettext_noop("head"),
    "allowed": gettext_noop("allowed"),
    "blocked": gettext_noop("blocked"),
    "largest": gettext_noop("largest"),
    "kernel": gettext_noop("Off the grid: the kernel computes it"),
    "computed": gettext_noop("Computed by the kernel at"),
    "whole": gettext_noop("{axis} takes whole numbers from {low} to {high}, not {value}."),
    "number": gettext_noop("{axis} takes numbers from {low} to {high}, not {value}."),
    "beyond": gettext_noop("beyond the axis"),
    "unrun": gettext_noop(
        "Explorer, “{title}”: run this cell in Jupyter to use it. In the book it works at once."
    ),
}
# The drawing's own: it knows them in English without a label.
OF_DRAWING = {
    "point": gettext_noop("Point at a part, or walk there with the arrow keys."),
    "points": gettext_noop("points"),
    "length": gettext_noop("length"),
    "angle": gettext_noop("angle"),
    "from": gettext_noop("from"),
    "nodes": gettext_noop("nodes"),
    "parts": gettext_noop("parts"),
    "level": gettext_noop("level"),
    "kept": gettext_noop("kept"),
    "pruned": gettext_noop("pruned"),
    "finished": gettext_noop("finished"),
}
# Names of axes that are words, and that the chapters show as they are.
AXES = (
    gettext_noop("activation"),
    gettext_noop("depth"),
    gettext_noop("family"),
    gettext_noop("format"),
    gettext_noop("function"),
    gettext_noop("head"),
    gettext_noop("layers"),
    gettext_noop("mask"),
    gettext_noop("nearness"),
    gettext_noop("norm"),
    gettext_noop("padding"),
    gettext_noop("part"),
    gettext_noop("pattern"),
    gettext_noop("position"),
    gettext_noop("sentence"),
    gettext_noop("size"),
    gettext_noop("step"),
    gettext_noop("target"),
    gettext_noop("temperature"),
    gettext_noop("way"),
    gettext_noop("word"),
    gettext_noop("words"),
)


def default_labels(names: Iterable[str]) -> dict[str, str]:
    """DEFAULT_LABELS in the reader's language.

    In another language than English also the words of the drawing, and of `names`, those of axes
    and panels, each that the catalogue has.
    """
    labels = {key: gettext(text) for key, text in DEFAULT_LABELS.items()}
    known_in_english = OF_DRAWING | {name: name for name in names}
    return labels | {
        key: shown
        for key, text in known_in_english.items()
        if key not in labels and (shown := gettext(text)) != text
    }


def shown_value(value: str, labels: Mapping[str, str]) -> str:
    """A choice as the reader sees it; as a value it stays English."""
    return labels.get(value, gettext(value))
