"""Scatter, Tree and Diagram: refusals with a mend, and what of them travels."""

import numpy as np
import pytest

from qkv.explore import Arrow, Box, Diagram, Node, Scatter, Tree
from qkv.explore.framework.frames import Frames, unpack

PLANE = np.array([[0.5, -1.25], [2.0, 0.0], [-0.1, 3.0]])
NAMES = ["cat", "dog", "mat"]
BOXES = {
    "x": Box("x", 0, 2, 1.5, value=12_288),
    "head": Box("head", 3, 0, 2, level=0.25, value="8 × 64"),
}


def stored(panel):
    frames = Frames()
    frames.add({"panel": panel})
    return unpack(frames.layout(), bytes(frames.data), 0)["panel"]


def test_points_and_where_they_were_travel_as_float16():
    spec, (points, start) = stored(
        Scatter(PLANE, NAMES, start=PLANE - 1, groups=["noun", "noun", "query"], limits=(-4, 4))
    )
    assert (spec["kind"], spec["labels"], spec["limits"]) == ("scatter", tuple(NAMES), (-4, 4))
    assert spec["groups"] == ("noun", "noun", "query")
    assert "names" not in spec
    np.testing.assert_array_equal(points, PLANE.astype(np.float16))
    np.testing.assert_array_equal(start, (PLANE - 1).astype(np.float16))


def test_pictures_side_by_side_have_names():
    spec, [points] = stored(Scatter(PLANE[:, None], ["hand"], names=["2", "3", "5"], circle=True))
    assert spec["names"] == ("2", "3", "5")
    assert points.shape == (3, 1, 2)


def test_a_tree_keeps_its_numbers_to_the_digit_and_its_texts():
    nodes = [Node("<s>"), Node("the", 0, -12.3456, "kept"), Node("a", 0, "merged", "pruned")]
    spec, [values] = stored(Tree(nodes))
    assert spec["labels"] == ("<s>", "the", "a")
    assert spec["parents"] == (-1, 0, 0)
    assert spec["states"] == (None, "kept", "pruned")
    assert spec["texts"] == (None, None, "merged")
    np.testing.assert_array_equal(values, np.float32([np.nan, -12.3456, np.nan]))


def test_a_diagram_keeps_places_values_and_arrows():
    spec, (values, levels) = stored(
        Diagram(
            {**BOXES, "layer": Box("layer", 2, 0, 4, 4)},
            [Arrow("x", "head", "(B, T)", "split", via=[(1, 5)])],
        )
    )
    assert spec["boxes"][1] == (3, 0, 2, 1, None)
    assert spec["frames"] == [False, False, True]
    assert spec["arrows"] == [(0, 1, [[1, 5]])]
    assert (spec["arrow_labels"], spec["details"]) == (["(B, T)"], ["", "", "", "split"])
    assert spec["box_texts"] == [None, "8 × 64", None]
    np.testing.assert_array_equal(values, np.float32([12_288, np.nan, np.nan]))
    np.testing.assert_array_equal(levels, np.float32([np.nan, 0.25, np.nan]))


def test_links_travel_only_where_a_box_has_one():
    plain, _ = stored(Diagram(BOXES))
    assert "hrefs" not in plain
    linked, _ = stored(Diagram({**BOXES, "y": Box("y", 0, 4, link="03_attention")}))
    assert linked["hrefs"] == [None, None, "03_attention"]


