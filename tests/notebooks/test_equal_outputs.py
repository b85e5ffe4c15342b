"""An output that differs by rounding keeps its stored form; one that reads differently does not."""

import base64
import copy
import io
import json
import re

import ipywidgets
import matplotlib.pyplot as plt
import numpy as np
import pytest
from ipywidgets.embed import embed_data
from nbformat.v4 import new_code_cell, new_notebook, new_output

from qkv.explore import Bars, Heatmap, Lines, Table, explore
from qkv.notebooks.equal_outputs import keep_equal_outputs, kept_outputs
from qkv.notebooks.one_run import forget_code, note_code
from qkv.notebooks.rounding import same_array, same_text
from qkv.notebooks.widget_state import STATE_MIME, VIEW_MIME, normalize_notebook

NOISE = 1 + 2e-16 * np.array([[1, 3, 0], [2, 5, 4]])  # as another order of sums brings


def printed(text):
    return [new_output("stream", name="stdout", text=text)]


def table(html, plain="a table"):
    return [new_output("execute_result", {"text/html": html, "text/plain": plain})]


@pytest.mark.parametrize(
    ("stored", "fresh"),
    [
        ("loss 0.30000000000000004\n", "loss 0.30000000000000010\n"),
        ("[1.2345678e-05 2.0]", "[1.2345679e-05 2.0]"),
        ("9.9999999 of 10", "9.9999998 of 10"),
    ],
)
def test_rounding_keeps_what_is_stored(stored, fresh):
    assert same_text(stored, fresh)
    assert kept_outputs(printed(fresh), printed(stored)) == printed(stored)
    assert kept_outputs(table(f"<td>{fresh}"), table(f"<td>{stored}")) == table(f"<td>{stored}")


@pytest.mark.parametrize(
    ("stored", "fresh"),
    [
        ("loss 0.333", "loss 0.334"),
        ("17,568 times", "17,446 times"),
        ("1000000 steps", "1000001 steps"),
        ("1e-16", "2e-16"),
        ("2.2e-16", "4.4e-16"),
        ("0.5", "0.50"),
        ("0.30000000000000004", "0.3"),
        ("-0.0", "0.0"),
        ("loss 0.25", "gain 0.25"),
        ("1.5 2.5", "1.5"),
        ("nan", "0.5"),
    ],
)
def test_what_reads_differently_is_stored_anew(stored, fresh):
    assert not same_text(stored, fresh)
    assert kept_outputs(printed(fresh), printed(stored)) == printed(fresh)
    assert kept_outputs(table(fresh), table(stored)) == table(fresh)
    assert kept_outputs(table("<b>", fresh), table("<b>", stored)) == table("<b>", fresh)


def test_an_output_more_or_of_another_kind_is_stored_anew():
    assert kept_outputs([*printed("1"), *table("2")], printed("1")) == [*printed("1"), *table("2")]
    assert kept_outputs(printed("a table"), table("<b>")) == printed("a table")


def test_a_kept_output_is_counted_with_its_run():
    stored, fresh = table("0.12345678"), table("0.12345679")
    stored[0].execution_count, fresh[0].execution_count = 4, 5
    (kept,) = kept_outputs(fresh, stored)
    assert kept.data["text/html"] == "0.12345678"
    assert kept.execution_count == 5


def as_output(pixels):
    file = io.BytesIO()
    plt.imsave(file, pixels, format="png")
    return [new_output("display_data", {"image/png": base64.b64encode(file.getvalue()).decode()})]


def figure(slope=1.0, width=4.0):
    """The pixels of a drawn line."""
    fig, ax = plt.subplots(figsize=(width, 3), dpi=80)
    ax.plot([0, 1], [0, slope], color="k")
    ax.set_ylim(0, 1.2)
    fig.canvas.draw()
    pixels = np.array(fig.canvas.buffer_rgba())
    plt.close(fig)
    return pixels


