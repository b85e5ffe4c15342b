"""Trainer: five lines train a model, step by step or to the end, and nothing is written."""

import itertools
import json
import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
import torch

from qkv.bridge import state_dict
from qkv.checkpoint import Checkpoint
from qkv.torch import Transformer
from qkv.trainer import (
    DataConfig,
    FitStart,
    History,
    Runtime,
    RuntimeConfig,
    Scores,
    StepResult,
    Trainer,
    TrainingConfig,
    TrainingRun,
    TranslationData,
    ValidationResult,
)
from qkv.trainer.config import ChangedFieldError
from qkv.translator import Translator
from tests.helpers.processes import run_python
from tests.helpers.tolerances import TOLERANCE
from tests.helpers.training import PAIRS, same

TRAINING = TrainingConfig(steps=9, validate_every=3, max_tokens=60, average=2)


@pytest.fixture(scope="module")
def data():
    return TranslationData.from_pairs(PAIRS[3:], PAIRS[:3], DataConfig(words=True))


def trainer(data, config=TRAINING, **sizes):
    sizes = {"d_model": 12, "n_heads": 2, "d_ff": 8, "n_layers": 1, "dropout": 0.2, **sizes}
    model = Transformer(data.model_config(**sizes), rng=torch.Generator().manual_seed(0))
    return Trainer(model, data, config)


def test_five_lines_in_a_notebook_train_and_draw_and_write_nothing(tmp_path):
    code = """
import matplotlib; matplotlib.use("agg")
from qkv.torch import Transformer
from qkv.trainer import Trainer, TrainingConfig, TranslationData

data = TranslationData.from_grammar(words=True, valid_pairs=9)
model = Transformer(data.model_config(d_model=16, d_ff=16, n_heads=2, n_layers=1))
trainer = Trainer(model, data, TrainingConfig(steps=12, learning_rate=0.01))
history = trainer.fit()
ax = history.plot()

assert len(ax.lines) == 2 and list(ax.lines[0].get_xdata()) == history.steps
print(len(history.steps), len(history.validations), history.losses[-1] < history.losses[0])
"""
    here, config = tmp_path / "here", tmp_path / "config"
    here.mkdir()
    config.mkdir()  # where the libraries put what they keep for themselves
    own = {"HOME": str(here), "TMPDIR": str(config), "MPLCONFIGDIR": str(config)}
    done = subprocess.run(
        [sys.executable, "-B", "-c", code],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=here,
        env={**os.environ, **own, "PYTHONPATH": ":".join(filter(None, sys.path))},
    )
    assert done.stdout == "12 6 True\n", done.stderr
    assert list(here.iterdir()) == []


def test_to_import_it_loads_no_torch_and_names_what_is_there():
    code = (
        "import sys, qkv.trainer\n"
        "from qkv.trainer import DataConfig, RuntimeConfig, TrainingConfig\n"
        "from qkv.commands.train import main\n"
        "print([name for name in sys.modules if name.partition('.')[0] == 'torch'])\n"
        "for name in qkv.trainer.__all__: getattr(qkv.trainer, name)"
    )
    done = run_python(code)
    assert (done.stdout, done.stderr) == ("[]\n", "")
    import qkv.trainer

    with pytest.raises(AttributeError, match=r"module 'qkv\.trainer' has no attribute 'nothing'"):
        qkv.trainer.nothing  # noqa: B018


def test_steps_are_results_that_are_read_when_they_are_asked_for(data):
    own = trainer(data)
    results = list(own.steps())
    assert [result.step for result in results] == list(range(1, 10))
    first = results[0]
    assert isinstance(first, StepResult)
    assert isinstance(first.loss_sum, torch.Tensor)
    assert first.loss == pytest.approx(float(first.loss_sum) / first.target_tokens)
    assert (first.epoch, first.index, first.processes) == (1, 0, 1)
    assert first.learning_rate == own.config.learning_rate  # a tenth of 9 steps is one
    assert 0 < first.target_tokens < first.tokens <= 2 * TRAINING.max_tokens
    assert own.history.steps == [result.step for result in results]
    assert own.history.losses == pytest.approx([result.loss for result in results])
    assert own.history.grad_norms == pytest.approx([result.grad_norm for result in results])
    assert own.history.learning_rates == [result.learning_rate for result in results]
    assert own.state.tokens == sum(result.tokens for result in results)
    assert list(own.steps()) == []


def test_a_loop_over_steps_can_stop_and_go_on(data):
    """What is drawn hangs on the step alone: neither a pause nor a validation changes a number."""
    whole, parts = trainer(data), trainer(data)
    history = whole.fit()
    for result in itertools.islice(parts.steps(), 4):
        assert result.step <= 4
    torch.manual_seed(5)
    assert isinstance(parts.validate(), Scores)
    assert [result.step for result in parts.steps()] == [5, 6, 7, 8, 9]
    same(state_dict(whole.model), state_dict(parts.model))
    assert parts.history.losses == history.losses


