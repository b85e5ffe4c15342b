"""The folder of a run: its options, its log, and its checkpoints."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from qkv.checkpoint import Checkpoint
from qkv.commands.train.arguments import FREE, PATHS, flags
from qkv.commands.train.data import Data
from qkv.commands.train.stored_options import check_stored
from qkv.files import locked, read_whole, write_whole

__all__ = ["Folder"]

FORMAT = "qkv run 1"
Row = dict[str, Any]


class Folder:
    """Where a run keeps what it needs to go on, and what others want of it.

    run.json      its options, digests of text and vocabularies, and the machine it began on
    log.jsonl     a line for each validation
    last.json     the checkpoint to go on from
    best.json     the one to translate with
    average.json  the mean of the last few, made at the end
    step-*.json   these few, until then
    run.lock      while a process is at work here
    """

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        self.run, self.log, self.last = (
            self.path / n for n in ("run.json", "log.jsonl", "last.json")
        )
        self.best, self.average = self.path / "best.json", self.path / "average.json"

    @contextmanager
    def held(self) -> Iterator[None]:
        """The folder, made if need be, for one run alone; the lock goes when its process ends.

        A folder that was made and in which nothing began goes again.

        Raises:
            ValueError: another run is at work in it.
            OSError: nothing can be written there.
        """
        made = [path for path in (self.path, *self.path.parents) if not path.exists()]
        self.path.mkdir(parents=True, exist_ok=True)
        try:
            with locked(self.path / "run.lock"):
                yield
        except BlockingIOError as error:
            raise ValueError(
                f"another run is at work in {self.path} ({error.strerror}): wait for its end, or "
                "name another folder with --out"
            ) from error
        finally:
            for path in made:
                with suppress(OSError):  # it holds something
                    path.rmdir()

    def check_new(self) -> None:
        """Refuse a folder that holds a run, or checkpoints of another origin."""
        for path in (self.run, self.last, self.best):
            if path.exists():
                raise ValueError(
                    f"{self.path} holds a run already ({path.name}): go on with it by --resume, or "
                    "name another folder with --out"
                )

    def options(self, given: Mapping[str, Any], options: argparse.Namespace) -> argparse.Namespace:
        """The run's own options, with those that belong to the machine as they are given now.

        The threads are those that it began with, unless others are given: on another number of
        them, sums are taken in another order, and their last digits differ.

        Raises:
            ValueError: there is no run, or an option that was given is not the run's.
        """
        content = self.content()
        own = content["options"]
        for name, value in given.items():
            if name in PATHS:  # the text may have moved, if it is the same
                own[name] = value
            elif name in own and own[name] != value:
                raise ValueError(
                    f"{flags(name, value)} is not how this run began: it has "
                    f"{flags(name, own[name])}. Leave it out, or begin another run with --out"
                )
        free = {name: getattr(options, name) for name in FREE}
        if free["threads"] is None:
            free["threads"] = content["machine"]["threads"]
        return argparse.Namespace(**own, **free)

    def content(self) -> dict[str, Any]:
        """What run.json says."""
        if not self.run.exists():
            raise ValueError(f"{self.path} holds no run to go on with: leave out --resume")
        try:
            found = dict(json.loads(read_whole(self.run)))
            if found["format"] != FORMAT:
                raise ValueError(f'its "format" is not "{FORMAT}"')
            found["options"] = check_stored(found["options"])
            found["machine"] = _machine(found.get("machine"))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            why = f"{error} is missing" if isinstance(error, KeyError) else error
            raise ValueError(f"{self.run} is cut short or of another kind ({why})") from error
        return found

    def begin(
        self, options: argparse.Namespace, data: Data, machine: Mapping[str, str | int]
    ) -> None:
        """Write down what this run is, and on what it began."""
        own = {name: value for name, value in vars(options).items() if name not in FREE}
        content = {"format": FORMAT, "options": own, "machine": dict(machine), **digests(data)}
        write_whole(self.run, json.dumps(content, indent=1).encode())

    def check_text(self, data: Data) -> None:
        """Refuse text, or vocabularies, that are not those that the run began with."""
        began = self.content()
        for name, digest in digests(data).items():
            if began.get(name) != digest:
                what = "text" if name == "text" else f"vocabulary of the {name}"
                raise ValueError(
                    f"the {what} is another than that which the run in {self.path} began with: "
                    "bring it back, or begin another run with --out"
                )

    def rows(self, step: int) -> list[Row]:
        """The log up to this update; a row that was written after it will come once more."""
        if not self.log.exists():
            return []
        try:
            rows = [dict(json.loads(line)) for line in read_whole(self.log).splitlines()]
            return [row for row in rows if row["step"] <= step]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise ValueError(
                f"{self.log} is cut short or of another kind: take it away, and the run goes on "
                f"without the rows that it had ({error!r})"
            ) from error

    def write_rows(self, rows: list[Row]) -> None:
        write_whole(self.log, "".join(json.dumps(row) + "\n" for row in rows).encode())

    def moments(self) -> list[Path]:
        """The checkpoints to be averaged, first to last."""
        return sorted(self.path.glob("step-*.json"), key=lambda path: (len(path.name), path.name))

    def add_moment(self, step: int, checkpoint: Checkpoint, keep: int) -> None:
        """Keep this one, and of those before it as many as are averaged with it."""
        checkpoint.save(self.path / f"step-{step}.json")
        for path in self.moments()[:-keep]:
            path.unlink()


def _machine(found: object) -> dict[str, str | int | None]:
    """What a run began on, each None where it is not known."""
    known = found if isinstance(found, dict) else {}
    device, threads, processes = (known.get(n) for n in ("device", "threads", "processes"))
    counts = {"threads": threads, "processes": processes}
    good = {n: x if isinstance(x, int) and x >= 1 else None for n, x in counts.items()}
    return {"device": device if isinstance(device, str) else None, **good}


def digests(data: Data) -> dict[str, str]:
    return {"text": data.digest, "source": data.source.digest, "target": data.target.digest}
