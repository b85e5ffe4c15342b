"""`playground(...)`: a box in which any sentence is translated, in the page or in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import anywidget
import traitlets

from qkv.bridge import to_bytes
from qkv.explore.framework.controls import heading
from qkv.explore.framework.explorer import ExplorerBox
from qkv.explore.framework.labels import default_labels
from qkv.explore.playground.bundle import es_module, whole_style_sheet
from qkv.explore.playground.labels import DEFAULT_LABELS, REFUSALS
from qkv.explore.playground.view_labels import LABELS as VIEW_LABELS
from qkv.javascript.scripts import page_content
from qkv.language import gettext
from qkv.pretrained import pretrained

VIEWS = ("attention", "search", "heads")
EXAMPLES = (
    "The cat sat on the mat",
    "The teacher will meet the doctor",
    "The student likes the sea because it is wide",
)


class Playground(anywidget.AnyWidget):
    """Widget that translates what one types; it holds words alone, and no parameters."""

    _esm = es_module()
    _css = whole_style_sheet()
    title = traitlets.Unicode().tag(sync=True)
    labels = traitlets.Dict().tag(sync=True)
    view = traitlets.Unicode(VIEWS[0]).tag(sync=True)  # that it opens on
    start = traitlets.Unicode().tag(sync=True)
    examples: traitlets.List[Any] = traitlets.List().tag(sync=True)

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        self.on_msg(self._answer)

    def __repr__(self) -> str:
        """Without an address: nbval compares it."""
        return f"Playground({self.title!r}, view={self.view!r})"

    def _answer(self, _: object, message: dict[str, Any], __: object) -> None:
        """Send the trained model when a notebook asks for it; a page of the book holds its own."""
        if message.get("type") == "model":
            translator = pretrained()
            content = page_content(translator)
            self.send({"type": "model", "content": content}, [to_bytes(translator.model)])


def playground(
    view: str = "attention",
    *,
    title: str,
    hint: str,
    start: str = "",
    examples: Iterable[str] = EXAMPLES,
    labels: Mapping[str, str] | None = None,
) -> ExplorerBox:
    """A box in which the trained model translates what one types, in JavaScript, with no server.

    Args:
        view: what it opens on: "attention", "search" or "heads".
        title: what the box is called, to the eye and to a screen reader.
        hint: one line, what to try first.
        start: the sentence that stands in the field at first.
        examples: sentences to press.
        labels: words that differ from DEFAULT_LABELS.
    Returns:
        A box like an explorer's; its `explorer` is the widget.
    Raises:
        ValueError: there is no such view.
    """
    if view not in VIEWS:
        raise ValueError(f"playground: view must be one of {VIEWS}, got {view!r}: name one of them")
    own = {key: gettext(text) for key, text in {**VIEW_LABELS, **DEFAULT_LABELS}.items()}
    own |= {text: said for text in REFUSALS if (said := gettext(text)) != text}
    widget = Playground(
        title=title,
        labels={**default_labels([]), **own, **(labels or {})},
        view=view,
        start=start,
        examples=list(examples),
    )
    box = ExplorerBox([heading(title, "title"), heading(hint, "hint"), widget])
    box.add_class("qkv-explore")
    box.explorer = widget
    return box