def test_fit_tells_its_events_in_their_order(data):
    events = []
    own = trainer(data)
    history = own.fit(on_event=events.append)
    assert isinstance(history, History)
    first, last = history.losses[0], history.losses[-1]
    assert repr(history) == f"History(9 steps, loss {first:.2f} → {last:.2f}, 3 validations)"
    assert events[0] == FitStart(0, 9)
    steps = [event for event in events if isinstance(event, StepResult)]
    validations = [event for event in events if isinstance(event, ValidationResult)]
    assert len(events) == 1 + len(steps) + len(validations)
    assert [event.step for event in validations] == [3, 6, 9]
    assert events.index(validations[0]) == 4
    for event, kept in zip(validations, history.validations, strict=True):
        assert event.row() == kept.row()
        assert event.scores.signature
        upto = steps[event.step - 3 : event.step]
        sums = sum(float(step.loss_sum) for step in upto), sum(step.target_tokens for step in upto)
        assert event.training_loss == pytest.approx(sums[0] / sums[1])
    best = max((event for event in validations if event.best), key=lambda event: event.step)
    assert own.state.best == best.scores


def test_a_run_keeps_what_was_trained_and_the_model_ends_with_the_last_step(data, tmp_path):
    kept, bare = trainer(data), trainer(data)
    run = TrainingRun(tmp_path / "run")
    history = kept.fit(run)
    bare.fit()
    same(state_dict(kept.model), state_dict(bare.model))
    same(Checkpoint.load(run.last).parameters, state_dict(kept.model))
    assert (tmp_path / "run" / "average.json").exists()
    rows = [json.loads(line) for line in run.log.read_text().splitlines()]
    assert rows == [result.row() for result in history.validations]
    assert [result.row() for result in run.validations(9)] == rows
    with pytest.raises(ValueError, match=r"holds a run already .* go on with it by `resume`"):
        trainer(data).fit(TrainingRun(tmp_path / "run"))


def test_a_run_goes_on_in_the_library_too(data, tmp_path):
    """After an error in the middle, with the same numbers as without."""
    whole, stopped = trainer(data), trainer(data)
    whole.fit()

    def stop(event):
        if isinstance(event, StepResult) and event.step == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped.fit(TrainingRun(tmp_path / "run"), stop)
    resumed = trainer(data)
    events = []
    history = resumed.fit(TrainingRun(tmp_path / "run", resume=True), events.append)
    assert events[0] == FitStart(3, 9, 9)
    same(state_dict(resumed.model), state_dict(whole.model))
    assert history.steps == [4, 5, 6, 7, 8, 9]
    assert [result.step for result in history.validations] == [3, 6, 9]


@pytest.mark.parametrize("at", [9, 5], ids=["at its end", "interrupted"])
@pytest.mark.parametrize("schedule", ["noam", "linear"])
def test_a_run_goes_on_for_longer_than_it_was_to(data, tmp_path, schedule, at):
    """By noam it is the longer run from its beginning; the line to 0 is another from here on."""
    short = replace(TRAINING, schedule=schedule, warmup=2)
    long = replace(short, steps=18)

    def stop(event):
        if isinstance(event, StepResult) and event.step > at:
            raise KeyboardInterrupt

    with suppress(KeyboardInterrupt):
        trainer(data, short).fit(TrainingRun(tmp_path / "run"), stop)
    step = at // 3 * 3
    machine = TrainingRun(tmp_path / "run").stored().machine
    whole, longer, events = trainer(data, long), trainer(data, long), []
    expected = whole.fit(TrainingRun(tmp_path / "whole"))
    history = longer.fit(TrainingRun(tmp_path / "run", resume=True), events.append)
    assert events[0] == FitStart(step, 18, 9)
    assert history.steps == list(range(step + 1, 19))
    assert history.learning_rates == expected.learning_rates[step:]
    assert [result.step for result in history.validations] == [3, 6, 9, 12, 15, 18]
    ours, theirs = state_dict(longer.model), state_dict(whole.model)
    assert all(np.array_equal(x, theirs[name]) for name, x in ours.items()) == (schedule == "noam")
    stored = TrainingRun(tmp_path / "run").stored()
    assert (stored.training.steps, stored.machine) == (18, machine)
    with pytest.raises(ChangedFieldError, match=r"`steps` = 9 is not .* Leave it out, give more,"):
        trainer(data, short).fit(TrainingRun(tmp_path / "run", resume=True))
    again = trainer(data, long)
    events.clear()
    again.fit(TrainingRun(tmp_path / "run", resume=True), events.append)
    assert events[0] == FitStart(18, 18, 18)