def test_texts_that_a_slider_changes_are_stored_once_each():
    frames = Frames()
    for n in (2, 3, 2):
        boxes = {"x": Box("x", 0, 0, 2, value=f"({n}, 3)", detail="the input"), "y": Box("y", 3, 0)}
        frames.add({"d": Diagram(boxes, [Arrow("x", "y", f"(B, {n})")])})
    layout = frames.layout()
    assert len(layout["specs"]) == 1
    assert sorted(filter(None, layout["strings"])) == [
        "(2, 3)",
        "(3, 3)",
        "(B, 2)",
        "(B, 3)",
        "the input",
    ]
    shown = [unpack(layout, bytes(frames.data), i)["d"][0] for i in range(3)]
    assert [spec["box_texts"] for spec in shown] == [
        ["(2, 3)", None],
        ["(3, 3)", None],
        ["(2, 3)", None],
    ]
    assert shown[1]["arrow_labels"] == ["(B, 3)"]
    assert shown[1]["details"] == ["the input", "", ""]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Scatter(PLANE.T, ["a", "b"]), r"must be \(n, 2\) or \(H, n, 2\), got \(2, 3\)"),
        (lambda: Scatter(PLANE, ["a", "b"]), "labels must hold 3 labels, one for each point"),
        (lambda: Scatter(PLANE[None], NAMES), "names must head each of several pictures"),
        (lambda: Scatter(PLANE, NAMES, names=["one"]), "names must head each of several pictures"),
        (lambda: Scatter(PLANE[None], NAMES, names="ab"), "names must hold 1 labels"),
        (lambda: Scatter(PLANE + np.inf, NAMES), "points must be finite"),
        (lambda: Scatter(PLANE, NAMES, start=PLANE[:1]), r"shape of points \(3, 2\), got \(1, 2\)"),
        (lambda: Scatter(PLANE, NAMES, limits=(1, -1)), r"limits must be \(lowest, highest\)"),
        (lambda: Scatter(np.ones((5, 2)), "abcde", groups="abcde"), "labels must hold 5"),
        (lambda: Scatter(np.ones((5, 2)), [*"abcde"], groups=[*"abcde"]), "at most 4 different"),
        (lambda: Tree([]), "one Node or more"),
        (lambda: Tree(["root"]), "one Node or more"),
        (lambda: Tree([Node("a", 0)]), r"nodes\[0\].parent must be -1, got 0"),
        (lambda: Tree([Node("a"), Node("b")]), r"nodes\[1\].parent must be 0 to 0, got -1"),
        (lambda: Tree([Node("a"), Node("b", 1)]), "each node after its parent"),
        (lambda: Tree([Node("a", state="dead")]), r"state must be one of .*'finished'"),
        (lambda: Tree([Node("a", value=float("nan"))]), "value must not be nan"),
        (lambda: Tree([Node("a", value=[1])]), "a number, a text or None"),
        (lambda: Diagram({}), "at least one box"),
        (lambda: Diagram({"a": Box("attention", 0, 0)}), "give it width 1.7, or break"),
        (lambda: Diagram({"a": Box("a\nb\nc", 0, 0)}), "give it height 1.3, or break"),
        (lambda: Diagram({"a": Box("a", 0, 0, value=1_234_567)}), "must hold its text"),
        (lambda: Diagram({"a": Box("다중 머리 어텐션", 0, 0, 2)}), "give it width 2.7"),
        (lambda: Diagram({"a": Box("a", -1, 0)}), "x, y ≥ 0"),
        (lambda: Diagram({"a": Box("a", 0, 0, level=2)}), r"level must lie in 0\.\.1"),
        (lambda: Diagram({"a": Box("a", 0, 0, role="blue")}), "role must be one of"),
        (lambda: Diagram({"a": Box("a", 0, 0), "b": Box("b", 0, 0)}), "'a' and 'b': move one"),
        (lambda: Diagram({"a": Box("a", 0, 0), "b": Box("b", 0.5, 0)}), "must not overlap"),
        (
            lambda: Diagram({"a": Box("a", 0, 0, 3, 3, value=1), "b": Box("b", 1, 1)}),
            "lies around other boxes and must have no value",
        ),
        (
            lambda: Diagram({"a": Box("a", 0, 0, link="javascript:alert(1)")}),
            r"boxes\['a'\].link must be the name of a chapter's notebook",
        ),
        (lambda: Diagram({"a": Box("a", 0, 0, link="03_attention.html")}), "leave out folder"),
        (
            lambda: Diagram({"a": Box("a", 0, 0, 3, 3, link="03_attention"), "b": Box("b", 1, 1)}),
            "link the boxes inside",
        ),
        (lambda: Diagram(BOXES, [Arrow("x", "y")]), r"join boxes \['x', 'head'\], got 'y'"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_mend(call, message):
    with pytest.raises(ValueError, match=message) as error:
        call()
    assert ":" in str(error.value)
