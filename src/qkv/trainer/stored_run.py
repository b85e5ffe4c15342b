"""What run.json holds: the configurations of a run, and which version of qkv wrote them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Self

import qkv
from qkv.config import TransformerConfig, with_current_names
from qkv.trainer.config import (
    LATER_END,
    PATHS,
    ChangedFieldError,
    DataConfig,
    RuntimeConfig,
    TrainingConfig,
)

__all__ = ["StoredRun", "check_unchanged"]

FORMAT = "qkv run 2"
SECTIONS: dict[str, Any] = {
    "data": DataConfig,
    "model": TransformerConfig,
    "training": TrainingConfig,
    "runtime": RuntimeConfig,
}
FREE = ("device", "threads")  # the machine may be another when a run goes on
TEXT = (*PATHS, "max_text")  # and the text elsewhere; its digest says that it is the same
MAY_CHANGE = (*FREE, *TEXT, *LATER_END)


@dataclass(frozen=True)
class StoredRun:
    """What a run is, and on what it began.

    Args:
        data, model, training, runtime: its configurations, defaults resolved.
        digests: of its text and its vocabularies.
        machine: as `Runtime.machine`; a value that is not known is None.
        version: of qkv, which wrote it.
    """

    data: DataConfig
    model: TransformerConfig
    training: TrainingConfig
    runtime: RuntimeConfig
    digests: Mapping[str, str]
    machine: Mapping[str, Any]
    version: str = field(default_factory=lambda: qkv.__version__)

    def configs(self) -> dict[str, dict[str, Any]]:
        """Every field but those that are the machine's, section by section."""
        sections = {name: asdict(getattr(self, name)) for name in SECTIONS}
        for name in FREE:
            del sections["runtime"][name]
        return sections

    def pack(self) -> bytes:
        """As JSON."""
        content = {"format": FORMAT, "version": self.version, **self.configs()}
        content |= {"machine": dict(self.machine), "digests": dict(self.digests)}
        return json.dumps(content, indent=1).encode()

    @classmethod
    def unpack(cls, data: bytes) -> Self:
        """Of JSON.

        Raises:
            ValueError, TypeError, AttributeError, RecursionError: it is cut short or of another
                kind, or has a field that this version does not know.
            KeyError: something is missing.
        """
        content = json.loads(data)
        if content["format"] != FORMAT:
            raise ValueError(f'its "format" is not "{FORMAT}"')
        version = str(content["version"])
        return cls(
            **{name: _section(name, content[name], version) for name in SECTIONS},
            digests=dict(content["digests"]),
            machine=_machine(content.get("machine")),
            version=version,
        )

    def resumed(self, given: Mapping[str, Any]) -> Self:
        """As it goes on: its text, `max_text` and machine as given now, all else as it began.

        More steps or epochs than it had give it a later end.

        The threads are those that it began with, unless others are given: on another number of
        them, sums are taken in another order, and their last digits differ.

        Args:
            given: fields by name.
        Raises:
            ChangedFieldError: one that has to stay is given another value.
        """
        free = {name: given[name] for name in FREE if given.get(name) is not None}
        text = {name: given[name] for name in TEXT if name in given}
        model = {**vars(self.model), "max_len": self.data.max_len}  # its own has room for <sos>
        for stored in (vars(self.data), model, vars(self.training), vars(self.runtime)):
            check_unchanged(stored, given)
        return replace(
            self,
            training=self.training.extended(*(given.get(name) for name in LATER_END)),
            data=replace(self.data, **text),
            runtime=replace(self.runtime, **{"threads": self.machine["threads"], **free}),
        )


def check_unchanged(stored: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Refuse a given field that is another than was stored, and may not be.

    Raises:
        ChangedFieldError: there is one; it is named.
    """
    for name, before in stored.items():
        value = given.get(name, before)
        if isinstance(value, list):
            value = tuple(value)
        if name not in MAY_CHANGE and value != before:
            raise ChangedFieldError(name, value, before)


def _section(section: str, stored: Any, version: str) -> Any:
    """The configuration of a section; a field that is younger than the run has its default."""
    stored = with_current_names(stored) if section == "model" else stored
    known = {field.name for field in fields(SECTIONS[section])} - set(FREE)
    if unknown := sorted(set(map(str, stored)) - known):
        raise ValueError(
            f"its {section} has {', '.join(unknown)}, of which this version of qkv knows nothing: "
            f"qkv {version} has written it, and can go on with it"
        )
    return SECTIONS[section](**stored)


def _machine(stored: object) -> dict[str, Any]:
    """What a run began on, each None where it is not known."""
    known = stored if isinstance(stored, dict) else {}
    device, counts = known.get("device"), ("threads", "processes")
    good = {name: n for name in counts if isinstance(n := known.get(name), int) and n >= 1}
    return {"device": device if isinstance(device, str) else None} | dict.fromkeys(counts) | good
