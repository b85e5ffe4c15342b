"""What `qkv translate` does, from its options to its exit status."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from qkv.commands.translate.options import SHIPPED, parse, search_options
from qkv.commands.translate.page import attention_page
from qkv.commands.translate.reading import LineError, blocks, decoded, read_lines
from qkv.files import write_whole
from qkv.pretrained import pretrained
from qkv.translator import Translator

__all__ = ["main"]

POOL = 8192  # lines of a file that are translated together
DRAWN = 20  # sentences on the page: each head of each layer is in it
MUCH = 100  # lines from which progress is shown
INTERRUPTED, CLOSED = 130, 141  # as a shell counts: 128 and the signal's number


def main(arguments: Sequence[str] | None = None) -> int:
    """Translate; the exit status."""
    options = parse(arguments)
    try:
        return run(options)
    except KeyboardInterrupt:
        print("\nStopped.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # whoever read our words has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        say(f"{name}{error.strerror or error}")
    except (ValueError, ImportError) as error:
        say(str(error))
    return 1


def run(options: argparse.Namespace) -> int:
    """Check what can be checked, and only then begin."""
    for path in filter(None, (options.out, options.attention)):
        if path.is_dir() or not path.absolute().parent.is_dir():
            raise ValueError(f"{path} cannot be written: name a file in a folder that is there")
    translator = load(options.checkpoint, options.room, options.device)
    if options.max_len and options.max_len > translator.max_len:
        raise ValueError(f"--max-len must be at most {translator.max_len}, which the model has")
    reference = read_lines(options.reference) if options.reference else None
    score = scorer() if reference is not None else None

    work = Work(translator, options)
    if options.file == "-":
        work.stream()
    else:
        lines = read_lines(options.file)
        if reference is not None:
            same_number(len(lines), options.file, len(reference), options.reference)
        work.file(lines)
    if reference is not None and score is not None:
        same_number(len(work.found), options.file, len(reference), options.reference)
    work.close()
    if reference is not None and score is not None:
        print(score(work.found, reference), file=sys.stderr)
    return 0


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
            print("One sentence a line; Ctrl-D ends.", file=sys.stderr)
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
            count, limit = self.translator.count(line), self.translator.max_len
            if count > limit:
                words = f"line {number} of {name} has {count} tokens, the model takes {limit}"
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


def load(checkpoint: str, room: str, device: str | None) -> Translator:
    """The translator of a checkpoint, or the one that ships with the package."""
    if checkpoint != SHIPPED:
        return Translator.from_checkpoint(checkpoint, room, device)
    if device is not None:
        raise ValueError(f"--device: the {SHIPPED} model runs on the processor: leave it out")
    return pretrained(room)


def scorer() -> Callable[[list[str], list[str]], str]:
    """What says BLEU; asked for before there is anything to lose."""
    try:
        from sacrebleu.metrics.bleu import BLEU
    except ImportError as error:
        raise ImportError("--reference needs sacrebleu: pip install sacrebleu") from error

    def score(found: list[str], reference: list[str]) -> str:
        bleu = BLEU()
        return f"BLEU {bleu.corpus_score(found, [reference]).score:.2f} {bleu.get_signature()}"

    return score


def same_number(lines: int, name: str, references: int, reference: str) -> None:
    if lines != references:
        name = "standard input" if name == "-" else name
        raise ValueError(f"{name} has {lines} lines and {reference} has {references}: no BLEU")


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


def joined(lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def prompt(terminal: bool) -> None:
    if terminal:
        print("> ", end="", file=sys.stderr, flush=True)


def say(words: str) -> None:
    print(f"qkv translate: {words}", file=sys.stderr)
