"""Keep the stored outputs of a notebook where a fresh run differs from them by rounding alone."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from typing import Any

from qkv.notebooks.explorers import same_model
from qkv.notebooks.one_run import CODE, code_hashes
from qkv.notebooks.pictures import same_picture
from qkv.notebooks.rounding import same_values
from qkv.notebooks.widget_state import (
    JSON,
    REFERENCE,
    STATE_MIME,
    VIEW_MIME,
    renumber,
    views_of,
)


def keep_equal_outputs(fresh: JSON, stored: JSON) -> JSON:
    """The fresh notebook, with the stored form of each output that looks the same.

    A processor adds in its own order, so that last digits, the edges of drawn lines and the
    explorers' frames differ where nothing has changed for a reader. Of a cell with the tag
    `one-run`, pictures stay while its code is the same.

    Args:
        fresh, stored: parsed .ipynb, widget ids normalized; cells are matched by their ids.
    """
    result = copy.deepcopy(fresh)
    hashes = code_hashes(fresh)
    cells = {cell.get("id"): cell for cell in stored["cells"]}
    for cell in result["cells"]:
        before = cells.get(cell.get("id"), {})
        if cell.get("outputs") and before.get("outputs"):
            keep_models(result, cell, stored, before)
            drawn_by = before["metadata"].get(CODE)
            one_run = drawn_by is not None and drawn_by == hashes.get(cell["id"])
            cell["outputs"] = kept_outputs(cell["outputs"], before["outputs"], one_run)
    return result


def kept_outputs(fresh: Sequence[Any], stored: Sequence[Any], one_run: bool = False) -> list[Any]:
    """The outputs of a cell, each in its stored form if it looks the same, or is of `one_run`."""
    if len(fresh) != len(stored):
        return list(fresh)
    return [
        with_count(before, output) if same_output(output, before, one_run) else output
        for output, before in zip(fresh, stored, strict=True)
    ]


def with_count(stored: Any, fresh: Any) -> Any:
    """The stored output under the number of the fresh run, which is no part of what it shows."""
    result = copy.deepcopy(stored)
    if "execution_count" in fresh:
        result["execution_count"] = fresh["execution_count"]
    return result


def same_output(one: Any, other: Any, one_run: bool = False) -> bool:
    """Whether two outputs look the same. A view of a widget holds an id alone: see keep_models.

    Args:
        one_run: pictures count as the same.
    """
    data, others = one.get("data", {}), other.get("data", {})
    compare = COMPARE | ({"image/png": lambda *_: True} if one_run else {})
    rest = [
        {key: value for key, value in output.items() if key not in ("data", "execution_count")}
        for output in (one, other)
    ]
    return (
        same_values(*rest)
        and data.keys() == others.keys()
        and all(compare.get(mime, same_values)(data[mime], others[mime]) for mime in data)
    )


COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "image/png": same_picture,
    VIEW_MIME: lambda one, other: bool(one == other),
}


def keep_models(fresh: JSON, cell: JSON, stored: JSON, before: JSON) -> None:
    """Put the stored state of the widgets that a cell shows where it shows the same."""
    models, others = (
        notebook["metadata"].get("widgets", {}).get(STATE_MIME, {"state": {}})["state"]
        for notebook in (fresh, stored)
    )
    for view, was in zip(views_of(cell), views_of(before), strict=False):
        needed = renumber(models, [view["model_id"]]), renumber(others, [was["model_id"]])
        if len(needed[0]) != len(needed[1]):
            continue
        names = dict(zip(needed[1], needed[0], strict=True))
        for old, new in names.items():
            model = renamed(others[old], names)
            if same_model(models[new], model):
                models[new] = model


def renamed(model: JSON, names: dict[str, str]) -> JSON:
    """A widget model whose references have new ids."""
    text = REFERENCE.sub(
        lambda match: f'"IPY_MODEL_{names.get(match[1], match[1])}"', json.dumps(model)
    )
    result: JSON = json.loads(text)
    return result
