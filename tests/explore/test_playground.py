"""The playground's widget: what it holds, what it stores, what it answers, what a page loads."""

import copy
import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from ipywidgets import Widget

from qkv.bridge import from_bytes
from qkv.explore.framework.bundle import explorer_files
from qkv.explore.playground import playground
from qkv.explore.playground.bundle import es_module, plain_script, playground_files
from qkv.explore.playground.labels import DEFAULT_LABELS, REFUSALS
from qkv.explore.playground.widget import Playground
from qkv.javascript.bundle import EXPORT, imported
from qkv.notebooks.widget_state import (
    PLACEHOLDER_MODULE,
    PLAYGROUND_ID,
    STATE_MIME,
    VIEW_MIME,
    find_explorers,
    normalize_notebook,
)
from qkv.pretrained import pretrained
from tests.helpers.explorers import CHAPTERS
from tests.helpers.node import node

sys.path.append(str(Path(__file__).parents[2] / "book" / "extensions"))
noscript_tables = importlib.import_module("noscript_tables").noscript_tables

ENGINE_THAT_REFUSES = ("translator", "lenient_tokenizer", "finite_numbers")


def make_box(**changes):
    return playground(**{"title": "Any sentence", "hint": "Type one.", **changes})


def stored(box):
    """The notebook that shows this box alone, in its stored form."""
    view = {VIEW_MIME: {"model_id": box.model_id}, "text/plain": repr(box)}
    notebook = {
        "metadata": {"widgets": {STATE_MIME: Widget.get_manager_state()}},
        "cells": [{"outputs": [{"data": view}]}],
    }
    return normalize_notebook(notebook)


def test_it_opens_as_it_is_told():
    widget = make_box(view="heads", start="A cat", examples=["A dog"]).explorer
    assert (widget.view, widget.start, widget.examples) == ("heads", "A cat", ["A dog"])
    with pytest.raises(ValueError, match=r"view must be one of .*'heads'.*, got 'maps'"):
        make_box(view="maps")


def boxes_in_chapters():
    """(chapter, state) of every playground that a notebook stores."""
    for path in CHAPTERS:
        metadata = json.loads(path.read_text("utf-8"))["metadata"]
        for model in metadata.get("widgets", {}).get(STATE_MIME, {"state": {}})["state"].values():
            if model["state"].get("_anywidget_id") == PLAYGROUND_ID:
                yield path.stem, model["state"]


def test_three_chapters_open_it_on_what_they_teach():
    views = {chapter: state["view"] for chapter, state in boxes_in_chapters()}
    assert views == {"01_start": "attention", "12_decoding": "search", "13_results": "heads"}


@pytest.mark.parametrize(
    "state", [state for _, state in boxes_in_chapters()], ids=lambda s: s["view"]
)
def test_a_chapter_stores_its_box_as_it_is_made_now(state):
    """With the words that the page's script asks for, and sentences that the model can read."""
    assert state["labels"] == make_box().explorer.labels
    assert pretrained().translate([state["start"], *state["examples"]])


def test_words_can_be_others():
    labels = make_box(labels={"translate": "Übersetzen"}).explorer.labels
    assert labels["translate"] == "Übersetzen"
    assert labels["field"] == DEFAULT_LABELS["field"]
    assert labels["largest"] == "largest"  # of the panels


def test_where_no_widget_is_drawn_a_sentence_says_what_to_do():
    box = make_box()
    assert repr(box) == DEFAULT_LABELS["unrun"].format(title="Any sentence")
    assert repr(box.explorer) == "Playground('Any sentence', view='attention')"


def test_what_a_notebook_stores_is_small_and_the_same_each_time():
    notebook = stored(make_box())
    models = notebook["metadata"]["widgets"][STATE_MIME]["state"]
    (model,) = (m for m in models.values() if m["state"].get("_anywidget_id") == PLAYGROUND_ID)
    assert model["state"]["_esm"] == PLACEHOLDER_MODULE
    assert "_css" not in model["state"]
    assert "buffers" not in model
    assert len(json.dumps(notebook)) < 10_000
    assert notebook == normalize_notebook(copy.deepcopy(notebook))
    assert json.dumps(notebook, sort_keys=True) == json.dumps(stored(make_box()), sort_keys=True)
    assert find_explorers(notebook) == {}  # it has no grid of values


