"""Check targets, schedules, optimizers and states."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from qkv.shapes.checker import ShapeChecker
from qkv.shapes.choices import REDUCTIONS
from qkv.shapes.formatting import dtype_name, format_shape, format_value
from qkv.shapes.option_checks import check_at_most, check_choice, check_count, check_range
from qkv.shapes.scalars import as_float


def check_schedule(call: str, step: int, steps: int, warmup: int) -> None:
    """Refuse a step, or a rise, that lasts longer than training does."""
    check_count(call, step=step, steps=steps, warmup=warmup)
    check_at_most(call, "step", step, "steps", steps)
    check_at_most(call, "warmup", warmup, "steps", steps)


def check_loss_options(
    call: str, label_smoothing: float, reduction: str, softcap: float | None
) -> None:
    """Refuse options of cross-entropy out of their ranges."""
    check_range(call, "a number in [0, 1]", label_smoothing=label_smoothing)
    check_choice(call, "reduction", reduction, REDUCTIONS)
    if softcap is not None:
        check_range(call, "a number above 0", softcap=softcap)


def check_target(call: str, target: int, index: tuple[int, ...], V: int) -> None:
    """Refuse a target that is no token of the vocabulary; `index` says where it stands."""
    if not 0 <= target < V:
        hint = "pass its ignore_index, or check the vocabulary"
        message = f"{call}: targets must be in [0, {V}), got {target} at {format_shape(index)}"
        raise ValueError(f"{message}: {hint}")


def check_target_count(call: str, count: int, targets: Any, ignore_index: int | None) -> None:
    """Refuse a batch without one target that counts: its mean would be 0 / 0."""
    if not count:
        came = f"are all ignore_index = {ignore_index}" if math.prod(targets.shape) else "are none"
        message = f"{call}: targets {format_shape(targets.shape)} {came}, so that no mean exists"
        raise ValueError(f"{message}: leave this batch out")


def check_total_weight(call: str, total: float) -> None:
    """Refuse class weights whose sum over the targets is 0: the mean would be 0 / 0."""
    if total == 0:
        hint = "leave this batch out, or take reduction='sum'"
        raise ValueError(f"{call}: weight[targets] must not sum to 0, got no mean: {hint}")


def check_loss_gradient(call: str, dout: Any) -> None:
    """Refuse an upstream gradient that is no single number."""
    if as_float(dout) is None:
        came = format_value(dout)
        raise ValueError(f"{call}: dout must be one number, as the loss is, got {came}")


def check_optimizer(
    call: str, layer: Any, lr: float, betas: tuple[float, float], eps: float, weight_decay: float
) -> None:
    """Refuse what has no parameters, and constants outside their ranges."""
    came = type(layer).__name__
    if not hasattr(layer, "named_parameters"):
        raise ValueError(f"{call}: layer must be a Layer, got {came}")
    if next(iter(layer.named_parameters()), None) is None:
        raise ValueError(f"{call}: layer must have parameters, got {came} with none")
    if not isinstance(betas, Sequence) or len(betas) != 2:
        raise ValueError(f"{call}: betas must be two numbers, got {betas!r}")
    named: dict[str, Any] = {f"betas[{n}]": beta for n, beta in enumerate(betas)}
    check_range(call, "a number in [0, 1)", **named)
    check_range(call, "a number of at least 0", lr=lr, eps=eps, weight_decay=weight_decay)


def check_state_dict(call: str, expected: Mapping[str, Any], state: Mapping[str, Any]) -> None:
    """Refuse a state that has not exactly the expected names, each of the expected shape.

    Names the first that differs.
    """
    for problem, names in (
        ("is missing", [name for name in expected if name not in state]),
        ("is not a parameter of this model", [name for name in state if name not in expected]),
    ):
        if names:
            more = f" (and {len(names) - 1} more)" if len(names) > 1 else ""
            hint = "the state is of another model: compare the configurations"
            raise ValueError(f"{call}: {names[0]} {problem}{more}: {hint}")
    for name, shape in expected.items():
        if tuple(state[name]) != tuple(shape):
            message = f"{name} must be {format_shape(shape)}, got {format_shape(state[name])}"
            raise ValueError(f"{call}: {message}: the state is of a model of another size")


def check_checkpoints(
    check_shapes: ShapeChecker, call: str, states: Sequence[Mapping[str, Any]]
) -> None:
    """Refuse no states at all, and states that differ in names, shapes or dtypes."""
    if not states:
        raise ValueError(f"{call}: states must be at least one state, got none")
    first = states[0]
    for n, state in enumerate(states):
        here = f"{call}: states[{n}]"
        check_shapes.check_library(call, "states", state.values())
        check_state_dict(here, *({name: x.shape for name, x in s.items()} for s in (first, state)))
        for name, value in state.items():
            check_shapes(here, **{name: (value, "...")})
            if value.dtype != first[name].dtype:
                expected = f"{dtype_name(first[name])} as in the first"
                message = f"{here}: {name} must be {expected}, got {dtype_name(value)}"
                raise ValueError(f"{message}: convert it")
