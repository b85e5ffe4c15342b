"""Every word that an explorer shows is a message of the catalogue, or data of its chapter."""

import re
from gettext import NullTranslations
from pathlib import Path

import pytest
from babel.messages.extract import extract_from_file

from qkv import language
from qkv.corpus import glosses
from qkv.explore import Bars, attention, embedding, explore, masks, multi_head
from qkv.explore.add_norm_stacks import TOKENS as TOKENS_OF_STACKS
from qkv.explore.decoding import SENTENCES as BEAM_SENTENCES
from qkv.explore.families import SENTENCES as FAMILY_SENTENCES
from qkv.explore.framework.bundle import STATIC
from qkv.explore.framework.controls import follow_label
from qkv.explore.framework.grid import format_value
from qkv.explore.framework.labels import (
    AXES,
    DEFAULT_LABELS,
    OF_DRAWING,
    default_labels,
    shown_value,
)
from qkv.explore.framework.panels import box
from qkv.explore.playground import playground
from qkv.explore.playground.labels import DEFAULT_LABELS as PLAYGROUND_LABELS
from qkv.explore.playground.view_labels import LABELS as VIEW_LABELS
from qkv.explore.results import NAMES as RESULT_NAMES
from qkv.explore.start import NAMES as START_NAMES
from qkv.explore.start_map import BOOK
from qkv.explore.training import SENTENCES as TRAINING_SENTENCES
from qkv.explore.transformer import SENTENCES as TRANSFORMER_SENTENCES
from qkv.language import gettext, using_language
from qkv.pretrained import EXAMPLES
from tests.helpers.explorers import CHAPTERS, explorers_in_chapter, function_of

EXPLORE = Path(language.__file__).parent / "explore"
WORD = re.compile(r"(?<!\w)[A-Za-z]{2,}(?!\w)")
# What of a panel's spec is for the page's eyes alone.
INTERNAL = {"kind", "name", "colours", "role", "arrays", "strings", "hrefs", "boxes", "arrows"}


def words_in(*texts):
    return {word for text in texts for word in WORD.findall(text)}


# Signs, names and units, the same in every language.
SIGNS = {"sin", "cos", "log", "max", "softmax", "sos", "eos", "PAD", "MASK", "PE"}
NAMES = {"ReLU", "GELU", "SiLU", "Xavier", "FLOP", "FLOPs", "GFLOP", "TFLOP", "PFLOP", "EFLOP"}
UNITS = {"KiB", "MiB", "GiB", "TiB", "ms", "kFLOP", "MFLOP"}
# Sentences and their words: the model reads English, and a toy sentence is what it is about.
DATA = {
    "start:look": words_in(START_NAMES, *EXAMPLES, *glosses().values()),
    "start_map:book_map": {"BERT", "GPT"},
    "embedding:mix": {*embedding.WORDS, *embedding.COMPARED},
    "attention:follow_query": {*attention.TOKENS},
    "scaling:saturation": {*attention.TOKENS},
    "masks:fills": {*masks.TOKENS},
    "masks:leaks": {*masks.WORDS},
    "multi_head:heads": {*multi_head.TOKENS},
    "transformer:alignment": words_in(*TRANSFORMER_SENTENCES),
    "training:attention_forming": words_in(*TRAINING_SENTENCES),
    "decoding:beam": words_in(*BEAM_SENTENCES),
    "results:heads": words_in(*RESULT_NAMES, *EXAMPLES),
    "families:masks": words_in(*FAMILY_SENTENCES),
}


def marked_messages():
    """Every literal that `gettext` or `gettext_noop` marks, and the titles of the chapters."""
    found = {one for chapter in BOOK for one in (chapter.title, chapter.short_title)}
    for file in EXPLORE.rglob("*.py"):
        options = {"encoding": "utf-8"}
        keywords = {"gettext": None, "gettext_noop": None}
        found |= {m[1] for m in extract_from_file("python", file, keywords, options=options)}
    return found


class Marking(NullTranslations):
    """Puts each message that an extraction finds into «»."""

    def __init__(self):
        super().__init__()
        self.messages = marked_messages()

    def gettext(self, message):
        return f"«{message}»" if message in self.messages else message


@pytest.fixture(scope="module")
def marking():
    return Marking()


@pytest.fixture
def marked(marking, monkeypatch):
    """In any other language than English, messages are marked."""
    known = language.catalogue
    monkeypatch.setattr(language, "languages", lambda: ("en", "xx"))
    monkeypatch.setattr(language, "catalogue", lambda one: known(one) if one == "en" else marking)


def unmarked(text):
    """The text without what stands in «», which may hold marked texts in turn."""
    while (rest := re.sub(r"«[^«»]*»", "", text)) != text:
        text = rest
    return text


def strings_of(value):
    if isinstance(value, dict):
        value = [item for key, item in value.items() if key not in INTERNAL]
    if isinstance(value, list | tuple):
        return [text for item in value for text in strings_of(item)]
    return [value] if isinstance(value, str) else []


