"""What `qkv translate` says beside translations: unknown words, and what may be wrong."""

from __future__ import annotations

import shlex
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from qkv.commands.messages import counted, escaped
from qkv.corpus import sentence_patterns, sentences
from qkv.pretrained.lenient_tokenizer import MOST_NAMED as MOST_NAMED_IN_LINE
from qkv.pretrained.lenient_tokenizer import LenientTokenizer
from qkv.pretrained.load import EXAMPLE
from qkv.text import SPECIAL_TOKENS
from qkv.text.lines import LineError
from qkv.translator import Translator

__all__ = [
    "Remarks",
    "UnknownWordsInTextError",
    "check_words",
    "greeting",
    "list_words_hint",
    "prompt",
    "word_list",
]

MOST_NAMED = 20  # words or lines


class UnknownWordsInTextError(LineError):
    """A text holds words that a model lacks.

    Args:
        message: its lines.
    """

    def __init__(self, message: Sequence[str]) -> None:
        super().__init__("\n".join(message))
        self.message = tuple(message)

    def escaped(self) -> str:
        """The message with what its lines quote made safe for a terminal."""
        return "\n".join(map(escaped, self.message))


def check_words(lines: Iterable[str], name: str, translator: Translator, hint: str) -> None:
    """Refuse a text with words that a model of whole words lacks: the first twenty are named.

    Raises:
        UnknownWordsInTextError: there are some; of a few in a single line it is said where that
            line is read.
    """
    source = translator.source
    if not isinstance(source, LenientTokenizer):
        return
    first_lines: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        for word in source.unknown_words(line):
            first_lines.setdefault(word, number)
    if len(first_lines) <= MOST_NAMED_IN_LINE and len({*first_lines.values()}) < 2:
        return
    named = [
        f"  line {number}: {source.name_with_closest(word)}"
        for word, number in list(first_lines.items())[:MOST_NAMED]
    ]
    left = len(first_lines) - MOST_NAMED
    more = [f"  and {left:,} more"] if left > 0 else []
    reads = f", which reads {source.language}," if source.language else ""
    head = f"{name} has words that the model{reads} does not know:"
    raise UnknownWordsInTextError([head, *named, *more, f"{hint}."])


def greeting(translator: Translator, checkpoint: str) -> str:
    """What somebody at a terminal needs to know."""
    lines = ["One sentence a line; Ctrl-D ends."]
    source, target = translator.source, translator.target
    if isinstance(source, LenientTokenizer) and isinstance(target, LenientTokenizer):
        lines.insert(0, f"From {source.language} to {target.language}, such as: {EXAMPLE}")
    if not source.has_subwords:  # what is no word of it is unknown
        lines.insert(-1, f"{list_words_hint(checkpoint)}.")
    return "\n".join(lines)


def prompt(asks: bool) -> None:
    """Ask for the next sentence, where there is somebody to be asked."""
    if asks:
        print("> ", end="", file=sys.stderr, flush=True)


def list_words_hint(checkpoint: str) -> str:
    return f"qkv translate {shlex.quote(checkpoint)} --list-words shows all that it knows"


def word_list(translator: Translator, is_shipped: bool) -> list[str]:
    """All that a model knows; of the book's, how its sentences are made too."""
    tokens = translator.source.tokens[len(SPECIAL_TOKENS) :]
    words = sorted(tokens, key=lambda token: (token.lower(), token))
    if not is_shipped:
        return words
    width = max(len(pattern) for pattern, _ in sentence_patterns())
    return [
        *words,
        "",
        "Its sentences, each in the present, the past and the future, with and without not;",
        "an adjective may stand before a noun. PLACE is a preposition and a noun.",
        *(f"  {pattern:{width}}  {example}" for pattern, example in sentence_patterns()),
    ]


class Remarks:
    """What there is to say of lines and their translations, collected until it is said.

    Args:
        translator: of the lines.
        is_shipped: whether it is the model of the book, whose sentences are all known.
        max_new_tokens: the most tokens of a translation.
    """

    def __init__(self, translator: Translator, is_shipped: bool, max_new_tokens: int) -> None:
        self.translator, self.source, self.is_shipped = translator, translator.source, is_shipped
        self.max_new_tokens = max_new_tokens
        self.translated = 0  # lines
        self.refused: list[int] = []  # how many were translated before each line that was not
        self.read: dict[int, str] = {}  # number of a line, and what was read in place of its words
        self.strange: dict[int, str] = {}  # number of a line, and how much of it is unknown
        self.cut: list[int] = []
        self.other: list[int] = []  # than the book's translation of a sentence that it has

    def add_cut(self, index: int) -> None:
        """Note that the translation of this line, counted from 0, has no end."""
        self.cut.append(self._number(index))

    def add(self, lines: Sequence[str], translations: Sequence[str]) -> None:
        """Note which of the next lines, or of their translations, cannot be trusted."""
        for line, translation in zip(lines, translations, strict=True):
            number = self._number(self.translated)
            self.translated += 1
            words = line.split()
            if isinstance(self.source, LenientTokenizer):
                pairs = self.source.read_instead(line)
                if pairs:
                    read = ", ".join(f"{token!r} for {word!r}" for word, token in pairs)
                    self.read[number] = f" ({read})"
            if self.is_shipped:
                ids = self.source.encode(line)
                known = _known_sentences().get(tuple(self.source.tokens[n] for n in ids))
                if len(ids) and known is None:
                    self.strange[number] = ""
                elif len(ids) and translation != known and number not in self.cut:
                    self.other.append(number)
            elif unknown := len(self.translator.unknown_words(line)):
                self.strange[number] = f" ({unknown} of {counted(len(words), 'word')})"

    def _number(self, index: int) -> int:
        """The number of a line among all, by its index among those that are translated."""
        return 1 + index + bisect_right(self.refused, index)

    def take(self) -> Iterator[str]:
        """The sentences to say about what was noted since the last time."""
        if self.read:
            which, _ = _name_lines(self.read, self.read.__getitem__)
            yield f"{which}: read in place of words that the model does not know"
        if self.strange:
            which, plural = _name_lines(self.strange, self.strange.__getitem__)
            if self.is_shipped:
                verb, count = ("are", "is")[not plural], len(_known_sentences())
                what = f"{which} {verb} none of the {count:,} sentences of the book's grammar"
            else:
                what = f"{which}: words unknown to the model, or known by their letters alone"
            yield f"{what}: the translation may be wrong"
        if self.other:
            which, _ = _name_lines(self.other)
            yield f"{which}: the book has another translation of this: what was found may be wrong"
        if self.cut:
            which, _ = _name_lines(self.cut)
            tokens = counted(self.max_new_tokens, "token")
            yield f"{which}: the translation is cut, for it has no end after {tokens}"
        self.read, self.strange, self.cut, self.other = {}, {}, [], []


def _name_lines(
    numbers: Iterable[int], about: Callable[[int], str] = lambda _: ""
) -> tuple[str, bool]:
    """The first lines by their numbers, how many more there are, and whether it is not just one."""
    ordered = sorted(numbers)
    named = ", ".join(f"{n}{about(n)}" for n in ordered[:MOST_NAMED])
    more = len(ordered) - MOST_NAMED
    plural = len(ordered) > 1
    return f"line{'s' * plural} {named}{f' and {more:,} more' * (more > 0)}", plural


@cache
def _known_sentences() -> dict[tuple[str, ...], str]:
    """All pairs of the grammar, which the model of the book was made for: the Korean by English."""
    return {pair.source: " ".join(pair.target) for pair in sentences()}
