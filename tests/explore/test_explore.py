"""Explorers: panels that refuse what does not fit, frames that round-trip, answers off the grid."""

import itertools
import json
import re
import tomllib

import numpy as np
import pytest
from ipywidgets import RadioButtons, SelectionSlider, Widget

from qkv.explore import Bars, Heatmap, Lines, Table, explore
from qkv.explore.framework.bundle import FILES, STATIC, es_module, plain_script
from qkv.explore.framework.frames import Frames, unpack
from tests.helpers.explorers import CHAPTERS, explorers_in_chapter, function_of, points_of

TOKENS = ["a", "fluffy", "blue"]


def picture(d_k=1, n_heads=1, scaled=True):
    values = np.full((n_heads, 3, 3), 1 / d_k if scaled else d_k)
    return {"weights": Heatmap(values, TOKENS, TOKENS), "variance": f"{d_k}"}


def make_explorer(**changes):
    settings = {"title": "Widths", "hint": "Move d_k.", "d_k": [1, 2, 4], "n_heads": [1, 2]}
    return explore(picture, **{**settings, **changes})


def test_arrays_travel_as_float16():
    values = np.random.default_rng(0).standard_normal((2, 3, 3))
    values[0, 1, 2] = -np.inf
    frames = Frames()
    frames.add({"scores": Heatmap(values, TOKENS, TOKENS, "scores"), "said": "0.37"})
    panels = unpack(frames.layout(), bytes(frames.data), 0)
    assert len(frames.data) == 2 * values.size
    np.testing.assert_array_equal(panels["scores"][1][0], values.astype(np.float16))
    assert panels["said"][0]["text"] == "0.37"


@pytest.mark.parametrize(
    "panel",
    [
        Heatmap([[-1e9, 0.0]], ["a"], ["b", "c"], "scores"),
        Lines([1, 4001], {"norm": [1e-9, 1.0]}, log_y=True),
    ],
)
def test_what_float16_would_destroy_travels_as_float32(panel):
    frames = Frames()
    frames.add({"panel": panel})
    _, arrays = unpack(frames.layout(), bytes(frames.data), 0)["panel"]
    given = [panel.values] if isinstance(panel, Heatmap) else [panel.x, panel.ys["norm"]]
    for got, wanted in zip(arrays, given, strict=True):
        np.testing.assert_array_equal(got, np.float32(wanted))


def test_a_panel_that_ignores_a_slider_is_stored_once():
    frames = Frames()
    for said in ("1", "2", "3"):
        frames.add({"weights": Heatmap(np.eye(3), TOKENS, TOKENS), "said": said})
    assert len(frames.data) == 2 * 9
    assert len(frames.points) == 3
    assert len(frames.specs) == 1 + 3


def test_one_range_holds_for_the_whole_grid():
    frames = Frames()
    for far in (1, 7):
        frames.add({"b": Bars([-far, 2 * far], ["x", "y"])})
        frames.add({"l": Lines([1, 2], {"y": [0.0, far]}, log_y=True)})
    assert frames.ranges == {"b": [-7.0, 14.0], "l": [1.0, 7.0]}


def test_repr_has_no_address():
    box = make_explorer()
    assert repr(box.explorer) == "Explorer('Widths', d_k=[1, 2, 4], n_heads=[1, 2])"
    assert repr(box) == repr(make_explorer())


def test_where_no_widget_is_drawn_a_sentence_says_what_to_do():
    """To its end: ipywidgets would cut it off after 110 characters."""
    text = make_explorer(title="Widths " * 9)._repr_mimebundle_()["text/plain"]
    assert text.startswith(f"Explorer, “{'Widths ' * 9}”: run this cell in Jupyter")
    assert text.endswith("In the book it works at once.")
    other = make_explorer(labels={"unrun": "Regler „{title}“: Zelle ausführen."})
    assert other._repr_mimebundle_()["text/plain"] == "Regler „Widths“: Zelle ausführen."


