"""Compare what an explorer shows on the page with the panels that its function returns."""

import json
import re
from pathlib import Path

import numpy as np

from qkv.explore.framework.panels import Bars, Diagram, Heatmap, Lines, Scatter, Table, Tree

SNAPSHOT = Path(__file__).with_name("snapshot.js").read_text(encoding="utf-8")
# One text, since Playwright takes ten times as long to send as many objects.
AS_TEXT = f"(root) => JSON.stringify(({SNAPSHOT})(root), (_, value) => value ?? null)"
# Half precision keeps 11 bits, the page prints 4 digits of them.
CLOSE = {"rtol": 1e-3, "atol": 1e-6}
CONTRAST = 4.5  # WCAG 2.2, AA: of letters with what they stand on


def snapshot(root):
    """What an explorer shows: its values, its words, and each panel's numbers and colours."""
    return json.loads(root.evaluate(AS_TEXT))


def compare(shown, panels, dark=False):
    """Fail unless the snapshot shows exactly `panels`, in numbers and in what the eye sees."""
    assert [panel["name"] for panel in shown["panels"]] == list(panels)
    for seen, panel in zip(shown["panels"], panels.values(), strict=True):
        if isinstance(panel, str):
            assert seen["said"] == panel
            continue
        assert seen["named"], f"{seen['name']} has no accessible name"
        COMPARE[type(panel)](seen, panel, dark)


def numbers(texts):
    return np.array([float(text) for text in texts])


def heatmap(seen, panel, dark):
    values = np.asarray(panel.values).reshape(-1, len(panel.rows), len(panel.columns))
    cells = seen["cells"]
    assert [(c["head"], c["row"], c["column"]) for c in cells] == list(np.ndindex(values.shape))
    got = numbers(cell["value"] for cell in cells)
    np.testing.assert_allclose(got, values.ravel(), **CLOSE)
    for cell, value in zip(cells, got, strict=True):
        blocked = panel.colours == "mask" and not value
        assert cell["hatched"] == (blocked or not np.isfinite(value)), cell
        assert (cell["written"] == "✓") == (panel.colours == "mask" and bool(value)), cell
        assert panel.colours == "mask" or rounded_as_python(cell["written"], value), cell
        assert cell["hatched"] or not cell["written"] or cell["contrast"] >= CONTRAST, cell
    assert seen["chosen"] == [panel.highlight_row is not None] * len(values)
    if panel.colours != "mask":
        painted = [(v, c["rgb"]) for v, c in zip(got, cells, strict=True) if not c["hatched"]]
        colours(panel.colours, painted, dark)


def rounded_as_python(written, value):
    """Whether the number in a cell has the digits that Python prints; arrays travel as float16."""
    plain = written.replace("−", "-")
    if not re.fullmatch(r"-?\d*\.?\d+", plain):
        return plain in ("", "-∞", "∞", "NaN")
    decimals = len(plain.partition(".")[2]) or (2 if plain in "01" else 0)
    return float(plain) == float(f"{np.float16(value):.{decimals}f}")


def colours(kind, painted, dark):
    """A larger value is never the paler cell; below zero warm, above zero cool."""
    for sign in (1, -1):
        side = sorted((abs(v), sum(rgb)) for v, rgb in painted if sign * v >= 0)
        light = [total if dark else -total for _, total in side]
        steps = np.diff(light)
        assert np.all(steps >= -1e-6), f"{kind}: {side}"
        if side and side[-1][0] > 1.2 * side[0][0] + 0.02 and (sign > 0 or kind == "scores"):
            assert light[-1] > light[0], f"{kind}: one colour for different values: {side}"
    if kind == "scores" and painted:
        largest = max(abs(v) for v, _ in painted)
        for value, (red, _, blue) in painted:
            if abs(value) > 0.3 * largest and not 0 < red == blue:
                assert (blue > red) == (value > 0), (value, red, blue)


def bars(seen, panel, _):
    assert [bar["label"] for bar in seen["bars"]] == list(panel.labels)
    got = numbers(bar["value"] for bar in seen["bars"])
    values = np.asarray(panel.values)
    np.testing.assert_allclose(got, values, **CLOSE)
    within = np.isfinite(got)
    if panel.limits:
        within &= (got >= panel.limits[0]) & (got <= panel.limits[1])
    heights = np.array([bar["height"] for bar in seen["bars"]])[within]
    sizes = np.abs(got[within])
    if sizes.size and sizes.max() > 0:
        unit = heights[sizes.argmax()] / sizes.max()
        np.testing.assert_allclose(heights, unit * sizes, atol=0.2)
        assert unit > 0
    if (got[within] > 0).any() and (got[within] < 0).any():
        tops = np.array([bar["y"] for bar in seen["bars"]])[within]
        assert tops[got[within] > 0].max() < tops[got[within] < 0].min() + 1e-6


def lines(seen, panel, _):
    assert [curve["label"] for curve in seen["series"]] == list(panel.ys)
    assert [curve["name"] for curve in seen["series"]] == list(panel.ys)
    marked = None if panel.mark is None else float(seen["mark"])
    assert marked is None or np.isclose(marked, panel.mark, rtol=1e-3)
    across, down = [], []
    for curve, y in zip(seen["series"], panel.ys.values(), strict=True):
        np.testing.assert_allclose(numbers(curve["x"]), np.asarray(panel.x), **CLOSE)
        got = numbers(curve["values"])
        np.testing.assert_allclose(got, np.asarray(y), **({"rtol": 1e-3} if panel.log_y else CLOSE))
        drawn = np.isfinite(got) & ((got > 0) | (not panel.log_y))
        corners = numbers(re.findall(r"-?[\d.]+", curve["d"])).reshape(-1, 2)
        assert len(corners) == drawn.sum()
        across += zip(numbers(curve["x"])[drawn], corners[:, 0], strict=True)
        down += zip(got[drawn], corners[:, 1], strict=True)
    straight(across, panel.log_x, 1)
    straight(down, panel.log_y, -1)


