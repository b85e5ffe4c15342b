"""Figures in Korean have every glyph, from the font that was fetched, else from the system's."""

import dataclasses
import logging
import re
import subprocess
import sys
import warnings
from io import BytesIO

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import pytest
from matplotlib import font_manager
from matplotlib.font_manager import FontProperties, fontManager

from qkv import fonts
from qkv.fonts import FONTS, fallback_family
from qkv.language import using_language
from qkv.plot import style

KOREAN = FONTS["ko"]
FILES = [fonts.FETCHED / file for file in KOREAN.files.values()]
LABELS = ("마스크 어텐션, 햇볕", "$d_k$ 값", "$d_{헤드}$", r"$\mathrm{값}$ 0.25 → −∞")


@pytest.fixture
def korean():
    with matplotlib.rc_context(), using_language("ko"):
        yield


@pytest.fixture
def system(monkeypatch, tmp_path):
    """A system without a Korean font, and nothing fetched; `system(path)` installs a font."""
    paths = []
    monkeypatch.setattr(fonts, "FETCHED", tmp_path)
    monkeypatch.setattr(fonts, "findSystemFonts", lambda: [str(path) for path in paths])
    foreign = {*KOREAN.families, "qkv-ko"}
    kept = [entry for entry in fontManager.ttflist if entry.name not in foreign]
    monkeypatch.setattr(fontManager, "ttflist", kept)
    fontManager._findfont_cached.cache_clear()
    yield paths.append
    fontManager._findfont_cached.cache_clear()


def paths_of(**properties):
    """The files that matplotlib takes glyphs from, in its order."""
    found = fontManager._find_fonts_by_props(FontProperties(**properties))
    return [getattr(one, "path", one) for one in found]


def missing(caplog, labels=LABELS):
    """What matplotlib says of glyphs that it lacks."""
    fig, ax = plt.subplots()
    for place, label in enumerate(labels):
        ax.text(0, place / 9, label)
    caplog.clear()
    with warnings.catch_warnings(record=True) as said, caplog.at_level(logging.WARNING):
        warnings.simplefilter("always")
        fig.canvas.draw()
    plt.close(fig)
    return [str(one.message) for one in said] + caplog.messages


def test_the_fetched_font_wins_over_an_installed_one(korean, monkeypatch):
    (regular, bold) = map(str, FILES)
    installed = dataclasses.replace(fontManager.ttflist[0], name=KOREAN.families[0])
    monkeypatch.setattr(fontManager, "ttflist", [installed, *fontManager.ttflist])
    style()
    assert paths_of()[1:] == [regular]
    assert paths_of(weight="bold")[1:] == [bold]
    assert paths_of()[0].endswith("DejaVuSans.ttf")


def test_no_glyph_of_a_label_or_a_formula_is_missing(korean, caplog):
    assert len(missing(caplog)) > len(LABELS)  # before `style`
    style()
    assert missing(caplog) == []


def test_it_has_every_syllable():
    for path in FILES:
        font = font_manager.get_font(path)
        assert all(font.get_char_index(code) for code in range(0xAC00, 0xD7A4))


def test_a_second_call_changes_nothing(korean):
    style()
    families, known = matplotlib.rcParams["font.family"], list(fontManager.ttflist)
    style()
    assert families == matplotlib.rcParams["font.family"] == ["sans-serif", "qkv-ko"]
    assert fontManager.ttflist == known


def test_latin_letters_and_formulas_look_as_in_english(korean):
    def picture():
        fig, ax = plt.subplots(figsize=(3, 1))
        ax.set_title(r"query $\frac{q k^T}{\sqrt{d_k}}$ 0.25")
        fig.savefig(file := BytesIO(), format="png")
        plt.close(fig)
        return file.getvalue()

    with using_language("en"):
        style()
        english = picture()
    style()
    assert picture() == english


def test_a_font_that_is_installed_later_is_found(korean, system, caplog):
    system(FILES[0])
    style()
    assert matplotlib.rcParams["font.family"][1:] == [KOREAN.families[0]]
    assert missing(caplog) == []


def test_without_any_the_warning_names_the_mend(korean, system, tmp_path):
    system(tmp_path / "no-font.ttf")
    mend = re.escape("`!apt-get -qq install fonts-nanum`")
    with pytest.warns(UserWarning, match=f"no Korean font is installed.*{mend}") as said:
        style()
    assert [one.filename for one in said] == [__file__]
    assert matplotlib.rcParams["font.family"] == ["sans-serif"]


def test_a_language_that_needs_no_other_font_has_none():
    assert fallback_family("fr") is None


def test_english_does_not_read_the_fonts():
    code = (
        "import sys, matplotlib; from qkv.plot import style; style();"
        "assert matplotlib.rcParams['font.family'] == ['sans-serif'];"
        "assert 'qkv.fonts' not in sys.modules and 'matplotlib.font_manager' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
