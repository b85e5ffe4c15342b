"""Slides: what a cell of each type shows, what goes to the notes, and what stops a deck."""

import json

import pytest

from tests.helpers.korean import korean_words
from tools.slides import __main__ as slides
from tools.slides.cut import cut
from tools.slides.deck import deck_page
from tools.slides.page import SlideError, read_chapter

TABLE = "<table><tr><td>a table</td></tr></table>"
FORMULA = '<div class="math">a formula</div>'
DETAILS = "<details><summary>Guess</summary><p>the answer</p></details>"
HEAD = '<h2 id="s">Section<a class="headerlink" href="#s">#</a></h2>'


def code(name, text, output="", folded=False):
    box = f'<div class="cell_input"><div class="highlight"><pre>{text}</pre></div></div>'
    box = f"<details><summary>Checks</summary>{box}</details>" if folded else box
    shown = f'<div class="cell_output">{output}</div>' if output else ""
    return f'<div class="cell" id="{name}">{box}{shown}</div>'


def chapter(tmp_path, *cells):
    """A chapter of a title and these cells: (kind, slide type, HTML, tags)."""
    cells = (("markdown", "slide", "<h1>Toy</h1><p><em>Read: 3 minutes.</em></p>"), *cells)
    stored, html = [], []
    for n, (kind, slide_type, text, *tags) in enumerate(cells):
        name = f"toy-{n:02}"
        metadata = {"slideshow": {"slide_type": slide_type}} if slide_type else {}
        metadata |= {"tags": tags} if tags else {}
        stored.append({"id": name, "cell_type": kind, "metadata": metadata, "source": [text]})
        html.append(text if kind == "code" else f"<!-- cell {name} --><section>{text}</section>")
    exercises = "## Exercises\n\n### Exercise toy-1 · By *hand*\n\n*About 5 minutes.*\n\nHow?"
    further = "## Going further\n\n### Exercise toy-2 · More\n\n*About 9 minutes.*\n"
    for name, text in (("toy-1", exercises), ("toy-2", further)):
        answer = ["answer = ...\n", f'check("{name}", answer)']
        stored.append(
            {"id": f"{name}-e", "cell_type": "markdown", "metadata": {}, "source": [text]}
        )
        stored.append({"id": f"{name}-a", "cell_type": "code", "metadata": {}, "source": answer})
    heading = "Exercise toy-1 · By <em>hand</em>"
    html.append(f"<!-- cell toy-1-e --><section><h2>Exercises</h2><h3>{heading}</h3></section>")
    (tmp_path / "07_toy.ipynb").write_text(json.dumps({"cells": stored, "metadata": {}}))
    (tmp_path / "07_toy.html").write_text(f"<article>{''.join(html)}</article>")
    return read_chapter(tmp_path / "07_toy.ipynb", tmp_path / "07_toy.html")


def cut_toy(tmp_path, *cells):
    """The slides between the title and the exercises."""
    return cut(chapter(tmp_path, *cells), lambda model: (model, "hint"))[1:-1]


def test_a_slide_shows_all_but_paragraphs_which_are_its_notes(tmp_path):
    text = f"{HEAD}<p>Long prose.</p>{FORMULA}{TABLE}<ul><li>a list</li></ul>"
    (slide,) = cut_toy(tmp_path, ("markdown", "slide", text))
    assert slide.headings == ["Section"]
    assert slide.body == [FORMULA, TABLE, "<ul><li>a list</li></ul>"]
    assert slide.notes == ["<p>Long prose.</p>"]


def test_a_tag_shows_the_paragraphs_too(tmp_path):
    (slide,) = cut_toy(tmp_path, ("markdown", "slide", f"{HEAD}<p>Prose.</p>", "show-prose"))
    assert (slide.body, slide.notes) == (["<p>Prose.</p>"], [])


