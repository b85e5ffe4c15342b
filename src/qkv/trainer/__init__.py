"""Training as a library: data, loss, optimizer steps, validation, and runs that can be resumed.

    data = TranslationData.from_grammar()
    model = Transformer(data.model_config(d_model=64, n_heads=4, n_layers=2))
    trainer = Trainer(model, data, TrainingConfig(steps=200))
    history = trainer.fit()
    history.plot()  # in a script, matplotlib's pyplot.show() opens the window
    Translator.from_checkpoint(trainer.checkpoint()).translate("The cat sat on the mat")

`qkv train` is this and a command line. What passes through goes one way: configs → TranslationData
→ Trainer → StepResult and Scores → TrainingRun, which alone writes to a disk.

A loop of one's own takes the parts: `TranslationLoss` with `batch_tensors`, or for any other model
`linear_cross_entropy`; and on a CPU `tune_malloc`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qkv.trainer.config import DataConfig, RuntimeConfig, TrainingConfig
    from qkv.trainer.data import TranslationData
    from qkv.trainer.events import (
        AverageResult,
        Event,
        FitStart,
        Scores,
        StepResult,
        ValidationResult,
    )
    from qkv.trainer.fused_linear_cross_entropy import linear_cross_entropy
    from qkv.trainer.history import History
    from qkv.trainer.loss import TranslationLoss, batch_tensors
    from qkv.trainer.runtime import Runtime, open_runtime, tune_malloc
    from qkv.trainer.trainer import Trainer
    from qkv.trainer.training_run import TrainingRun

__all__ = [
    "AverageResult",
    "DataConfig",
    "Event",
    "FitStart",
    "History",
    "Runtime",
    "RuntimeConfig",
    "Scores",
    "StepResult",
    "Trainer",
    "TrainingConfig",
    "TrainingRun",
    "TranslationData",
    "TranslationLoss",
    "ValidationResult",
    "batch_tensors",
    "linear_cross_entropy",
    "open_runtime",
    "tune_malloc",
]

_MODULES = {
    "config": ("DataConfig", "RuntimeConfig", "TrainingConfig"),
    "data": ("TranslationData",),
    "fused_linear_cross_entropy": ("linear_cross_entropy",),
    "history": ("History",),
    "loss": ("TranslationLoss", "batch_tensors"),
    "events": ("AverageResult", "Event", "FitStart", "Scores", "StepResult", "ValidationResult"),
    "training_run": ("TrainingRun",),
    "runtime": ("Runtime", "open_runtime", "tune_malloc"),
    "trainer": ("Trainer",),
}


def __getattr__(name: str) -> Any:
    """A public name, imported when somebody asks for it: the configs need no torch."""
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
