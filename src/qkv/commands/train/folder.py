"""The folder of a run: its options, its log, and its checkpoints."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from qkv.checkpoint import Checkpoint
from qkv.commands.train.arguments import FREE, PATHS, flags
from qkv.commands.train.data import Data
from qkv.files import write_whole

__all__ = ["Folder"]

FORMAT = "qkv run 1"
Row = dict[str, Any]


class Folder:
    """Where a run keeps what it needs to go on, and what others want of it.

    run.json      its options, and digests of text and vocabularies
    log.jsonl     a line for each validation
    last.json     the checkpoint to go on from
    best.json     the one to translate with
    average.json  the mean of the last few, made at the end
    step-*.json   these few, until then
    """

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        self.run, self.log, self.last = (
            self.path / n for n in ("run.json", "log.jsonl", "last.json")
        )
        self.best, self.average = self.path / "best.json", self.path / "average.json"

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

        Raises:
            ValueError: there is no run, or an option that was given is not the run's.
        """
        own = self.content()["options"]
        known = {name for name in vars(options) if name not in FREE}
        if set(own) != known:
            raise ValueError(f"{self.run} has options that are not those of this version")
        for name, value in given.items():
            if name in PATHS:  # the text may have moved, if it is the same
                own[name] = value
            elif name in own and own[name] != value:
                raise ValueError(
                    f"{flags(name, value)} is not how this run began: it has "
                    f"{flags(name, own[name])}. Leave it out, or begin another run with --out"
                )
        free = {name: getattr(options, name) for name in FREE}
        return argparse.Namespace(**own, **free)

    def content(self) -> dict[str, Any]:
        """What run.json says."""
        if not self.run.exists():
            raise ValueError(f"{self.path} holds no run to go on with: leave out --resume")
        try:
            found = json.loads(self.run.read_bytes())
            if found["format"] != FORMAT or not isinstance(found["options"], dict):
                raise ValueError(f'its "format" is not "{FORMAT}"')
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise ValueError(f"{self.run} is cut short or of another kind ({error})") from error
        return dict(found)

    def begin(self, options: argparse.Namespace, data: Data) -> None:
        """Write down what this run is."""
        own = {name: value for name, value in vars(options).items() if name not in FREE}
        content = {"format": FORMAT, "options": own, **digests(data)}
        self.path.mkdir(parents=True, exist_ok=True)
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
        rows = [json.loads(line) for line in self.log.read_text("utf-8").splitlines()]
        return [row for row in rows if row["step"] <= step]

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


def digests(data: Data) -> dict[str, str]:
    return {"text": data.digest, "source": data.source.digest, "target": data.target.digest}