def test_a_guess_is_a_question_and_its_answer_a_step_later(tmp_path):
    (slide,) = cut_toy(tmp_path, ("markdown", "slide", HEAD + DETAILS))
    answer = '<div class="fragment"><p>the answer</p></div>'
    assert slide.body == [f'<div class="guess"><p>Guess</p>{answer}</div>']


def test_without_metadata_prose_is_notes_and_code_is_left_out(tmp_path):
    cells = (("markdown", None, f"<p>Told.</p>{TABLE}"), ("code", None, code("toy-03", "x = 1")))
    (slide,) = cut_toy(tmp_path, ("markdown", "slide", HEAD), *cells)
    assert (slide.body, slide.notes) == ([], ["<p>Told.</p>", TABLE])


def test_skip_is_left_out_and_a_fragment_comes_a_step_later(tmp_path):
    cells = (("markdown", "skip", TABLE), ("markdown", "fragment", FORMULA))
    (slide,) = cut_toy(tmp_path, ("markdown", "slide", HEAD), *cells)
    assert slide.body == [f'<div class="fragment">{FORMULA}</div>']


def test_a_slide_without_a_heading_has_that_of_its_section(tmp_path):
    below = ("markdown", "subslide", f"<h3>Part</h3>{TABLE}")
    more = ("code", "subslide", code("toy-03", "x = 1", "<pre>1</pre>"))
    first, second, third = cut_toy(tmp_path, ("markdown", "slide", HEAD), below, more)
    assert [s.headings for s in (first, second, third)] == [["Section"], *2 * [["Section", "Part"]]]
    assert (first.below, second.below, third.below) == (False, True, True)


def test_folded_code_is_not_shown_and_its_output_is(tmp_path):
    figure = '<img alt="A line" id="x" loading="lazy" src="../_images/a.png"/>'
    cell = ("code", "slide", code("toy-01", "draw()", figure, folded=True))
    (slide,) = cut_toy(tmp_path, cell)
    assert slide.body == ['<div class="output"><img alt="A line" src="_images/a.png"/></div>']
    with pytest.raises(SlideError, match=r"cell toy-01 shows nothing.*'skip'"):
        cut_toy(tmp_path, ("code", "slide", code("toy-01", "assert True", folded=True)))


@pytest.mark.parametrize(
    ("lines", "printed", "where"),
    [(5, 10, ["co"]), (5, 11, ["c", "o"]), (15, 1, ["c", "o"]), (16, 1, ["o"])],
)
def test_output_without_room_gets_a_slide_and_longer_code_goes_to_the_notes(
    tmp_path, lines, printed, where
):
    output = "<pre>{}</pre>".format("\n".join(["o"] * printed))
    cell = code("toy-01", "\n".join(["c"] * lines), output)
    made = cut_toy(tmp_path, ("code", "slide", cell))
    shown = [sum(f">{mark}" in part for part in s.body) for s in made for mark in "co"]
    assert shown == [mark in part for part in where for mark in "co"]
    assert sum(bool(s.notes) for s in made) == (lines == 16)


def test_two_empty_lines_of_code_are_one(tmp_path):
    (slide,) = cut_toy(tmp_path, ("code", "slide", code("toy-01", "a\n\n\nb")))
    assert slide.body == ['<div class="highlight"><pre>a\n\nb</pre></div>']


def test_links_into_the_book_are_plain_words(tmp_path):
    text = (
        '<p><a href="06_x.html">chapter 6</a> <a href="#s">here</a> '
        '<a href="https://arxiv.org">a paper</a></p>'
    )
    (slide,) = cut_toy(tmp_path, ("markdown", "slide", HEAD + text))
    assert slide.notes == ['<p>chapter 6 here <a href="https://arxiv.org">a paper</a></p>']


def test_the_title_tells_no_reading_time_and_the_last_slide_lists_the_core_exercises(tmp_path):
    title, last = cut(chapter(tmp_path), lambda model: (model, ""))
    assert (title.kind, title.headings, title.body, title.notes) == ("title", ["Toy"], [], [])
    assert last.body == ["<ol><li>By <em>hand</em> (5 minutes)</li></ol>"]


