"""Training from the first optimizer step, or from where it was interrupted, to the last."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from functools import cached_property
from typing import Any

import torch

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
from qkv.trainer.loss import TranslationLoss
from qkv.trainer.progress import fit_progress
from qkv.trainer.restore import averaged, restore
from qkv.trainer.run import TrainingRun, digests
from qkv.trainer.runtime import Runtime
from qkv.trainer.state import TrainerState
from qkv.trainer.step import OptimizerStep, learning_rate_schedule, make_optimizer
from qkv.trainer.step_batches import check_lengths, plan_steps, steps_per_epoch
from qkv.trainer.stored import StoredRun

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
        state = self.state
        self.loss.train()
        for batches in plan_steps(self.lengths, self.config, state.epoch, state.index):
            if state.step >= self.total_steps:
                break
            result = self._optimizer_step(batches, state.step + 1)
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
            self._fit(run, emit)
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

    def _fit(self, run: TrainingRun | None, emit: OnEvent) -> None:
        state, runtime, validate_every = self.state, self.runtime, self.config.validate_every
        assert validate_every is not None  # for the type checker: it is resolved
        losses = torch.zeros((), device=runtime.device)  # since the last validation
        target_tokens = 0
        began, cpu_began = time.monotonic(), time.process_time()
        for result in self.steps():
            losses += result.loss_sum
            target_tokens += result.target_tokens
            emit(result)
            if result.step % validate_every and result.step < self.total_steps:
                continue
            self.divergence.read()
            loss = float(runtime.all_reduce(losses)) / target_tokens
            state.seconds += time.monotonic() - began
            state.cpu_seconds += time.process_time() - cpu_began
            check_finite(loss, result.step)
            if runtime.is_main_process:
                self._validation(result, loss, run, emit)
            losses, target_tokens = torch.zeros_like(losses), 0
            began, cpu_began = time.monotonic(), time.process_time()

    def _validation(
        self, step: StepResult, training_loss: float, run: TrainingRun | None, emit: OnEvent
    ) -> None:
        """Validate; then keep what there is to keep."""
        start, state = time.monotonic(), self.state
        scores = self.validate()
        best = state.best is None or scores.better_than(state.best)
        if best:
            state.best = scores
        result = ValidationResult(
            step.step,
            step.epoch,
            step.learning_rate,
            state.tokens,
            round(state.seconds, 3),
            round(state.cpu_seconds, 3),
            training_loss,
            scores,
            best,
        )
        self.history.validations.append(result)
        if run:
            optimizer, average = self.optimizer.state_dict(), self.config.average
            run.save(self.checkpoint(scores), optimizer, self.history.validations, average)
        emit(replace(result, pause=time.monotonic() - start))

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
    def _optimizer_step(self) -> OptimizerStep:
        config, runtime = self.config, self.runtime
        schedule = learning_rate_schedule(config, self.model.config.d_model)
        loss, pairs = runtime.prepare(self.loss), self.data.training
        return OptimizerStep(loss, self.optimizer, pairs, config, runtime, schedule)
