"""A training run on disk: a folder with its configurations, its log and its checkpoints."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from qkv.checkpoint import Checkpoint, remove_unreferenced
from qkv.files import atomic_write, file_lock, read_regular_file
from qkv.text import Tokenizer
from qkv.trainer.data import TranslationData
from qkv.trainer.events import ValidationResult
from qkv.trainer.stored_run import StoredRun

__all__ = ["TrainingRun", "digests"]


class TrainingRun:
    """The folder of a run: configurations, log, and checkpoints to resume and to translate with.

    Its files::

        run.json      its configurations, digests of text and vocabularies, the machine it began on
        log.jsonl     a line for each validation
        last.json     the checkpoint to go on from
        best.json     the one to translate with
        average.json  the mean of the last few, made at the end
        step-*.json   these few, until then
        run.lock      while a process is at work here

    Args:
        out: the folder.
        resume: go on with the run that is there, instead of beginning one. It may have more steps
            than it began with. Then the learning rate of each step left is that of a run of so many
            steps: "noam" goes on, "linear" rises once more and falls to 0 at the new end.
    """

    def __init__(self, out: str | os.PathLike[str], resume: bool = False) -> None:
        self.path, self.resume = Path(out), resume
        self.description, self.log, self.last = (
            self.path / name for name in ("run.json", "log.jsonl", "last.json")
        )
        self.best, self.average = self.path / "best.json", self.path / "average.json"
        self._locked = False

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the folder, made if need be, for this run alone; the lock ends with its process.

        A folder that was made and in which nothing began goes again. Inside, to lock it once more
        is no work.

        Raises:
            ValueError: another run is at work in it; or it holds a run, and this one is to begin.
            OSError: nothing can be written there.
        """
        if self._locked:
            yield
            return
        new_folders = [path for path in (self.path, *self.path.parents) if not path.exists()]
        self.path.mkdir(parents=True, exist_ok=True)
        try:
            with file_lock(self.path / "run.lock"):
                self._check_new()
                self._locked = True
                yield
        except BlockingIOError as error:
            raise ValueError(
                f"TrainingRun: another run is at work in {self.path} ({error.strerror}): wait for "
                "its end, or name another folder with `out`"
            ) from error
        finally:
            self._locked = False
            for path in new_folders:
                with suppress(OSError):  # it holds something
                    path.rmdir()

    def _check_new(self) -> None:
        """Refuse to begin where a run is, or checkpoints of another origin."""
        if self.resume:
            return
        for path in (self.description, self.log, self.last, self.best, self.average):
            if os.path.lexists(path):
                raise ValueError(
                    f"TrainingRun: {self.path} holds a run already ({path.name}): go on with it by "
                    "`resume`, or name another folder with `out`"
                )

    def stored(self) -> StoredRun:
        """What run.json says.

        Raises:
            ValueError: there is no run, or none that this version can go on with.
        """
        if not self.description.exists():
            raise ValueError(
                f"TrainingRun: {self.path} holds no run to go on with: leave out `resume`"
            )
        try:
            return StoredRun.unpack(read_regular_file(self.description))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            why = f"{error} is missing" if isinstance(error, KeyError) else error
            raise ValueError(
                f"TrainingRun: {self.description} is cut short or of another kind ({why})"
            ) from error

    def begin(self, description: StoredRun) -> None:
        """Write down what this run is, or what it is now; it began where it began."""
        if self.resume:
            description = replace(description, machine=self.stored().machine)
        atomic_write(self.description, description.pack(), follow_symlinks=False)

    def check_data(self, data: TranslationData) -> None:
        """Refuse text, or vocabularies, that are not those that the run began with."""
        began = self.stored().digests
        for name, digest in digests(data).items():
            if began.get(name) != digest:
                what = "text" if name == "text" else f"vocabulary of the {name}"
                raise ValueError(
                    f"TrainingRun: the {what} is another than that which the run in {self.path} "
                    "began with: bring it back, or begin another run with `out`"
                )

    def vocabularies(self) -> tuple[Tokenizer, Tokenizer] | None:
        """Those of source and target, where there is a checkpoint to go on from."""
        if not self.resume or not self.last.exists():
            return None
        last = Checkpoint.load(self.last)
        return last.source, last.target

    def validations(self, step: int) -> list[ValidationResult]:
        """The log up to this step; a row that was written after it will come once more."""
        if not self.log.exists():
            return []
        try:
            rows = [dict(json.loads(line)) for line in read_regular_file(self.log).splitlines()]
            return [ValidationResult.from_row(row) for row in rows if row["step"] <= step]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise ValueError(
                f"TrainingRun: {self.log} is cut short or of another kind: take it away, and the "
                f"run goes on without the rows that it had ({error!r})"
            ) from error

    def save(
        self,
        checkpoint: Checkpoint,
        optimizer: Mapping[str, Any],
        validations: Sequence[ValidationResult],
        average: int,
    ) -> None:
        """Keep what a validation leaves: the model, the best, the log, and what goes on from here.

        Args:
            checkpoint: after the last of the validations.
            optimizer: its `state_dict`.
            average: how many checkpoints are kept to be averaged.
        Raises:
            OSError: something cannot be written; what was saved before is whole.
        """
        checkpoint.save(self.path / f"step-{validations[-1].step}.json")
        for path in self.step_checkpoints()[:-average]:
            path.unlink()
        if validations[-1].best:
            checkpoint.save(self.best)
        rows = "".join(json.dumps(validation.row()) + "\n" for validation in validations)
        atomic_write(self.log, rows.encode(), follow_symlinks=False)
        replace(checkpoint, optimizer=optimizer).save(self.last)

    def save_average(self, checkpoint: Checkpoint, best: bool) -> None:
        """Keep the average of the last few checkpoints."""
        checkpoint.save(self.average)
        if best:
            checkpoint.save(self.best)

    def step_checkpoints(self) -> list[Path]:
        """The checkpoints to be averaged, first to last."""
        return sorted(self.path.glob("step-*.json"), key=lambda path: (len(path.name), path.name))

    def finish(self) -> None:
        """Delete the checkpoints of single steps, of which the average is made by now."""
        for path in self.step_checkpoints():
            path.unlink()
        remove_unreferenced(self.path)


def digests(data: TranslationData) -> dict[str, str]:
    """Of text and vocabularies, by name."""
    return {"text": data.digest, "source": data.source.digest, "target": data.target.digest}