def test_opening_state_and_labels():
    box = make_explorer(start={"d_k": 4}, labels={"n_heads": "Köpfe"}, scaled=[True, False])
    view = box.explorer
    assert (view.i_d_k, view.i_n_heads, view.i_scaled) == (2, 0, 0)
    controls = box.children[2].children
    assert [one.description for one in controls] == ["d_k", "Köpfe", "scaled"]
    assert controls[0].value == 4
    assert view.axes[2]["texts"] == ["no", "yes"]
    assert view.source == f"{__name__}:picture"


def say(**values):
    return {"said": str(values)}


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2, 4], SelectionSlider),
        ([0.5, 1], SelectionSlider),
        (["−∞", "−10⁹"], RadioButtons),
        (["1", "2"], RadioButtons),
        ([True, False], RadioButtons),
        ([1, "all"], RadioButtons),
    ],
)
def test_a_number_has_a_slider_and_any_other_choice_a_row_of_buttons(values, kind):
    box = explore(say, title="", hint="", start={"one": values[1]}, one=values)
    [control] = box.children[2].children
    assert type(control) is kind
    assert control.value == values[1]
    assert control._options_labels == tuple(box.explorer.axes[0]["texts"])
    assert box.explorer.i_one == control.index
    models = Widget.get_manager_state()["state"].values()
    ends = [(m["state"].get("source"), m["state"].get("target")) for m in models]
    trait = [f"IPY_MODEL_{box.explorer.model_id}", "i_one"]
    assert ([f"IPY_MODEL_{control.model_id}", "index"], trait) in ends


def test_follow_is_a_switch_that_starts_off():
    box = make_explorer(follow=("d_k", "n_heads", {1: 4, 2: 2}))
    switch = box.children[2].children[-1]
    assert switch.description == "d_k follows d_model / heads"
    assert switch.value is False
    assert box.explorer.follow == {"axis": "d_k", "leader": "n_heads", "places": [2, 1]}


def test_follow_takes_several_leaders():
    sizes = {(8, 1): 8, (8, 2): 4, (16, 1): 16, (16, 2): 8}
    box = explore(
        lambda d_model, n_heads, d_k: {"said": f"{d_model} {n_heads} {d_k}"},
        title="",
        hint="",
        follow=("d_k", ("d_model", "n_heads"), sizes),
        d_model=[8, 16],
        n_heads=[1, 2],
        d_k=[4, 8, 16],
    )
    assert box.children[2].children[-1].description == "d_k follows d_model / heads"
    rule = box.explorer.follow
    assert rule == {"axis": "d_k", "leader": ["d_model", "n_heads"], "places": [[1, 0], [2, 1]]}


def changing(d_k=1):
    return {"a": "x"} if d_k == 1 else {"b": "x"}


