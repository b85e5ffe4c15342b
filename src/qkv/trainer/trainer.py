"""Training from the first optimizer step, or from where it was interrupted, to the last."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from functools import cached_property, partial
from itertools import islice
from typing import Any

from torch import nn

from qkv.bleu import bleu_scorer
from qkv.bridge import state_dict
from qkv.checkpoint import Checkpoint
from qkv.torch import Dropout, Transformer
from qkv.trainer.config import TrainingConfig
from qkv.trainer.data import TranslationData
from qkv.trainer.divergence import DivergenceCheck, check_finite
from qkv.trainer.evaluation import evaluate
from qkv.trainer.events import (
    AverageResult,
    FitStart,
    OnEvent,
    Scores,
    StepResult,
    ValidationResult,
)
from qkv.trainer.history import History
from qkv.trainer.loop import learning_rate_schedule, make_optimizer, training_loop
from qkv.trainer.loss import TranslationLoss
from qkv.trainer.progress import fit_progress
from qkv.trainer.resume import TrainerState, averaged, restore
from qkv.trainer.runtime import Runtime
from qkv.trainer.step_batches import check_lengths, plan_steps, steps_per_epoch
from qkv.trainer.stored_run import StoredRun
from qkv.trainer.training_run import TrainingRun, digests

__all__ = ["Trainer"]


class Trainer:
    """Train a model on sentence pairs.

    Every number that is drawn hangs on the seed, the step and the process alone: each step seeds
    torch's own generators, and dropout draws from these.

    Args:
        model: of the vocabularies of the data; it is moved to the runtime's device.
        data: what to train and to validate with.
        config: how; its defaults are resolved, see `self.config`.
        runtime: where; None is the device that the model is on.
    Raises:
        ValueError: the model has other vocabularies, or a batch no room for the longest pair.
    """

    def __init__(
        self,
        model: Transformer,
        data: TranslationData,
        config: TrainingConfig | None = None,
        runtime: Runtime | None = None,
    ) -> None:
        config = config or TrainingConfig()
        self.runtime = runtime or Runtime(next(model.parameters()).device)
        self.model, self.data = model.to(self.runtime.device), data
        self.lengths = data.lengths
        data.check_model(self.model.config)
        check_lengths(self.lengths, config)
        self.config = config.resolved(steps_per_epoch(self.lengths, config), data.default_epochs)
        fused = not self.runtime.config.compile
        self.loss = TranslationLoss(model, config.label_smoothing, fused)
        self.optimizer = make_optimizer(config, model)
        self.state, self.history = TrainerState(), History()
        self.divergence = DivergenceCheck(self.runtime.device, self.history)
        self._began = time.monotonic(), time.process_time()  # since the last validation
        for module in model.modules():
            if isinstance(module, Dropout):
                module.rng = None  # it draws on the device, from what each step seeds

    @property
    def total_steps(self) -> int:
        assert self.config.steps is not None  # for the type checker: it is resolved
        return self.config.steps

    def steps(self) -> Iterator[StepResult]:
        """Take the optimizer steps that are left, and give each when its result is on its way.

        Whoever reads `loss` or `grad_norm` of a result waits for the device; the loop does not.

        Raises:
            ValueError: training has diverged, as `DivergenceCheck` says.
        """
        return self._steps()

    def _steps(
        self, validate: Callable[[StepResult, float], None] | None = None
    ) -> Iterator[StepResult]:
        """The `training_loop` from where training stands, which each step moves on."""
        config, state, runtime = self.config, self.state, self.runtime
        plan = plan_steps(self.lengths, config, state.epoch, state.index)
        left = islice(plan, self.total_steps - state.step)
        rates = learning_rate_schedule(config, self.model.config.d_model)
        parts = (self._prepared_loss, self.optimizer, self.data.training, left)
        self.loss.train()
        for result in training_loop(*parts, config, runtime, rates, state.step + 1, validate):
            self.divergence.add(result)
            state.step, state.epoch, state.index = result.step, result.epoch - 1, result.index + 1
            state.tokens += result.tokens
            yield result
        self.divergence.read()

    def validate(self) -> Scores:
        """Loss, BLEU and exact matches on the pairs for validation.

        Raises:
            ValueError: training has diverged.
            ImportError: sacrebleu is not installed.
        """
        self.divergence.read()
        return evaluate(self.loss, self.data)

    def fit(
        self,
        run: TrainingRun | None = None,
        on_event: OnEvent | None = None,
        *,
        progress: bool = True,
    ) -> History:
        """Train to the last step, with validations; without a run nothing is saved.

        The model ends with the parameters of the last step.

        Args:
            run: a folder that keeps all that it takes to go on, and the best model; None keeps
                nothing.
            on_event: called in the main process, with a `FitStart`, with the result of each step,
                validation, and of the average that a run tries at its end.
            progress: show step, loss and time left in a terminal or a notebook.
        Raises:
            ValueError: training has diverged; or the run refuses to go on, or to begin.
            OSError: a checkpoint cannot be written.
            ImportError: sacrebleu is not installed.
        """
        bleu_scorer()  # what it lacks is better known before there is anything to lose
        main = self.runtime.is_main_process
        with (
            run.lock() if run and main else nullcontext(),
            fit_progress(progress and main, on_event if main else None) as emit,
        ):
            before = 0  # steps that the run was to have
            if run and run.resume:
                own = (self.description, self.data, self.model, self.optimizer)
                self.state, before = restore(run, *own)
                self.history.validations = run.validations(self.state.step)
            self.runtime.barrier()  # all have looked at the folder before one writes to it
            if run and main and before != self.total_steps:
                run.begin(self.description)
            emit(FitStart(self.state.step, self.total_steps, before))
            self._began = time.monotonic(), time.process_time()
            for result in self._steps(partial(self._validate_and_save, run, emit)):
                emit(result)
            if run and main:
                self._average(run, emit)
                run.finish()
            self.runtime.barrier()
        return self.history

    @cached_property
    def description(self) -> StoredRun:
        """All that a run of this trainer has to know to go on as it began."""
        data, model, runtime = self.data, self.model.config, self.runtime
        stored = (data.config, model, self.config, runtime.config)
        return StoredRun(*stored, digests(data), runtime.machine)

    def checkpoint(self, scores: Scores | None = None, **metadata: Any) -> Checkpoint:
        """The model as it is now, with its vocabularies.

        Args:
            scores: of it, to be kept with it.
            metadata: what else is kept; None given, where the training stands.
        """
        metadata = (metadata or self.state.metadata()) | {"configs": self.description.configs()}
        if scores is not None:
            metadata |= {"scores": scores.numbers(), "signature": scores.signature}
        data, parameters = self.data, state_dict(self.model)
        metadata |= {"max_len": data.config.max_len, "example": data.example}
        metadata["scripts"] = list(data.scripts)
        return Checkpoint(self.model.config, parameters, data.source, data.target, metadata)

    def _validate_and_save(
        self, run: TrainingRun | None, emit: OnEvent, step: StepResult, training_loss: float
    ) -> None:
        """Validate after a step; then keep what there is to keep."""
        self.divergence.read()
        check_finite(training_loss, step.step)
        start, state = time.monotonic(), self.state
        state.seconds += start - self._began[0]
        state.cpu_seconds += time.process_time() - self._began[1]
        if self.runtime.is_main_process:
            scores = self.validate()
            best = state.best is None or scores.better_than(state.best)
            if best:
                state.best = scores
            times = round(state.seconds, 3), round(state.cpu_seconds, 3)
            numbers = (step.step, step.epoch, step.learning_rate, state.tokens, *times)
            result = ValidationResult(*numbers, training_loss, scores, best)
            self.history.validations.append(result)
            if run:
                optimizer, average = self.optimizer.state_dict(), self.config.average
                run.save(self.checkpoint(scores), optimizer, self.history.validations, average)
            emit(replace(result, pause=time.monotonic() - start))
        self._began = time.monotonic(), time.process_time()

    def _average(self, run: TrainingRun, emit: OnEvent) -> None:
        """Average the parameters of the last few checkpoints; the best model may be that."""
        paths = run.step_checkpoints()
        if len(paths) < 2:
            return
        with averaged(self.model, paths):
            scores = self.validate()
            checkpoint = self.checkpoint(scores, step=self.state.step, averaged=len(paths))
        assert self.state.best is not None  # for the type checker: there was a validation
        best = scores.better_than(self.state.best)
        run.save_average(checkpoint, best)
        emit(AverageResult(len(paths), scores, best))

    @cached_property
    def _prepared_loss(self) -> nn.Module:
        """The loss as the loop calls it, once a resumed run's parameters are in place."""
        return self.runtime.prepare(self.loss)
