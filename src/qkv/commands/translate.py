"""`qkv translate`: a checkpoint and lines of text in, translations out."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import tee

from qkv.bleu import bleu_scorer
from qkv.commands.messages import counted, escaped, os_error_message
from qkv.commands.output_files import check_output_files
from qkv.commands.progress_bar import progress_bar
from qkv.commands.translate_arguments import SHIPPED, parse, search_options
from qkv.commands.translate_remarks import (
    Remarks,
    UnknownWordsInTextError,
    check_words,
    greeting,
    list_words_hint,
    prompt,
    word_list,
)
from qkv.files import atomic_write
from qkv.pretrained import pretrained
from qkv.pretrained.lenient_tokenizer import UnknownWordsError
from qkv.text.lines import LineError, decode_line, read_lines, split_lines
from qkv.translator import Translator, attention_page

__all__ = ["main"]

INTERRUPTED, CLOSED = 130, 141  # as a shell counts: 128 and the signal's number
BLOCK = 8192  # lines of a file that are translated together
MAX_DRAWN = 20  # sentences on the page: each head of each layer is in it
STDIN, STDIN_NUMBER = "standard input", 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Translate; the exit status."""
    options = parse(arguments)
    try:
        return run(options)
    except KeyboardInterrupt:
        print("\nStopped.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # whoever read our output has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED
    except OSError as error:
        report(os_error_message(error))
    except UnknownWordsInTextError as error:
        print(f"qkv translate: {error.escaped()}", file=sys.stderr)
    except (ValueError, ImportError) as error:
        report(str(error).replace("`max_text`", "--max-text"))
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "out of memory" not in str(error):
            raise
        beam = " and --beam-size" if options.method == "beam" else ""
        report(f"out of memory: lower --max-tokens{beam}")
    return 1


def run(options: argparse.Namespace) -> int:
    """Check what can be checked, and only then begin."""
    check_output_files(
        {"--out": options.out, "--attention": options.attention},
        (STDIN_NUMBER if options.file == "-" else options.file, options.reference or ""),
        own_path(options.checkpoint),
    )
    translator = load(options.checkpoint, options.room, options.device)
    if options.list_words:
        write_out(word_list(translator, options.checkpoint == SHIPPED))
        return 0
    if options.max_new_tokens and options.max_new_tokens > translator.max_len:
        most = translator.max_len
        raise ValueError(f"--max-new-tokens must be at most {most}, which the model has")
    references = None
    if options.reference:
        references = list(read_lines(options.reference, options.max_text))
    if references == []:
        raise ValueError(f"{options.reference} is empty: no BLEU")
    score = bleu_scorer("--reference", "sacrebleu") if references is not None else None

    drawn, translations = translate(translator, options, references)
    if options.out is not None:
        atomic_write(options.out, as_bytes(translations))
    if options.attention is not None:
        draw(translator, drawn, options)
    if references is not None and score is not None:
        check_same_number(len(translations), len(references), options)
        bleu, signature = score(translations, references)
        print(f"BLEU {bleu:.2f} {signature}", file=sys.stderr)
    return 0


def own_path(checkpoint: str) -> str | None:
    """The path that names a checkpoint; None for the one that ships with the package."""
    return None if checkpoint == SHIPPED else checkpoint


def load(checkpoint: str, room: str, device: str | None) -> Translator:
    """The translator of a checkpoint, or the one that ships with the package."""
    if checkpoint == SHIPPED:
        if device is not None:
            raise ValueError(f"--device: the {SHIPPED} model runs on the processor: leave it out")
        return pretrained(room)
    if room == "torch" and device is None:
        import torch

        device = "cuda" if torch.cuda.is_available() else "cpu"
    return Translator.from_checkpoint(checkpoint, room, device)


def translate(
    translator: Translator, options: argparse.Namespace, references: Sequence[str] | None
) -> tuple[list[str], list[str]]:
    """Translate a file, if all of its lines can be, or standard input as it comes.

    Returns:
        The first lines, for the page of attention maps; and the translations, where they are
        wanted once more.
    """
    lines: list[str] = []
    blocks: Iterable[list[str]]
    max_new_tokens = options.max_new_tokens or translator.max_len
    remarks = Remarks(translator, options.checkpoint == SHIPPED, max_new_tokens)
    if options.file == "-":
        blocks = stdin_blocks(translator, options, remarks)
    else:
        lines += read_lines(options.file, options.max_text)
        if references is not None:
            check_same_number(len(lines), len(references), options)
        check_words(lines, options.file, translator, list_words_hint(options.checkpoint))
        for number, line in enumerate(lines, 1):
            check_line(line, number, options.file, translator, options)
        blocks = (lines[start : start + BLOCK] for start in range(0, len(lines), BLOCK))
    drawn: list[str] = []
    translations: list[str] = []
    number, is_kept = 0, options.out is not None or references is not None
    blocks, copies = tee(blocks)
    with progress_bar(len(lines)) as advance:
        own = {"progress": advance, "unfinished": remarks.add_cut, **search_options(options)}
        for block, translated in zip(copies, translator.stream(blocks, **own), strict=False):
            number += len(block)
            drawn += block[: MAX_DRAWN - len(drawn)]
            if is_kept:
                translations += translated
            if options.out is None:
                write_out(translated)
            remarks.add(block, translated)
            if options.file == "-" and is_terminal():
                report(*remarks.take())
    report(*remarks.take())
    if options.attention is not None and number > MAX_DRAWN:
        report(f"{options.attention} shows the first {MAX_DRAWN} of {number} lines")
    return drawn, translations


def stdin_blocks(
    translator: Translator, options: argparse.Namespace, remarks: Remarks
) -> Iterator[list[str]]:
    """The lines of standard input as they come; on a terminal, a bad one is told and skipped."""
    asks = is_terminal()
    if asks:
        print(greeting(translator, options.checkpoint), file=sys.stderr)
    number = 0
    prompt(asks)
    for raw_lines in split_lines(sys.stdin.buffer):
        block: list[str] = []
        problem = None
        for raw in raw_lines:
            number += 1
            try:
                line = decode_line(raw, number, STDIN)
                check_line(line, number, STDIN, translator, options)
            except LineError as error:
                problem = error
                break
            block.append(line)
        yield block
        if problem is not None and not asks:
            raise problem
        if problem is not None:
            remarks.refused.append(number - 1 - len(remarks.refused))
            report(str(problem))
        prompt(asks)
    if asks:
        print(file=sys.stderr)


def check_line(
    line: str, number: int, name: str, translator: Translator, options: argparse.Namespace
) -> None:
    """Refuse a line that the model cannot take, or say that it is truncated."""
    try:
        count, limit = translator.count_tokens(line), translator.max_len
    except UnknownWordsError as error:
        how = list_words_hint(options.checkpoint)
        raise LineError(f"line {number} of {name}: {error.hint}: {how}") from error
    except ValueError as error:
        raise LineError(f"line {number} of {name}: {error}") from error
    if count > limit:
        tokens = counted(count, "token")
        message = f"line {number} of {name} has {tokens}, the model takes {limit:,}"
        if not options.truncate:
            raise LineError(f"{message}: split it, or pass --truncate")
        report(f"{message}: it is cut")


def check_same_number(lines: int, references: int, options: argparse.Namespace) -> None:
    if lines != references:
        name = STDIN if options.file == "-" else options.file
        raise ValueError(
            f"{name} has {counted(lines, 'line')} and {options.reference} has {references:,}: "
            "no BLEU"
        )


def draw(translator: Translator, sources: Sequence[str], options: argparse.Namespace) -> None:
    """Write the page of attention maps."""
    maps = [
        translator.attention(line, **search_options(options), offset=n)
        for n, line in enumerate(sources)
        if line.strip()
    ]
    atomic_write(options.attention, attention_page(maps).encode())


def as_bytes(lines: Sequence[str]) -> bytes:
    # A model of characters may write a line feed, and the lines have to stay beside their sources.
    return "".join(line.replace("\n", " ") + "\n" for line in lines).encode()


def write_out(lines: Sequence[str]) -> None:
    sys.stdout.buffer.write(as_bytes(lines))
    sys.stdout.buffer.flush()


def is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def report(*messages: str) -> None:
    for message in messages:
        print(f"qkv translate: {escaped(message)}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