def straight(pairs, log, direction):
    """Positions on the page are an increasing (x) or decreasing (y) line in the values."""
    value, place = np.array(pairs).T
    value = np.log10(value) if log else value
    if np.ptp(value) < 1e-6 * max(1, np.abs(value).max()):
        return
    slope, intercept = np.polyfit(value, place, 1)
    assert direction * slope > 0
    np.testing.assert_allclose(place, slope * value + intercept, atol=0.6)


def table(seen, panel, _):
    assert seen["header"] == list(panel.header)
    assert [tuple(row) for row in seen["rows"]] == list(panel.rows)


def scatter(seen, panel, _):
    points = np.asarray(panel.points)
    pictures, n = points.shape[0] if panel.names else 1, points.shape[-2]
    shown = sorted(
        seen["points"], key=lambda p: (int(p["picture"]), panel.labels.index(p["label"]))
    )
    assert [p["label"] for p in shown] == [*panel.labels] * pictures
    assert [p["group"] for p in shown] == [*(panel.groups or [""] * n)] * pictures
    got = np.stack([numbers(p[axis] for p in shown) for axis in "xy"], axis=-1)
    np.testing.assert_allclose(got, points.reshape(-1, 2), **CLOSE)
    places = np.array([p["tip"] if panel.arrows else p["at"] for p in shown])
    low, high = panel.limits or (-np.inf, np.inf)
    within = np.all((got >= low) & (got <= high), axis=-1)
    on_one_scale(got[within], places[within])
    if panel.start is not None:
        start = np.stack([numbers(p[f"start{axis}"] for p in shown) for axis in "XY"], axis=-1)
        np.testing.assert_allclose(start, np.asarray(panel.start).reshape(-1, 2), **CLOSE)
        on_one_scale(
            np.concatenate([got, start]), np.concatenate([places, [p["from"] for p in shown]])
        )
    assert len(seen["circles"]) == panel.circle * pictures
    apart([p["box"] for p in shown if p["seen"]])


def on_one_scale(values, places):
    """Across and down are the same scale, so that a circle is round."""
    if len(values) < 2 or np.ptp(values, axis=0).max() < 1e-6:
        return
    centred, moved = values - values.mean(axis=0), places - places.mean(axis=0)
    unit = (centred * moved * [1, -1]).sum() / (centred**2).sum()
    assert unit > 0
    np.testing.assert_allclose(moved, unit * centred * [1, -1], atol=0.5)


def apart(boxes):
    """No label covers another."""
    for i, (left, top, right, bottom) in enumerate(boxes):
        for other in boxes[i + 1 :]:
            wide = min(right, other[2]) - max(left, other[0])
            high = min(bottom, other[3]) - max(top, other[1])
            assert min(wide, high) < 3, "labels overlap"


def tree(seen, panel, _):
    nodes = panel.nodes
    assert [n["label"] for n in seen["nodes"]] == [str(n.label) for n in nodes]
    assert [int(n["parent"]) for n in seen["nodes"]] == [n.parent for n in nodes]
    assert [n["state"] for n in seen["nodes"]] == [n.state or "" for n in nodes]
    for shown, node in zip(seen["nodes"], nodes, strict=True):
        mark = {"pruned": "× ", "finished": "✓ "}.get(node.state, "")
        assert shown["written"][0] == mark + str(node.label)
        same_value(shown["value"], shown["written"][-1], node.value)
        assert node.parent < 0 or shown["x"] > seen["nodes"][node.parent]["x"]


def same_value(exact, written, value):
    """A number in full, and rounded as it is written; a text as it stands."""
    if value is None or isinstance(value, str):
        assert (exact, written) == (value or "NaN", value or "")
        return
    assert np.isclose(float(exact), value, rtol=1e-3)
    plain = written.replace("−", "-").replace(",", "")
    if "×" not in plain:
        decimals = len(plain.partition(".")[2])
        assert np.isclose(float(plain), value, atol=0.51 * 10**-decimals, rtol=5e-4), written


def diagram(seen, panel, _):
    shown = sorted(seen["boxes"], key=lambda box: int(box["part"]))
    assert [box["name"] for box in shown] == list(panel.boxes)
    for one, (name, box) in zip(shown, panel.boxes.items(), strict=True):
        assert (one["label"], one["role"], one["frame"]) == (
            box.label,
            box.role,
            panel.is_frame(name),
        )
        assert one["written"][:-1] == box.label.split("\n")
        assert one["fits"], f"{name}: a text wider than its box"
        assert one["frame"] or one["contrast"] >= CONTRAST, one
        same_value(one["value"], one["written"][-1], box.value)
        level = float(one["level"])
        assert np.isnan(level) if box.level is None else np.isclose(level, box.level, rtol=1e-3)
    assert [(a["from"], a["to"], a["label"], a["written"]) for a in seen["links"]] == [
        (a.start, a.end, a.label, [a.label]) for a in panel.arrows
    ]


COMPARE = {
    **{Heatmap: heatmap, Bars: bars, Lines: lines, Table: table},
    **{Scatter: scatter, Tree: tree, Diagram: diagram},
}
