"""Fonts for figures in another language than English: matplotlib's fallback, glyph by glyph.

Latin letters, digits and signs keep matplotlib's own font in every language. What it lacks, such as
Hangul, comes from the font that a checkout has fetched, so that figures are the same on every
machine; elsewhere from one that the system has.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from matplotlib import _mathtext
from matplotlib.font_manager import findfont, findSystemFonts, fontManager, get_font
from matplotlib.ft2font import FT2Font
from matplotlib.mathtext import MathTextParser

FETCHED = Path(__file__).parents[2] / "node_modules"  # of a checkout; beside a wheel there is none


@dataclass(frozen=True)
class Font:
    """Where the glyphs of a language come from.

    Attributes:
        name: of its script, for the reader.
        files: below node_modules, by their weight.
        licence: of these files, below node_modules too.
        css_family: what the book's style sheets call them; no system has such a family.
        unicode_range: the letters that style sheets take from them.
        families: of the systems' own fonts, the first that is there is taken.
        debian_package: what brings one of them to Debian, Ubuntu and Colab.
    """

    name: str
    files: Mapping[int, str]
    licence: str
    css_family: str
    unicode_range: str
    families: tuple[str, ...]
    debian_package: str


FONTS = {
    "ko": Font(
        name="Korean",
        files={
            400: "@expo-google-fonts/nanum-gothic/400Regular/NanumGothic_400Regular.ttf",
            700: "@expo-google-fonts/nanum-gothic/700Bold/NanumGothic_700Bold.ttf",
        },
        licence="@expo-google-fonts/nanum-gothic/LICENSE_FONT",
        css_family="Book Hangul",
        unicode_range="U+1100-11FF, U+3130-318F, U+A960-A97F, U+AC00-D7FF",
        families=(
            *("NanumGothic", "Nanum Gothic", "Noto Sans KR", "Noto Sans CJK KR"),
            *("Malgun Gothic", "Apple SD Gothic Neo", "AppleGothic"),
            "Noto Sans CJK JP",  # as older matplotlibs call the collection that KR is part of
        ),
        debian_package="fonts-nanum",
    ),
}


def fallback_family(language: str) -> str | None:
    """The family, as matplotlib knows it, that has the letters of a language.

    Args:
        language: such as "ko".
    Returns:
        None where matplotlib's own font is enough, and, with a warning, where there is no font.
    """
    if (font := FONTS.get(language)) is None:
        return None
    family = _fetched(language, font) or _installed(font)
    if family is None:
        warnings.warn(
            f"style: no {font.name} font is installed, so figures show boxes for its letters; "
            f"in Colab run `!apt-get -qq install {font.debian_package}` and draw again, "
            f"elsewhere install one of {', '.join(font.families[1:-1])}.",
            stacklevel=3,
        )
        return None
    # mathtext has no fallback of its own. Another class changes nothing for labels of one family.
    MathTextParser._font_type_mapping["dejavusans"] = FallbackMathFonts  # type: ignore[attr-defined]
    return family


def _fetched(language: str, font: Font) -> str | None:
    """Register the fetched files, under a name that no font of the system has."""
    paths = [FETCHED / file for file in font.files.values()]
    if not all(path.exists() for path in paths):
        return None
    family = f"qkv-{language}"
    known = [entry for entry in fontManager.ttflist if entry.name == family]
    if [entry.fname for entry in known] != list(map(str, paths)):
        for entry in known:  # matplotlib keeps its list on disk, also for another checkout
            fontManager.ttflist.remove(entry)
        for path in paths:
            fontManager.addfont(path)
            fontManager.ttflist[-1] = replace(fontManager.ttflist[-1], name=family)
    return family


def _installed(font: Font) -> str | None:
    """The first family of the system's, looking anew for one that came after matplotlib looked."""
    if set(fontManager.get_font_names()).isdisjoint(font.families):
        read = {entry.fname for entry in fontManager.ttflist}
        for path in sorted(set(findSystemFonts()) - read):
            with suppress(OSError, RuntimeError):  # a font that matplotlib cannot read
                fontManager.addfont(path)
    names = fontManager.get_font_names()
    return next((family for family in font.families if family in names), None)


class FallbackMathFonts(_mathtext.DejaVuSansFonts):
    """Draws what the font of formulas lacks with the further families of the label."""

    def _get_glyph(self, fontname: str, font_class: str, sym: str) -> tuple[FT2Font, int, bool]:
        if len(sym) == 1 and not self._get_font("rm").get_char_index(ord(sym)):
            for family in self.default_font_prop.get_family()[1:]:
                properties = self.default_font_prop.copy()
                properties.set_family(family)
                font = get_font(findfont(properties))
                if font.get_char_index(ord(sym)):
                    return font, ord(sym), False
        return super()._get_glyph(fontname, font_class, sym)


__all__ = ["FONTS", "Font", "fallback_family"]