def test_slides_below_stand_in_the_column_of_their_section(tmp_path):
    cells = [("markdown", kind, HEAD) for kind in ("slide", "subslide", "slide")]
    made = cut(chapter(tmp_path, *cells), lambda model: (model, ""))
    page = deck_page(7, "Toy", made, "../chapters/07_toy.html")
    assert page.count("<section") == len(made) + 1
    assert '<a href="../chapters/07_toy.html">' in page
    assert 'href="../' not in deck_page(7, "Toy", made, "")


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([("markdown", "Slide", HEAD)], "cell toy-01 has the slide type 'Slide': take 'slide',"),
        ([("code", "slide", "")], "the page has no cell toy-01: run `make html` first"),
    ],
)
def test_what_cannot_be_cut_is_named(tmp_path, cells, words):
    with pytest.raises(SlideError, match=words):
        chapter(tmp_path, *cells)


def test_a_chapter_in_which_no_slide_starts_is_named(tmp_path):
    made = chapter(tmp_path)
    made.cells[0].slide_type = "skip"
    with pytest.raises(SlideError, match="07_toy: no cell of the core starts a slide"):
        cut(made, lambda model: (model, ""))
    made.cells[0].slide_type = "-"
    made.cells[0].show_prose = True
    made.cells[0].blocks[1].string = "Prose."
    with pytest.raises(SlideError, match="the first cell, toy-00, starts no slide"):
        cut(made, lambda model: (model, ""))


@pytest.mark.parametrize(
    "harm",
    ['<img src="https://elsewhere.example/a.png">', "<script>alert(1)</script>"],
)
def test_decks_that_ask_another_host_or_run_a_script_leave_the_old_ones(
    tmp_path, monkeypatch, harm
):
    old = tmp_path / "slides"
    old.mkdir()
    (old / "index.html").write_text("old")

    def write_harm(path, book, part, address):
        (part / f"{path.stem}.html").write_text(f"<title>x</title>{harm}")
        return path.stem

    monkeypatch.setattr(slides, "write_deck", write_harm)
    monkeypatch.setattr(slides, "copy_static", lambda book, static: static.mkdir(parents=True))
    with pytest.raises(SlideError, match=r"01_start.html (loads|runs)"):
        slides.build(["start"], tmp_path, old, "")
    assert (old / "index.html").read_text() == "old"


def test_a_korean_chapter_is_cut_at_the_same_place(tmp_path):
    english = chapter(tmp_path)
    file, page = tmp_path / "07_toy.ipynb", tmp_path / "07_toy.html"
    notebook = json.loads(file.read_text())
    for cell in notebook["cells"]:
        cell["source"] = [korean_words("".join(cell["source"]))]
    assert notebook["cells"][1]["source"][0].startswith("## 연습 문제")
    file.write_text(json.dumps(notebook))
    page.write_text(page.read_text().replace("Exercise toy-1", "연습 문제 toy-1"))
    korean = read_chapter(file, page)
    assert [cell.id for cell in korean.cells] == [cell.id for cell in english.cells]
    assert [minutes for _, minutes in korean.exercises] == [5]
    assert "<li>By <em>hand</em> (5 minutes)</li>" in cut(korean, None)[-1].body[0]


def test_a_new_english_edition_keeps_the_korean_decks(tmp_path, monkeypatch):
    old = tmp_path / "slides"
    (old / "ko").mkdir(parents=True)
    (old / "ko" / "index.html").write_text("한국어")
    monkeypatch.setattr(slides, "write_deck", lambda *_: "")
    monkeypatch.setattr(slides, "copy_static", lambda book, static: static.mkdir(parents=True))
    slides.build([], tmp_path, old, "")
    assert (old / "ko" / "index.html").read_text() == "한국어"
    assert (old / "index.html").is_file()