def shown_in(name, panel, labels):
    """Every text of a panel, with its name."""
    if isinstance(panel, str):
        return [labels.get(name, name), panel]
    spec = panel.spec()
    if type(panel).__name__ == "Diagram":  # its names are for arrows alone
        spec = {key: value for key, value in spec.items() if key != "names"} | panel.strings()
    if type(panel).__name__ == "Tree":  # its states have labels
        spec = {key: value for key, value in spec.items() if key != "states"}
    return [labels.get(name, name), *strings_of(spec)]


def corners(state):
    """The opening state, and each value of each axis with all others as they open."""
    start = {axis["name"]: axis["values"][state[f"i_{axis['name']}"]] for axis in state["axes"]}
    return [start | {a["name"]: value} for a in state["axes"] for value in a["values"]]


def stored_explorers():
    return [
        pytest.param(state, id=f"{path.stem}: {state['title']}")
        for path in CHAPTERS
        for state in explorers_in_chapter(path)
    ]


@pytest.mark.usefixtures("marked")
@pytest.mark.parametrize("state", stored_explorers())
def test_every_word_of_an_explorer_is_a_message(state, monkeypatch):
    monkeypatch.setattr(box, "text_width", lambda _: 0)  # the marks need room, too
    fn = function_of(state["source"])
    # What the notebook says is translated with the notebook.
    own = {key: "" for key, text in state["labels"].items() if DEFAULT_LABELS.get(key) != text}
    data = DATA.get(state["source"].removeprefix("qkv.explore."), set())
    shown = []
    with using_language("xx"):
        for point in corners(state):
            panels = fn(**point)
            labels = default_labels([*point, *panels]) | own
            for name, panel in panels.items():
                shown += shown_in(name, panel, labels)
        for axis in state["axes"]:
            shown.append(labels.get(axis["name"], axis["name"]))
            shown += [format_value(value, labels) for value in axis["values"]]
    left = words_in(*map(unmarked, shown)) - SIGNS - NAMES - UNITS - data
    assert not left, f"{state['source']}: mark these for the catalogue: {sorted(left)}"
    assert any("«" in text for text in shown)


@pytest.mark.usefixtures("marked")
def test_every_label_is_a_message():
    with using_language("xx"):
        labels = default_labels(AXES)
        of_playground = playground(title="", hint="").explorer.labels
    assert labels.keys() == DEFAULT_LABELS.keys() | OF_DRAWING.keys() | {*AXES}
    assert all(text.startswith("«") for text in labels.values())
    assert of_playground.keys() >= VIEW_LABELS.keys() | PLAYGROUND_LABELS.keys()
    assert [key for key, text in of_playground.items() if not text.startswith("«")] == []


def test_in_english_there_is_no_label_more():
    assert default_labels(AXES) == DEFAULT_LABELS


def test_what_the_drawing_knows_without_a_label_is_a_message():
    drawing = "".join(file.read_text("utf-8") for file in STATIC.glob("*.js"))
    known = dict(re.findall(r'labels\.(\w+) \?\? "([^"]+)"', drawing))
    known |= {name: name for name in re.findall(r'\bword\("(\w+)"\)', drawing)}
    known |= {state: state for state in ("kept", "pruned", "finished")}
    assert known == OF_DRAWING


class Sent(list):
    def __call__(self, content, buffers=()):
        self.append(content)


def said(word, power):
    return {"said": Bars([power], [gettext("yes")])}


@pytest.mark.usefixtures("marked")
def test_an_explorer_keeps_the_language_in_which_it_was_made():
    with using_language("xx"):
        view = explore(said, title="", hint="", word=["none", "cat"], power=[1, 3]).explorer
    assert view.axes[0]["texts"] == ["«none»", "cat"]
    view.send = sent = Sent()
    values = {"word": "cat", "power": 2}
    view._answer(None, {"type": "compute", "request": 1, "values": values}, [])
    assert sent[0]["layout"]["specs"][0]["labels"] == ("«yes»",)
    assert said("cat", 2)["said"].labels == ("yes",)


@pytest.mark.usefixtures("marked")
def test_the_switch_of_a_rule_without_a_label_is_a_message():
    rule = ("power", ("size", "depth"), dict.fromkeys([(1, 1), (1, 2), (2, 1), (2, 2)], 1))
    axes = {"power": [1, 2], "size": [1, 2], "depth": [1, 2]}
    view = explore(lambda **_: {"said": "1"}, title="", hint="", follow=rule, **axes).explorer
    assert follow_label(view) == "power follows size and depth"
    with using_language("xx"):
        assert follow_label(view).startswith("«power follows «size and depth»")


@pytest.mark.parametrize(
    "tokens",
    [masks.TOKENS, masks.WORDS, TOKENS_OF_STACKS, attention.TOKENS, multi_head.TOKENS],
)
def test_a_token_that_can_be_chosen_is_no_message(tokens):
    """Else the page shows another word: *on* became the word for a switch."""
    with using_language("ko"):
        assert [shown_value(token, {}) for token in tokens] == list(tokens)