def test_a_picture_keeps_its_form_but_for_what_is_seen():
    pixels = figure()
    stored = as_output(pixels)
    row, column = np.argwhere(pixels[..., 0] == 0)[40]
    edge = pixels.copy()
    edge[row, column, :3] += 120  # one pixel at the edge of the line
    shade = pixels.copy()
    shade[..., :3] -= np.minimum(shade[..., :3], 5)
    for same in (pixels, edge, shade):
        assert kept_outputs(as_output(same), stored) == stored
    label = pixels.copy()
    label[10:12, 10:12, :3] = 0
    moved = np.roll(pixels, 1, axis=0)
    for other in (label, moved, figure(0.99), figure(0.9), figure(width=4.1)):
        assert kept_outputs(as_output(other), stored) == as_output(other)


def panels(word, noise=1.0, loss=0.25):
    weights = np.array([[0.7, 0.2, 0.1], [0.3, 0.3, 0.4]]) * noise * len(word)
    curve = np.array([1e-12, 1e-3, loss]) * np.ravel(noise)[-1]
    return {
        "weights": Heatmap(weights, ["a", "b"], ["x", "y", "z"]),
        "bars": Bars([0.3, 0.1 + 0.2 * np.ravel(noise)[0]], ["p", "q"]),
        "curve": Lines([1, 2, 3], {"loss": curve}, log_y=True),
        "table": Table(["word", "loss"], [[word, f"{loss:.3f}"]]),
    }


def notebook_of(fn, *before):
    """A notebook, normalized, whose last cell shows an explorer of `fn`."""
    boxes = [*before, explore(fn, title="Words", hint="Choose.", word=["cat", "mats"])]
    state = embed_data(views=boxes)["manager_state"]
    cells = [
        new_code_cell(
            "show()",
            id=f"toy-{len(boxes) - i}",
            outputs=[
                new_output("display_data", {VIEW_MIME: {"model_id": box.model_id}}),
            ],
        )
        for i, box in enumerate(boxes)
    ]
    return normalize_notebook(new_notebook(cells=cells, metadata={"widgets": {STATE_MIME: state}}))


def test_frames_that_differ_by_rounding_keep_their_form():
    stored = notebook_of(lambda word: panels(word))
    fresh = notebook_of(lambda word: panels(word, NOISE))
    assert fresh != stored, "these frames do not differ"
    assert keep_equal_outputs(fresh, stored) == stored


def test_whole_numbers_may_come_without_their_point():
    """As JavaScript writes them, and JupyterLab saves them."""
    stored = notebook_of(lambda word: {**panels(word), "ends": Bars([0.0, 1.0], ["p", "q"])})
    fresh = notebook_of(lambda word: {**panels(word, NOISE), "ends": Bars([0.0, 1.0], ["p", "q"])})
    saved = json.loads(re.sub(r"(?<=[ \[])(\d+)\.0(?=[,\]])", r"\1", json.dumps(fresh)))
    assert "0.0, 1.0" in json.dumps(stored)
    assert json.dumps(keep_equal_outputs(saved, stored)) == json.dumps(stored)


@pytest.mark.parametrize("change", [{"loss": 0.251}, {"noise": 1.002}])
def test_frames_that_read_differently_are_stored_anew(change):
    stored = notebook_of(lambda word: panels(word))
    fresh = notebook_of(lambda word: panels(word, **change))
    assert keep_equal_outputs(copy.deepcopy(fresh), stored) == fresh


def test_frames_are_kept_under_new_ids_behind_a_new_widget():
    stored = notebook_of(lambda word: panels(word))
    fresh = notebook_of(lambda word: panels(word, NOISE), ipywidgets.IntSlider())
    exact = notebook_of(lambda word: panels(word), ipywidgets.IntSlider())
    assert fresh != exact
    assert json.dumps(keep_equal_outputs(fresh, stored)) == json.dumps(exact)


