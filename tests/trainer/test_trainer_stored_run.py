"""run.json: every field of a run, with the version that wrote it; younger and older runs."""

import json
from dataclasses import dataclass, field

import pytest

import qkv
from qkv.checkpoint import Checkpoint
from qkv.commands import train
from qkv.config import TransformerConfig
from qkv.trainer import DataConfig, RuntimeConfig, TrainingConfig, TrainingRun, stored_run
from qkv.trainer.config import ChangedFieldError
from qkv.trainer.stored_run import StoredRun
from tests.helpers.training import SHORT, SMALL, same, write_pairs

MACHINE = {"device": "cpu", "threads": 2, "processes": 1}
RUN = StoredRun(
    DataConfig(tsv="a.tsv"),
    TransformerConfig(17),
    TrainingConfig().resolved(9, 4.0),
    RuntimeConfig(bf16=True),
    {"text": "1", "source": "2", "target": "3"},
    MACHINE,
)


def test_a_run_is_read_as_it_was_written():
    assert StoredRun.unpack(RUN.pack()) == RUN
    assert RUN.version == qkv.__version__
    content = json.loads(RUN.pack())
    assert content["runtime"] == {"bf16": True, "compile": False}  # the rest is the machine's
    assert content["version"] == qkv.__version__


def edited(edit):
    content = json.loads(RUN.pack())
    edit(content)
    return json.dumps(content).encode()


def test_a_run_is_read_by_the_former_names_of_its_fields():
    def edit(content):
        assert content["model"].pop("norm_first") is False
        tie = content["model"].pop("tie_word_embeddings")
        content["model"] |= {"norm_placement": "post", "tie": tie}

    assert StoredRun.unpack(edited(edit)) == RUN


def test_a_field_that_this_version_does_not_know_is_named_with_the_version_that_wrote_it():
    def edit(content):
        content["version"] = "9.1.0"
        content["training"] |= {"momentum": 0.9, "amsgrad": False}

    words = r"its training has amsgrad, momentum, of which .* nothing: qkv 9\.1\.0 has written it"
    with pytest.raises(ValueError, match=words):
        StoredRun.unpack(edited(edit))


def test_a_new_field_leaves_older_runs_resumable(tmp_path, monkeypatch):
    """A version later, TrainingConfig has one more field: a run of today goes on and ends alike."""
    own = [*SMALL, *SHORT, *write_pairs(tmp_path / "text")]
    assert train.main([*own, "--out", str(tmp_path / "whole")]) == 0

    def stop(event):
        if getattr(event, "pause", 0):
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(
            "qkv.commands.train.progress.TrainingProgress._validation", lambda *_: stop(_[1])
        )
        assert train.main([*own, "--out", str(tmp_path / "run")]) == 130
    assert Checkpoint.load(tmp_path / "run" / "last.json").metadata["step"] == 3

    @dataclass(frozen=True)
    class Later(TrainingConfig):
        momentum: float = field(default=0.5)

    monkeypatch.setitem(stored_run.SECTIONS, "training", Later)
    run = TrainingRun(tmp_path / "run", resume=True)
    assert run.stored().training.momentum == 0.5
    assert train.main([*SMALL[-4:], "--resume", "--out", str(tmp_path / "run")]) == 0
    one, other = (Checkpoint.load(tmp_path / name / "last.json") for name in ("whole", "run"))
    same(one.parameters, other.parameters)
    assert "momentum" in other.metadata["configs"]["training"]


def test_a_run_goes_on_as_it_began_but_for_machine_and_paths(tmp_path):
    given = {"tsv": str(tmp_path / "b.tsv"), "max_text": 9}
    on = RUN.resumed({"device": "cpu", "bf16": True, **given})
    assert on.runtime == RuntimeConfig(device="cpu", threads=2, bf16=True)
    assert on.data == DataConfig(tsv=tmp_path / "b.tsv", max_text=9)
    assert RUN.resumed({"threads": 1}).runtime.threads == 1
    assert RUN.resumed({"threads": None}).runtime.threads == 2
    assert RUN.resumed({"betas": [0.9, 0.98], "max_len": 128}).training == RUN.training
    for given in ({"max_len": 9}, {"bf16": False}, {"seed": 1}, {"d_model": 8}, {"valid_pairs": 3}):
        with pytest.raises(ChangedFieldError) as found:
            RUN.resumed(given)
        assert {found.value.name: found.value.given} == given