def shifting(d_k=1):
    return {"a": "x" if d_k == 1 else Bars([1], ["x"])}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: make_explorer(start={"d_k": 3}),
            r"explore: start\['d_k'\] must be one of \[1, 2, 4\], got 3",
        ),
        (lambda: make_explorer(start={"d_v": 3}), r"must be one of \['d_k', 'n_heads'\], got 3"),
        (lambda: make_explorer(d_k=[]), "d_k must hold two or more distinct values"),
        (lambda: make_explorer(d_k=[2, 2]), "give fn a default instead"),
        (lambda: make_explorer(d_k=[(1, 2), 3]), "must hold numbers, strings or booleans"),
        (lambda: explore(picture, title="", hint=""), "at least one axis is needed"),
        (lambda: make_explorer(ranges={"scaled": (0, 1)}), "name axes of numbers"),
        (
            lambda: make_explorer(ranges={"d_k": (1, 2)}),
            r"hold the grid from 1 to 4, got \(1, 2\): widen it",
        ),
        (lambda: make_explorer(follow=("d_v", "n_heads", {})), "must name axes of the grid"),
        (
            lambda: make_explorer(follow=("d_k", "n_heads", {1: 4, 2: 3})),
            r"mend it for n_heads = \[2\]",
        ),
        (
            lambda: make_explorer(follow=("d_k", ("d_k", "n_heads"), {})),
            r"mend it for d_k and n_heads = \[\(1, 1\)",
        ),
        (
            lambda: explore(changing, title="", hint="", d_k=[1, 2]),
            "the same panels at every point",
        ),
        (
            lambda: explore(shifting, title="", hint="", d_k=[1, 2]),
            "the same panels at every point",
        ),
        (
            lambda: explore(lambda d_k: 1, title="", hint="", d_k=[1, 2]),
            "fn must return {name: panel",
        ),
        (
            lambda: explore(lambda d_k: {"a": 1}, title="", hint="", d_k=[1, 2]),
            "Heatmap, Bars, Lines, Scatter, Tree, Diagram, Table. or text, got int",
        ),
        (lambda: Heatmap([1, 2], ["a"], ["b"]), r"must be \(n, m\) or \(H, n, m\), got \(2,\)"),
        (lambda: Heatmap(np.eye(2), ["a"], ["b", "c"]), "rows must hold 2 labels"),
        (lambda: Heatmap(np.eye(2), "ab", ["b", "c"]), "rows must hold 2 labels"),
        (lambda: Heatmap(np.eye(1), ["a"], ["b"], "viridis"), "colours must be one of"),
        (lambda: Heatmap(np.eye(1), ["a"], ["b"], highlight_row=1), "highlight_row must be one of"),
        (lambda: Heatmap([["x"]], ["a"], ["b"]), "must be real numbers"),
        (lambda: Bars([1, 2], ["a"]), "labels must hold 2 labels"),
        (lambda: Bars([1], ["a"], role="blue"), "role must be one of"),
        (lambda: Lines([1, 1], {"y": [1, 2]}), "must be finite and increase"),
        (lambda: Lines([0, 1], {"y": [1, 2]}, log_x=True), "log_x needs positive x"),
        (lambda: Lines([1, 2], {}), "at least one curve"),
        (lambda: Lines([1, 2], {"y": [1]}), r"ys\['y'\] must be \(n,\) = \(2,\), got \(1,\)"),
        (lambda: Table(["a", "b"], [["1"]]), "a row must hold 2 labels"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_mend(call, message):
    with pytest.raises(ValueError, match=message) as error:
        call()
    assert ":" in str(error.value)


class SentMessages(list):
    def __call__(self, content, buffers=()):
        self.append((content, buffers))


def answers_of(box, message):
    """What the kernel's side answers to one message of the page."""
    box.explorer.send = messages = SentMessages()
    box.explorer._answer(box.explorer, message, [])
    return messages


def test_the_kernel_answers_off_the_grid():
    box = make_explorer()
    assert answers_of(box, {"type": "hello"}) == [({"type": "alive"}, ())]
    values = {"d_k": 3, "n_heads": 2}
    [(answer, [data])] = answers_of(box, {"type": "compute", "request": 7, "values": values})
    assert (answer["type"], answer["request"], answer["values"]) == ("frame", 7, values)
    panels = unpack(answer["layout"], data, 0)
    np.testing.assert_array_equal(panels["weights"][1][0], np.full((2, 3, 3), np.float16(1 / 3)))
    assert panels["variance"][0]["text"] == "3"


def test_an_error_of_the_kernel_reaches_the_reader():
    box = make_explorer(ranges={"d_k": (0, 4)})
    values = {"d_k": 0, "n_heads": 1}
    [(answer, _)] = answers_of(box, {"type": "compute", "request": 1, "values": values})
    assert answer["type"] == "error"
    assert answer["text"] == "ZeroDivisionError: division by zero"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"d_k": 2_000_000}, "d_k takes whole numbers from 1 to 4, not 2000000."),
        ({"d_k": 10**9}, "d_k takes whole numbers from 1 to 4, not 1000000000."),
        ({"d_k": -3}, "d_k takes whole numbers from 1 to 4, not −3."),
        ({"d_k": 0}, "d_k takes whole numbers from 1 to 4, not 0."),
        ({"d_k": 2.5}, "d_k takes whole numbers from 1 to 4, not 2.5."),
        ({"d_k": 1e300}, "d_k takes whole numbers from 1 to 4, not 1e+300."),
        ({"d_k": None}, "d_k takes whole numbers from 1 to 4, not None."),
        ({"n_heads": 9}, "heads takes whole numbers from 1 to 8, not 9."),  # the reader's word
        ({"shift": -0.75}, "moved by takes numbers from −0.5 to 0.5, not −0.75."),
    ],
)
def test_off_its_range_an_axis_is_refused_and_nothing_computed(values, said):
    def never(d_k, n_heads, shift):
        if (d_k, n_heads, shift) not in grid:
            raise AssertionError("computed")
        return {"said": "x"}

    axes = {"d_k": [1, 2, 4], "n_heads": [1, 2], "shift": [-0.5, 0.0, 0.5]}
    grid = list(itertools.product(*axes.values()))
    labels = {"shift": "moved by"}
    box = explore(never, title="", hint="", labels=labels, ranges={"n_heads": (1, 8)}, **axes)
    point = {"d_k": 1, "n_heads": 1, "shift": 0.0, **values}
    [(answer, _)] = answers_of(box, {"type": "compute", "request": 1, "values": point})
    assert (answer["type"], answer["text"]) == ("error", said)


