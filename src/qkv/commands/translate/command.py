"""What `qkv translate` does, from its options to its exit status."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from qkv.commands.bleu import bleu_scorer
from qkv.commands.messages import counted, os_error_message
from qkv.commands.translate.options import SHIPPED, parse
from qkv.commands.translate.reading import read_lines
from qkv.commands.translate.work import Work, joined, say
from qkv.pretrained import pretrained
from qkv.text import SPECIALS
from qkv.translator import Translator

__all__ = ["main"]

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
        say(os_error_message(error))
    except (ValueError, ImportError) as error:
        say(str(error))
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "out of memory" not in str(error):
            raise
        say("out of memory: lower --max-tokens")
    return 1


def run(options: argparse.Namespace) -> int:
    """Check what can be checked, and only then begin."""
    for path in filter(None, (options.out, options.attention)):
        if path.is_dir() or not Path(os.path.realpath(path)).parent.is_dir():
            raise ValueError(f"{path} cannot be written: name a file in a folder that is there")
    translator = load(options.checkpoint, options.room, options.device)
    if options.list_words:
        words = translator.source.tokens[len(SPECIALS) :]
        sys.stdout.buffer.write(joined(sorted(words, key=lambda word: (word.lower(), word))))
        return 0
    if options.max_new_tokens and options.max_new_tokens > translator.max_len:
        most = translator.max_len
        raise ValueError(f"--max-new-tokens must be at most {most}, which the model has")
    reference = read_lines(options.reference) if options.reference else None
    if reference == []:
        raise ValueError(f"{options.reference} is empty: no BLEU")
    score = bleu_scorer("--reference", "sacrebleu") if reference is not None else None

    work = Work(translator, options)
    if options.file == "-":
        work.stream()
    else:
        lines = read_lines(options.file)
        if reference is not None:
            same_number(len(lines), options.file, len(reference), options.reference)
        work.file(lines)
    work.close()
    if reference is not None and score is not None:
        same_number(len(work.found), options.file, len(reference), options.reference)
        bleu, signature = score(work.found, reference)
        print(f"BLEU {bleu:.2f} {signature}", file=sys.stderr)
    return 0


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


def same_number(lines: int, name: str, references: int, reference: str) -> None:
    if lines != references:
        name = "standard input" if name == "-" else name
        raise ValueError(
            f"{name} has {counted(lines, 'line')} and {reference} has {references:,}: no BLEU"
        )
