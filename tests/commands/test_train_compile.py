"""`qkv train --compile` says what compiling cost, and from when on it would pay."""

import re

import pytest
import torch

from qkv.commands import train
from qkv.commands.train.compile_cost import CompileCost
from qkv.experiments.stored_results import stored_result
from qkv.trainer.events import FitStart, StepResult, ValidationResult
from tests.helpers.training import SHORT, SMALL, write_pairs


class Clock:
    now = 50.0

    def __call__(self):
        return self.now


def step(number):
    return StepResult(number, 1, number - 1, 0.1, 9, 5, torch.tensor(1.0), torch.tensor(1.0))


def told(seconds, steps, on_cpu=True, start=0, validation=None):
    """What is said after each of the steps that take these seconds."""
    clock = Clock()
    cost = CompileCost(on_cpu, clock)
    said = [cost.add(FitStart(start, steps))]
    for number, took in enumerate(seconds, start=start + 1):
        clock.now += took
        said.append(cost.add(step(number)))
        if number == validation:
            clock.now += 1000.0
            scores = ValidationResult(number, 1, 0.1, 9, 1.0, 1.0, 1.0, None)
            assert cost.add(scores) == ""
    return said


@pytest.mark.parametrize("validation", [None, 3])
def test_it_is_said_once_after_eight_steps(validation):
    """4.5 s and 0.5 s more than the usual 0.5: 5 s, or 10 updates; over 100 they must save 0.1."""
    seconds = [5.0, 0.5, 0.5, 1.0, 0.5, 0.5, 0.5, 0.5, 0.5, 9.0]
    said = told(seconds, 100, validation=validation)
    assert said[:8] == [""] * 8
    assert said[8] == (
        "--compile: 5.0 s went into compiling, and a step now takes 500.0 ms. Over 100 steps "
        "that pays only if one without --compile would take at least 1.10 times as long. "
        "On a processor, chapter 17 of the book saw no gain."
    )
    assert said[9:] == ["", ""]


def test_of_a_resumed_run_the_steps_that_are_left_count_and_a_gpu_is_no_processor():
    *nothing, said = told([4.0, 1.0, 1.0, 1.0], 10, on_cpu=False, start=6)
    assert not any(nothing)
    assert said.endswith("Over 4 steps that pays only if one without --compile would take at "
                         "least 1.75 times as long.")  # fmt: skip


def test_of_one_or_two_steps_nothing_is_said():
    assert not any(told([4.0, 1.0], 2))


def test_what_it_says_of_the_book_is_what_the_book_measured():
    for times in stored_result("devices_compile").figures["step"].values():
        assert times["compiled"] > 0.97 * times["eager"]


def test_a_compiled_run_says_it_and_another_does_not(tmp_path, monkeypatch, capsys):
    compile_ = torch.nn.Module.compile  # without generating code, which needs a compiler of C++
    monkeypatch.setattr(
        torch.nn.Module,
        "compile",
        lambda self, **own: compile_(self, backend="aot_eager", **own),
    )
    own = [*SMALL, *SHORT, *write_pairs(tmp_path / "text")]
    line = re.compile(
        r"^--compile: \d+\.\d s went into compiling.* Over 9 steps .*no gain\.$", re.M
    )
    for more, count in ((["--compile"], 1), ([], 0)):
        assert train.main([*own, *more, "--out", str(tmp_path / f"run{count}")]) == 0
        assert len(line.findall(capsys.readouterr().out)) == count