def test_a_box_is_offered_where_the_slider_leaves_something_out():
    axes = make_explorer(scaled=[False, True], ranges={"n_heads": (1, 8)}).explorer.axes
    assert [axis.get("range") for axis in axes] == [[1, 4], [1, 8], None]
    assert "range" not in make_explorer().explorer.axes[1], "1 and 2 are all there is"


def test_the_front_end_is_one_module_and_one_script():
    assert {f"{name}.js" for name in FILES} == {path.name for path in STATIC.glob("*.js")}
    assert es_module().count("export ") == 1
    for text in (es_module(), plain_script()):
        assert not re.search(r"^import ", text, re.MULTILINE)
        assert "innerHTML" not in text
    assert "export" not in plain_script()


def test_an_installation_brings_what_draws():
    project = tomllib.loads((CHAPTERS[0].parents[1] / "pyproject.toml").read_text("utf-8"))
    patterns = project["tool"]["setuptools"]["package-data"]
    assert patterns["qkv.explore"] == ["chapters.json"]
    patterns = patterns["qkv.explore.framework"]
    shipped = {file for pattern in patterns for file in STATIC.parent.glob(pattern)}
    assert set(STATIC.iterdir()) == shipped


def stored_explorers():
    return [
        pytest.param(state, id=f"{path.stem}: {state['title']}")
        for path in CHAPTERS
        for state in explorers_in_chapter(path)
    ]


@pytest.mark.parametrize("state", stored_explorers())
def test_stored_frames_are_what_the_function_returns_today(state):
    fn, points = function_of(state["source"]), list(points_of(state["axes"]))
    assert len(points) == len(state["frames_layout"]["points"])
    assert len(state["frames"]) < 150_000
    for i, values in enumerate(points):
        fresh = Frames()
        fresh.add(fn(**values))
        wanted = unpack(fresh.layout(), bytes(fresh.data), 0)
        got = unpack(state["frames_layout"], state["frames"], i)
        assert list(got) == list(wanted)
        for name in wanted:
            said = f"{name} at {values}: if the function is right, make notebooks"
            assert got[name][0] == json.loads(json.dumps(wanted[name][0])), said
            for old, new in zip(got[name][1], wanted[name][1], strict=True):
                # Another processor may round the last bit of a float16 the other way.
                np.testing.assert_allclose(
                    old.astype(float), new.astype(float), rtol=2**-9, atol=1e-6
                )