def test_a_kernel_sends_the_parameters_when_it_is_asked():
    widget, sent = Playground(), []
    widget.send = lambda content, buffers=None: sent.append((content, buffers))
    widget._answer(widget, {"type": "hello"}, [])
    assert sent == []
    widget._answer(widget, {"type": "model"}, [])
    ((message, (parameters,)),) = sent
    content = json.loads(json.dumps(message["content"]))
    assert message["type"] == "model"
    assert content["source"]["language"] == "English"
    assert "parameters" not in content
    translator = pretrained()
    assert tuple(content["target"]["tokens"]) == translator.target.tokens
    tensors = from_bytes(parameters, "the message")
    for name, value in translator.model.state_dict().items():
        np.testing.assert_array_equal(tensors.pop(name), value)
    assert tensors == {}


def test_without_javascript_a_sentence_says_so():
    models = stored(make_box(title="<Any>"))["metadata"]["widgets"][STATE_MIME]["state"]
    text = noscript_tables(models, "widget-0001")
    assert text.startswith("<noscript>")
    assert "&lt;Any&gt;" in text
    assert "needs JavaScript" in text


def test_the_page_shares_the_drawing_code_with_the_explorers():
    """What the files import from the explorers is exported by the explorers' script."""
    explorer = next(file for file in explorer_files() if file.stem == "explorer")
    shared = explorer.read_text("utf-8").partition("const shared = {")[2].partition("}")[0]
    exported = {name.strip() for name in shared.split(",")}
    for file in playground_files():
        for where, name in imported(file):
            if where != "./":
                assert f"const {name}_js = explorers;" in plain_script()
                (names,) = (
                    line.partition("{")[2].partition("}")[0]
                    for line in file.read_text("utf-8").splitlines()
                    if line.startswith("import") and line.endswith(f'/{name}.js";')
                )
                assert {one.strip() for one in names.split(",")} <= exported


@pytest.mark.parametrize("path", playground_files(), ids=lambda path: path.name)
def test_a_module_is_short_and_asks_nobody(path):
    text = path.read_text("utf-8")
    assert len(text.splitlines()) <= 150
    assert max(map(len, text.splitlines())) <= 120
    for word in ("innerHTML", "eval(", "fetch(", "import(", "new Function", "XMLHttp"):
        assert word not in text


def test_every_module_is_in_both_scripts():
    for path in playground_files():
        for text in (es_module(), plain_script()):
            assert text.count(f"const {path.stem}_js = (() => {{") == 1
        assert EXPORT.findall(path.read_text("utf-8")) or path.stem == "playground"


def test_every_word_that_the_page_asks_for_is_there():
    text = "".join(path.read_text("utf-8") for path in playground_files())
    for name in DEFAULT_LABELS.keys() - {"unrun", "noscript"}:
        quoted = f'"{name}"'
        assert f"labels.{name}" in text or quoted in text, name


def test_what_the_model_says_of_a_sentence_has_its_words_in_python_too():
    engine = Path(importlib.import_module("qkv.javascript").__file__).parent
    code = "".join((engine / f"{name}.js").read_text("utf-8") for name in ENGINE_THAT_REFUSES)
    assert [text for text in REFUSALS if f'"{text}"' not in code] == []
    templates = re.findall(r'"([^"\n$]*\{\w+\}[^"\n]*)"', code)
    assert set(templates) - {"{word}"} <= set(REFUSALS)


def test_another_language_has_labels_for_what_the_model_says(monkeypatch):
    assert not set(REFUSALS) & make_box().explorer.labels.keys()
    monkeypatch.setattr("qkv.explore.playground.widget.gettext", str.upper)
    labels = make_box().explorer.labels
    assert labels["There is no word to translate."] == "THERE IS NO WORD TO TRANSLATE."


def test_a_sentence_of_the_model_is_said_in_another_language():
    engine = Path(importlib.import_module("qkv.javascript").__file__).parent
    code = f"""
    import {{ InputError }} from "{(engine / "input_error.js").as_uri()}";
    const near = {{ template: "{{word}} (near {{near}})", values: {{ word: "'a'", near: "'b'" }} }};
    const values = {{ list: [near, near], count: 2 }};
    const list = {{ template: "{{list}} and {{count}} more", values }};
    const error = new InputError({{ template: "Not {{list}}.", values: {{ list }} }}, "unknown");
    console.log(error.message);
    const other = {{ "Not {{list}}.": "{{list}}?", "{{word}} (near {{near}})": "{{near}}" }};
    console.log(error.translated(other));
    console.log(new InputError("plain", "empty").translated({{ plain: "other" }}));
    """
    done = subprocess.run(
        [node(), "--input-type=module", "-e", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        "Not 'a' (near 'b'), 'a' (near 'b') and 2 more.",
        "'b', 'b' and 2 more?",
        "other",
    ]
