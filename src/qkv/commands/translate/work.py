"""Lines in, translations out: where they come from, where they go, what is drawn of them."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from qkv.commands.messages import counted, escaped
from qkv.commands.translate.options import search_options
from qkv.commands.translate.page import attention_page
from qkv.commands.translate.reading import LineError, blocks, decoded
from qkv.files import write_whole
from qkv.pretrained.load import EXAMPLE
from qkv.pretrained.words import UnknownWordsError, Words
from qkv.translator import Translator

__all__ = ["Work", "say"]

POOL = 8192  # lines of a file that are translated together
DRAWN = 20  # sentences on the page: each head of each layer is in it
MUCH = 100  # lines from which progress is shown


class Work:
    """The translations so far, and where they go."""

    def __init__(self, translator: Translator, options: argparse.Namespace) -> None:
        self.translator, self.options = translator, options
        self.search = search_options(options)
        self.texts: list[str] = []
        self.found: list[str] = []

    def file(self, lines: Sequence[str]) -> None:
        """Translate all lines; nothing is translated unless all can be."""
        self.look_at(lines, 1, self.options.file)
        with progress(len(lines)) as advance:
            for start in range(0, len(lines), POOL):
                self.translate(lines[start : start + POOL], advance)

    def stream(self) -> None:
        """Translate what comes in as it comes; on a terminal, go on after a line that is bad."""
        terminal = sys.stdin.isatty() and sys.stderr.isatty()
        if terminal:
            print(greeting(self.translator, self.options.checkpoint), file=sys.stderr)
        prompt(terminal)
        number, name = 0, "standard input"
        for block in blocks(sys.stdin.buffer):
            good: list[str] = []
            problem = None
            for line in block:
                number += 1
                try:
                    text = decoded(line, number, name)
                    self.look_at([text], number, name)
                except LineError as error:
                    problem = error
                    break
                good.append(text)
            self.translate(good)
            if problem is not None and not terminal:
                raise problem
            if problem is not None:
                say(str(problem))
            prompt(terminal)
        if terminal:
            print(file=sys.stderr)

    def look_at(self, lines: Sequence[str], first: int, name: str) -> None:
        """Refuse a line that is too long, or say that it is cut."""
        for number, line in enumerate(lines, first):
            try:
                count, limit = self.translator.count(line), self.translator.max_len
            except UnknownWordsError as error:
                raise LineError(
                    f"line {number} of {name}: {error.hint}: {listing(self.options.checkpoint)}"
                ) from error
            except ValueError as error:
                raise LineError(f"line {number} of {name}: {error}") from error
            if count > limit:
                tokens = counted(count, "token")
                words = f"line {number} of {name} has {tokens}, the model takes {limit:,}"
                if not self.options.cut:
                    raise LineError(f"{words}: split it, or pass --cut")
                say(f"{words}: it is cut")

    def translate(self, lines: Sequence[str], advance: Callable[[int], None] | None = None) -> None:
        """Translate, and print unless all goes to a file."""
        own = self.search | {"first": len(self.texts), "cut": self.options.cut}
        found = self.translator.translate(list(lines), progress=advance, **own)
        self.texts += lines
        self.found += found
        if self.options.out is None:
            sys.stdout.buffer.write(joined(found))
            sys.stdout.buffer.flush()

    def close(self) -> None:
        """Write the files."""
        if self.options.out is not None:
            write_whole(self.options.out, joined(self.found))
        if self.options.attention is not None:
            drawn = self.texts[:DRAWN]
            if len(self.texts) > DRAWN:
                say(f"{self.options.attention} shows the first {DRAWN} of {len(self.texts)} lines")
            own = self.search | {"cut": self.options.cut}
            looks = [
                self.translator.attention(text, **own, first=n)
                for n, text in enumerate(drawn)
                if text.strip()
            ]
            write_whole(self.options.attention, attention_page(looks).encode())


@contextmanager
def progress(lines: int) -> Iterator[Callable[[int], None] | None]:
    """What to tell about each batch: a bar on a terminal, where there is much and rich is there."""
    if lines < MUCH or not sys.stderr.isatty():
        yield None
        return
    try:
        from rich.console import Console
        from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn
    except ImportError:
        yield None
        return
    columns: list[Any] = [*Progress.get_default_columns()[:2], MofNCompleteColumn()]
    bar = Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True)
    with bar:
        task = bar.add_task("lines", total=lines)
        yield lambda done: bar.advance(task, done)


def listing(checkpoint: str) -> str:
    """How to see what a model reads."""
    return f"qkv translate {shlex.quote(checkpoint)} --list-words shows all that it knows"


def greeting(translator: Translator, checkpoint: str) -> str:
    """What somebody at a terminal needs to know."""
    found = ["One sentence a line; Ctrl-D ends."]
    source, target = translator.source, translator.target
    if isinstance(source, Words) and isinstance(target, Words):
        found.insert(0, f"From {source.language} to {target.language}, such as: {EXAMPLE}")
    if not source.has_pieces:  # what is no word of it is unknown
        found.insert(-1, f"{listing(checkpoint)}.")
    return "\n".join(found)


def joined(lines: Sequence[str]) -> bytes:
    # A model of characters may write a line feed, and the lines have to stay beside their sources.
    return "".join(line.replace("\n", " ") + "\n" for line in lines).encode()


def prompt(terminal: bool) -> None:
    if terminal:
        print("> ", end="", file=sys.stderr, flush=True)


def say(words: str) -> None:
    print(f"qkv translate: {escaped(words)}", file=sys.stderr)
