"""The explorers of "A Transformer at work": where the model looks, and the map of the book."""

import itertools
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest

from qkv.explore.framework.frames import Frames
from qkv.explore.start import CHOSEN, GRID, HEADS, SENTENCES, look
from qkv.explore.start_map import BOOK, CHAPTERS, WAYS, book_map, way_minutes
from qkv.pretrained import EXAMPLES, pretrained

NOTEBOOKS = Path(__file__).parents[2] / "chapters"


@pytest.mark.parametrize("example", EXAMPLES)
def test_each_head_s_weights_sum_to_one_and_the_bars_are_their_average(example):
    words = len(pretrained().translate(example).split())
    for word in range(1, words + 1):
        average, *heads = (look(sentence=example, word=word, head=head) for head in HEADS)
        values = [panels["weights"].values for panels in heads]
        np.testing.assert_allclose(average["weights"].values, np.mean(values, axis=0), atol=1e-6)
        np.testing.assert_allclose(np.sum(values, axis=1), 1, atol=1e-5)
        marked = [row[0] for row in average["translation"].rows if CHOSEN in row[0]]
        assert marked == [f"{word} {CHOSEN}"]
        assert average["weights"].labels[:-1] == tuple(example.split())


def test_beyond_the_last_word_the_last_is_shown():
    assert max(GRID["word"]) == max(len(pretrained().translate(one).split()) for one in EXAMPLES)
    last, beyond = (look(sentence="I was tired", word=word, head="head 2") for word in (2, 6))
    assert last["translation"].rows == beyond["translation"].rows
    assert last["shown"] == beyond["shown"] == "word 2 of 2: 피곤했다"
    np.testing.assert_array_equal(last["weights"].values, beyond["weights"].values)


@pytest.mark.parametrize("name", SENTENCES)
def test_each_button_fits_a_phone_and_its_words_stand_in_the_sentence_shown(name):
    english = look(sentence=name, word=1, head="average")["english"]
    assert len(name) < 20
    assert set(re.findall(r"\w+", name)) <= set(english.split())


def test_a_sentence_of_ones_own_needs_no_gloss():
    panels = look(sentence="The bear slept", word=1, head="average")
    assert [row[1] for row in panels["translation"].rows] == ["곰이", "잤다"]


def test_the_map_stands_in_the_first_chapter_and_shows_all_others():
    assert [chapter.number for chapter in BOOK] == list(range(1, len(BOOK) + 1))
    assert BOOK[0].concept == "start"
    assert BOOK[1:] == CHAPTERS
    assert WAYS["the whole book"] == tuple(chapter.number for chapter in CHAPTERS)


def test_chapter_1_names_the_cores_of_an_afternoon():
    cells = nbformat.read(NOTEBOOKS / f"{BOOK[0].notebook}.ipynb", as_version=4).cells
    (text,) = (cell.source for cell in cells if cell.source.startswith("**An afternoon.**"))
    links = re.findall(r"\[(\d+)\]\((\w+)\.ipynb\)", text.partition("\n")[0])
    books = {str(chapter.number): chapter.notebook for chapter in CHAPTERS}
    assert links == [(str(n), books[str(n)]) for n in WAYS["an afternoon"]]


def test_an_afternoon_has_at_most_five_hours():
    cores = {chapter.number: chapter.minutes[0] for chapter in CHAPTERS}
    afternoon = [cores[number] for number in WAYS["an afternoon"]]
    assert way_minutes("an afternoon") == sum(afternoon) <= 240
    assert way_minutes("the whole book") == sum(cores.values())


@pytest.mark.parametrize("way", WAYS)
def test_each_chapter_has_a_box_that_opens_it(way):
    boxes = book_map(way=way)["map"].boxes.values()
    for chapter in CHAPTERS:
        own = [box for box in boxes if box.label.startswith(f"{chapter.number} · ")]
        assert own, f"no box of start_map.py leads to {chapter.notebook}"
        for box in own:
            assert chapter.short_title in box.detail
            assert box.link == chapter.notebook
            assert bool(box.level) == (chapter.number in WAYS[way])


def test_functions_are_light():
    for fn, grid in ((look, GRID), (book_map, {"way": WAYS})):
        packed = Frames()
        for values in itertools.product(*grid.values()):
            packed.add(fn(**dict(zip(grid, values, strict=True))))
        assert len(packed.data) < 10_000
