"""What makes the built pages small: fewer letters and rules, and the same to look at."""

from __future__ import annotations

import importlib
import re
import shutil
import sys
from pathlib import Path

import pytest
from fontTools import subset

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "book" / "extensions"))
css = importlib.import_module("slim_output.css")
fonts = importlib.import_module("slim_output.fonts")

KATEX = ROOT / "node_modules" / "katex" / "dist"
KOREAN = "\ubc25"
FORMULA = (
    '<p>A word: <span class="katex"><span class="katex-mathml">hidden Z</span>'
    '<span class="katex-html"><span class="mord">q</span> &lt; '
    f"<span>\u200b{KOREAN}</span></span></span></p>"
    "<p>Another X.</p>"
)
MAIN = "KaTeX_Main-Regular"


def test_the_letters_of_formulas_are_those_that_are_drawn() -> None:
    assert fonts.letters_of_formulas(FORMULA) == {*"q <\u200b", KOREAN}


def points(unicode_range: str) -> set[int]:
    """The code points that a browser reads out of a unicode-range."""
    ends = [
        [int(end, 16) for end in run.removeprefix("U+").split("-")]
        for run in unicode_range.split(",")
    ]
    return {point for run in ends for point in range(run[0], run[-1] + 1)}


def test_a_run_of_letters_goes_over_gaps_but_not_over_others() -> None:
    assert fonts.unicode_range({0x41, 0x42, 0x45, 0x47}, {0x46}) == "U+41-45,U+47"
    assert fonts.unicode_range({0x2AFF, 0xE000}, set()) == "U+2AFF,U+E000", "Korean lies between"


@pytest.fixture(scope="module")
def faces(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[int]]:
    """The files of one font in a book of one formula, each with the characters it is asked for."""
    book = tmp_path_factory.mktemp("book")
    shutil.copytree(KATEX / "fonts", book / "_static" / "katex" / "fonts")
    style = (KATEX / "katex.min.css").read_text("utf-8")
    (book / fonts.SHEET).write_text(style, "utf-8")
    (book / "page.html").write_text(FORMULA, "utf-8")
    fonts.split_fonts(book, KATEX / "fonts", book / "cache")
    found = {}
    for face in re.findall(r"@font-face\{[^}]*\}", (book / fonts.SHEET).read_text("utf-8")):
        file = re.search(r"url\((fonts/[^)]+)\)", face)[1]
        unicode_range = re.search(r"unicode-range:([^;}]+)", face)[1]
        if MAIN in file:
            found[str(book / "_static" / "katex" / file)] = points(unicode_range)
    return found


def test_a_book_gets_a_small_font_of_its_letters_and_the_whole_one_for_others(
    faces: dict[str, set[int]],
) -> None:
    whole, small = faces
    assert not faces[whole] & faces[small]
    assert faces[small] == {ord(letter) for letter in "q <"}
    assert Path(small).stat().st_size < Path(whole).stat().st_size / 5
    known = {
        name: set(subset.load_font(name, subset.Options()).getBestCmap())
        for name in (KATEX / "fonts" / f"{MAIN}.ttf", small)
    }
    assert faces[small] <= known[small]
    assert known[KATEX / "fonts" / f"{MAIN}.ttf"] <= faces[whole] | faces[small]
    assert 0x200B not in faces[whole], "a browser would ask for a file that does not have it"
    assert 0xAC00 not in faces[whole]


def test_a_sheet_of_others_loses_rules_and_one_of_ours_none(tmp_path: Path) -> None:
    styles = tmp_path / "_static" / "styles"
    styles.mkdir(parents=True)
    theirs, ours = styles / "pydata-sphinx-theme.css", tmp_path / "_static" / "site.css"
    text = ".used { color: red }\n/* why */\n.unused {\n  color: red\n}\n"
    for sheet in (theirs, ours):
        sheet.write_text(text)
    (tmp_path / "page.html").write_text('<p class="used">')
    for _ in range(2):  # made, then taken from what was kept
        css.drop_unused_rules(tmp_path, tmp_path / "cache")
        assert "unused" not in theirs.read_text()
        assert ".used" in theirs.read_text()
        assert ours.read_text() == text
