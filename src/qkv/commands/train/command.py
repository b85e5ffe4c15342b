"""From what was typed to a trained model; errors become one line and an exit status."""

from __future__ import annotations

import argparse
import errno
import os
import re
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from qkv.checkpoint import Checkpoint
from qkv.commands.messages import escaped, os_error_message
from qkv.commands.train.parser import configs_of, flags, read, with_flags
from qkv.language import gettext
from qkv.trainer.config import ChangedFieldError
from qkv.trainer.training_run import TrainingRun

__all__ = ["main"]

# Who speaks in the library is no matter to who types.
CALL = re.compile(r"(DataConfig|ModelConfig|TranslationData|Trainer|TrainingRun|Runtime): ")
TOGETHER = re.compile(r"(Data|Model)Config: ")


def main(arguments: Sequence[str] | None = None) -> int:
    """Train; the exit status: 1 after an error, 130 after Ctrl-C."""
    run = None
    given: dict[str, Any] = {}
    try:
        options, given = read(arguments)
        run = TrainingRun(os.path.abspath(options.out), options.resume)
        train(options, given, run)
    except KeyboardInterrupt:
        say(f"Interrupted. {how_to_go_on(run)}")
        return 130
    except OSError as error:
        message = os_error_message(error)
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        advice = f" What was saved before is whole. Make room. {how_to_go_on(run)}" if full else ""
        say(f"qkv train: {message}.{advice}")
        return 1
    except ChangedFieldError as error:
        given_flags, stored_flags = flags(error.name, error.given), flags(error.name, error.stored)
        if error.name == "steps" and "steps" not in given and "epochs" in given:
            given_flags += f", by {flags('epochs', given['epochs'])},"
        say(
            f"qkv train: {given_flags} is not how this run began: it has {stored_flags}. "
            f"{by_flags(error.hint)}"
        )
        return 1
    except ModuleNotFoundError as error:
        sentence = gettext("qkv train: training needs {name}: pip install 'qkv[train]'")
        say(sentence.format(name=error.name))
        return 1
    except (ValueError, ImportError) as error:
        say(f"qkv train: {by_flags(str(error))}")
        return 1
    except RuntimeError as error:
        hint = hint_of(error)
        if not hint:
            raise
        message = str(error).partition("\n")[0]
        say(f"qkv train: {message}: {hint}. The options of a run stay: begin another with --out")
        return 1
    return 0


def train(options: argparse.Namespace, given: dict[str, Any], run: TrainingRun) -> None:
    """Everything after the options are known."""
    # What was typed is checked before torch is loaded, which takes seconds.
    if run.resume:
        stored = run.stored().resumed(given)
        data_config, training, runtime_config = stored.data, stored.training, stored.runtime
    else:
        data_config, sizes, training, runtime_config = configs_of(options)

    import torch

    from qkv.commands.train.progress import TrainingProgress
    from qkv.torch import Transformer
    from qkv.trainer import Trainer, TranslationData, open_runtime
    from qkv.trainer.memory import check_memory

    # The processes of one run share its folder, and the main one is the one that writes there.
    with (
        run.lock() if is_main_process() else nullcontext(),
        open_runtime(runtime_config) as runtime,
    ):
        data = TranslationData.from_config(data_config, run.vocabularies())
        config = stored.model if run.resume else data.model_config(**vars(sizes))
        check_memory(config)
        rng = torch.Generator().manual_seed(training.seed)  # the same on each device
        trainer = Trainer(Transformer(config, rng=rng), data, training, runtime)
        with TrainingProgress(trainer, run) as shown:
            trainer.fit(run, shown, progress=False)
            shown.end()


def by_flags(message: str) -> str:
    """A message of the library, without who speaks there, and with flags for its fields."""
    translated = with_flags(CALL.sub("", message, count=1))
    return f"{translated}. qkv train --help says more" if TOGETHER.match(message) else translated


def hint_of(error: RuntimeError) -> str:
    """What helps against an error of torch; nothing where it would be a fault of ours."""
    kind = type(error)
    if kind.__name__ == "OutOfMemoryError":
        return "lower --max-tokens, and raise --gradient-accumulation by as much"
    if kind.__module__.startswith(("torch._dynamo", "torch._inductor")):
        return "leave out --compile, or install what it needs, a C++ compiler"
    return ""


def say(message: str) -> None:
    """On stderr, once where several processes say the same."""
    if is_main_process():
        print(escaped(message), file=sys.stderr)


def is_main_process() -> bool:
    """Whether this is the one process that speaks and writes, before torch could say."""
    return os.environ.get("RANK", "0") == "0"


def how_to_go_on(run: TrainingRun | None) -> str:
    """How to resume, if there is something to resume."""
    if run is None or not run.description.exists():
        return "Nothing was saved yet."
    try:
        step = Checkpoint.load(run.last).metadata.get("step") if run.last.exists() else 0
    except (ValueError, OSError) as error:
        return str(error)
    return f"Go on from step {step} with: qkv train --resume --out {run.path}"