def test_a_longer_run_keeps_an_average_that_was_better_than_all_that_follows(data, tmp_path):
    run = TrainingRun(tmp_path / "run")
    trainer(data).fit(run)
    best = Checkpoint.load(run.best)
    scores = {"loss": 0.0, "bleu": 100.0, "exact": 100.0}
    replace(best, metadata={**best.metadata, "scores": scores, "averaged": 2}).save(run.best)
    trainer(data, replace(TRAINING, steps=12, warmup=1)).fit(TrainingRun(run.path, resume=True))
    assert Checkpoint.load(run.best).metadata["averaged"] == 2
    assert Checkpoint.load(run.last).metadata["best"] == scores


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"config": TrainingConfig(**{**vars(TRAINING), "seed": 7})}, "`seed` = 7 is not how"),
        ({"config": TrainingConfig(**{**vars(TRAINING), "steps": 8})}, "`steps` = 8 is not how"),
        ({"dropout": 0.1}, "`dropout` = 0.1 is not how this run began: it has 0.2"),
    ],
)
def test_a_run_goes_on_as_it_began(data, tmp_path, change, words):
    trainer(data).fit(TrainingRun(tmp_path / "run"))
    with pytest.raises(ChangedFieldError, match=words):
        trainer(data, **change).fit(TrainingRun(tmp_path / "run", resume=True))
    other = TranslationData.from_pairs(PAIRS[3:][::-1], PAIRS[:3], DataConfig(words=True))
    if len(other.source) == len(data.source):
        with pytest.raises(ValueError, match="the text is another than that which the run in"):
            trainer(other).fit(TrainingRun(tmp_path / "run", resume=True))


def test_what_does_not_fit_together_is_refused(data):
    other = TranslationData.from_pairs(PAIRS[:9], PAIRS[:3], DataConfig(words=True))
    model = Transformer(other.model_config(d_model=12, n_heads=2))
    with pytest.raises(ValueError, match="the model's vocabularies must be those of the data"):
        Trainer(model, data)
    with pytest.raises(ValueError, match="has 6 tokens, and a batch at most 5: raise `max_tokens`"):
        trainer(data, TrainingConfig(max_tokens=5))


def test_a_checkpoint_translates(data):
    own = trainer(data, TrainingConfig(steps=2, max_tokens=200))
    list(own.steps())
    checkpoint = own.checkpoint()
    assert checkpoint.metadata["step"] == 2
    assert checkpoint.metadata["example"] in {source for source, _ in data.validation_texts}
    assert Translator.from_checkpoint(checkpoint).example == checkpoint.metadata["example"]
    assert Translator.from_checkpoint(checkpoint).scripts == ["LATIN"]
    assert Translator.from_checkpoint(checkpoint).unknown_words("the кот sees") == ["кот"]
    assert Translator.from_checkpoint(checkpoint).translate(PAIRS[0][0]) is not None


def test_dropout_of_a_model_with_a_generator_follows_the_steps(data):
    """A generator of its own would go on from where it stands, and not from the step."""
    models = [
        Transformer(data.model_config(d_model=12, n_heads=2, dropout=0.5, n_layers=1), rng=rng)
        for rng in (torch.Generator().manual_seed(0), torch.Generator().manual_seed(0))
    ]
    torch.rand(9, generator=models[1].encoder.layers[0].self_attention_add_norm.dropout.rng)
    for model in models:
        list(Trainer(model, data, TRAINING).steps())
    one, other = map(state_dict, models)
    same(one, other)


def test_no_folder_can_be_without_bleu(data, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics.bleu", None)
    with pytest.raises(ImportError, match="BLEU needs sacrebleu"):
        trainer(data).fit(TrainingRun(tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_compiled_it_learns_as_well(data, monkeypatch):
    """By torch's own compiler, but without generating code, which needs one of C++."""
    calls = []
    compile_ = torch.nn.Module.compile
    monkeypatch.setattr(
        torch.nn.Module,
        "compile",
        lambda self, **own: (calls.append(own), compile_(self, backend="aot_eager", **own)),
    )
    plain, own = trainer(data, dropout=0.0), trainer(data, dropout=0.0)
    compiled = Trainer(
        own.model, data, TRAINING, Runtime(torch.device("cpu"), RuntimeConfig(compile=True))
    )
    losses = [
        [result.loss for result in itertools.islice(one.steps(), 3)] for one in (plain, compiled)
    ]
    assert calls == [{"dynamic": True}]
    np.testing.assert_allclose(losses[1], losses[0], rtol=TOLERANCE["float32"])
