"""What every vocabulary has: four special tokens, clean text, and tokens that differ."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence

__all__ = [
    "EOS",
    "PAD",
    "SOS",
    "SPECIALS",
    "START",
    "UNK",
    "check_vocabulary",
    "clean",
    "clean_characters",
    "cleaned",
]

SPECIALS = ("<pad>", "<sos>", "<eos>", "<unk>")
PAD, SOS, EOS, UNK = range(4)
START = "▁"  # begins a piece that begins a word
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")  # on a terminal, a command and no text
LAYOUT = "\t\n"  # control characters that a text of characters may hold
NO_TOKEN = re.compile(r"[\x00-\x20\x7f-\x9f\ud800-\udfff]")  # these, a space, half a character


def _checked(text: str, call: str) -> str:
    """A text that UTF-8 can hold, in NFC."""
    if not isinstance(text, str):
        mend = "pass one text; decode bytes first"
        raise ValueError(f"{call}: text must be a str, got {type(text).__name__}: {mend}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        mend = 'decode the file with errors="strict"'
        raise ValueError(f"{call}: text must be whole characters: {mend} ({error})") from error
    return unicodedata.normalize("NFC", text)


def clean_characters(text: str, call: str = "clean_characters") -> str:
    """Unicode NFC, spaces and line feeds as they are; other control characters become spaces.

    Raises:
        ValueError: text is no text, or holds half a character.
    """
    text = _checked(text, call).replace("\r\n", "\n")
    return CONTROL.sub(lambda found: found[0] if found[0] in LAYOUT else " ", text)


def clean(text: str, call: str = "clean") -> str:
    """Unicode NFC, with one space between words and none around them.

    ▁ counts as a space, and so does a control character.

    Raises:
        ValueError: text is no text, or holds half a character.
    """
    return " ".join(CONTROL.sub(" ", _checked(text, call)).replace(START, " ").split())


def cleaned(
    call: str, lines: Iterable[str], clean: Callable[[str, str], str] = clean
) -> Iterator[str]:
    """The lines that hold text, cleaned.

    Raises:
        ValueError: lines is one text, or holds none.
    """
    if isinstance(lines, str):
        raise ValueError(f"{call}: lines must be many texts, got one: split it into lines")
    empty = True
    for line in lines:
        if text := clean(line, call):
            empty = False
            yield text
    if empty:
        raise ValueError(f"{call}: lines hold no text: pass the training text")


def check_vocabulary(
    tokens: Sequence[str], merges: Sequence[tuple[str, str]] | None, characters: bool
) -> None:
    """Refuse tokens that do not begin with the special ones or stand twice, and unknown merges."""
    if characters and merges is not None:
        raise ValueError("Tokenizer: merges must be None where the tokens are characters")
    if tuple(tokens[: len(SPECIALS)]) != SPECIALS:
        words, came = " ".join(SPECIALS), list(tokens[: len(SPECIALS)])
        raise ValueError(f"Tokenizer: tokens must begin with {words}, got {came}")
    known: set[str] = set()
    for n, token in enumerate(tokens):
        if characters and n >= len(SPECIALS):
            good = isinstance(token, str) and len(token) == 1
            good = good and (token in f" {LAYOUT}" or not NO_TOKEN.search(token))
            mend = "each must be one character, no control character, that stands once"
        else:
            good = isinstance(token, str) and token != "" and not NO_TOKEN.search(token)
            mend = "each must be a text without spaces and control characters that stands once"
        if not good or token in known:
            raise ValueError(f"Tokenizer: tokens hold {token!r}: {mend}")
        known.add(token)
    known.difference_update(SPECIALS)
    for pair in merges or ():
        if len(pair) != 2 or not {*pair, "".join(pair)} <= known:
            mend = "the two and what they make must be tokens"
            raise ValueError(f"Tokenizer: merges hold {pair!r}: {mend}")
