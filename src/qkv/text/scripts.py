"""Scripts of letters, by the first word of their Unicode names: LATIN, HANGUL, CYRILLIC."""

import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable

__all__ = ["is_foreign", "usual_scripts"]

LEAST_SHARE = 0.01  # of the letters: a name or two in another script do not make it known


def usual_scripts(texts: Iterable[str]) -> tuple[str, ...]:
    """The scripts of texts, by name; those of fewer than one letter in a hundred are left out."""
    characters: Counter[str] = Counter()
    for text in texts:
        characters.update(text)
    letters: Counter[str] = Counter()
    for character, count in characters.items():
        if character.isalpha():
            letters[_script(character)] += count
    least = LEAST_SHARE * letters.total()
    return tuple(sorted(script for script, count in letters.items() if count >= least))


def is_foreign(word: str, scripts: Collection[str]) -> bool:
    """Whether a word has letters, and none of them is of these scripts."""
    letters = [character for character in word if character.isalpha()]
    return bool(letters) and not any(_script(letter) in scripts for letter in letters)


def _script(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]