def test_a_changed_axis_of_an_explorer_is_stored_anew():
    stored = notebook_of(lambda word: panels(word))
    fresh = notebook_of(lambda word: panels(word, NOISE))
    for model in fresh["metadata"]["widgets"][STATE_MIME]["state"].values():
        if model["state"].get("title") == "Words":
            model["state"]["title"] = "Other words"
    assert keep_equal_outputs(copy.deepcopy(fresh), stored) == fresh


def test_arrays_are_equal_up_to_their_own_rounding():
    half = np.linspace(0.1, 1, 200).astype(np.float16)
    one = half.copy()
    one[3] = np.nextafter(one[3], np.float16(2))
    assert same_array(half, one)
    assert not same_array(half, np.nextafter(half, np.float16(2)))  # no noise moves every number
    one[3] = np.nextafter(one[3], np.float16(2))
    assert not same_array(half, one)

    curve = np.array([1e-12, 1.0], dtype=np.float32)
    assert same_array(curve, np.float32([2e-12, 1.0]))
    assert not same_array(curve, np.float32([2e-12, 1.0]), each=True)
    assert same_array(curve, curve * np.float32(1 + 2e-7), each=True)
    assert same_array(np.array([np.nan, -np.inf]), np.array([np.nan, -np.inf]))
    assert not same_array(np.array([np.inf, 1.0]), np.array([1.0, 1.0]))
    assert not same_array(np.zeros(2), np.zeros(3))
    assert not same_array(np.array([1, 2]), np.array([1, 3]))


def drawn(line, source="draw()", above="train()", text="a figure"):
    """A notebook with a picture of one run."""
    figure, axes = plt.subplots(figsize=(2, 1))
    axes.plot(line)
    stream = io.BytesIO()
    figure.savefig(stream, format="png")
    plt.close(figure)
    data = {"image/png": base64.b64encode(stream.getvalue()).decode(), "text/plain": text}
    tagged = {"tags": ["one-run"]}
    cells = [
        new_code_cell(above, id="a"),
        new_code_cell(source, id="b", metadata=tagged, outputs=[new_output("display_data", data)]),
    ]
    notebook = new_notebook(cells=cells)
    note_code(notebook)
    return notebook


def test_a_picture_of_one_run_stays_while_its_code_is_the_same():
    stored = drawn([1, 2])
    assert keep_equal_outputs(drawn([2, 1]), stored) == stored
    assert keep_equal_outputs(stored, stored) == stored  # the hash too


@pytest.mark.parametrize(
    "changed", [{"source": "draw(2)"}, {"above": "train(2)"}, {"text": "two figures"}]
)
def test_a_picture_of_one_run_is_drawn_anew_by_other_code(changed):
    fresh = drawn([2, 1], **changed)
    assert keep_equal_outputs(fresh, drawn([1, 2])) == fresh


def test_a_save_after_an_edit_keeps_what_was_drawn_and_by_which_code():
    """JupyterLab saves cells that were not run, or run anew, under the hash that they had."""
    stored, edited = drawn([1, 2]), drawn([2, 1])
    edited["cells"][0]["source"] = "train(2)"
    saved = keep_equal_outputs(edited, stored)
    assert saved["cells"][1] == edited["cells"][1]
    rerun = drawn([2, 1], above="train(2)")
    assert keep_equal_outputs(rerun, saved)["cells"][1]["metadata"] != saved["cells"][1]["metadata"]
    unrun = drawn([1, 2])
    unrun["cells"][0]["source"] = "train(2)"
    assert keep_equal_outputs(rerun, keep_equal_outputs(unrun, stored)) == rerun


def test_a_picture_of_one_run_is_drawn_anew_on_request():
    fresh, stored = drawn([2, 1]), drawn([1, 2])
    forget_code(stored)
    assert keep_equal_outputs(fresh, stored) == fresh


def test_without_the_tag_another_picture_is_stored():
    fresh, stored = drawn([2, 1]), drawn([1, 2])
    for notebook in (fresh, stored):
        notebook["cells"][1]["metadata"] = {}
    assert keep_equal_outputs(fresh, stored) == fresh
