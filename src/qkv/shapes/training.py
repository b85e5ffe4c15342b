"""What training refuses: targets, rates, norms and checkpoints."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from qkv.shapes.core import Array, check_floats, check_shape, kind, listed, shown
from qkv.shapes.layers import check_choice, check_count, check_share, check_state
from qkv.shapes.scalars import number


def check_number(
    call: str, name: str, value: object, least: float = 0.0, *, above: bool = False
) -> None:
    """Refuse what is no number of at least `least`, or no number above it; NaN is none."""
    found = number(value)
    if found is None or not (found > least if above else found >= least):
        bound = f"above {least:g}" if above else f"of at least {least:g}"
        raise ValueError(f"{call}: {name} must be a number {bound}, got {shown(value)}")


def check_schedule(call: str, step: int, steps: int, warmup: int) -> None:
    """Refuse a step, or a rise, that lasts longer than training does."""
    check_count(call, step=step, steps=steps, warmup=warmup)
    for name, value in (("step", step), ("warmup", warmup)):
        if value > steps:
            raise ValueError(f"{call}: {name} must be at most steps = {steps}, got {value}")


REDUCTIONS = ("mean", "sum", "none")


def check_targets(
    call: str,
    logits: Array,
    targets: Array,
    label_smoothing: float,
    weight: Array | None,
    reduction: str,
    softcap: float | None,
) -> None:
    """Refuse logits, targets and class weights that do not fit, and options out of range."""
    check_floats(call, logits=logits)
    if not logits.shape or not logits.shape[-1]:
        mend = "one score for each word of the vocabulary"
        raise ValueError(f"{call}: logits must be (..., V), got {listed(logits.shape)}: {mend}")
    if not hasattr(targets, "shape") or not kind(targets).startswith(("int", "uint")):
        mend = "pass token ids"
        raise ValueError(f"{call}: targets must be an integer array, got {kind(targets)}: {mend}")
    mend = "one target for each row of logits"
    check_shape(call, "targets", targets, ("like logits but V",), tuple(logits.shape[:-1]), mend)
    check_number(call, "label_smoothing", label_smoothing)
    if label_smoothing > 1:
        mend = "0 smooths nothing, 1 leaves nothing of the target"
        raise ValueError(
            f"{call}: label_smoothing must be at most 1, got {shown(label_smoothing)}: {mend}"
        )
    check_choice(call, "reduction", reduction, REDUCTIONS)
    if softcap is not None:
        check_number(call, "softcap", softcap, above=True)
    if weight is not None:
        check_floats(call, logits=logits, weight=weight)
        mend = "one weight for each word of the vocabulary"
        check_shape(call, "weight", weight, ("V",), (logits.shape[-1],), mend)


def check_target(call: str, target: int, at: tuple[int, ...], V: int) -> None:
    """Refuse a target that is no token of the vocabulary; `at` says where it stands."""
    if not 0 <= target < V:
        mend = "pass its ignore_index, or check the vocabulary"
        raise ValueError(
            f"{call}: targets must be in [0, {V}), got {target} at {listed(at)}: {mend}"
        )


def check_counted(call: str, counted: int, targets: Array, ignore_index: int | None) -> None:
    """Refuse a batch without one target that counts: its mean would be 0 / 0."""
    if not counted:
        came = listed(targets.shape)
        words = f"are all ignore_index = {ignore_index}" if math.prod(targets.shape) else "are none"
        mend = "leave this batch out"
        raise ValueError(f"{call}: targets {came} {words}, so that no mean exists: {mend}")


def check_total(call: str, total: float) -> None:
    """Refuse class weights whose sum over the targets is 0: the mean would be 0 / 0."""
    if total == 0:
        mend = "leave this batch out, or take reduction='sum'"
        raise ValueError(f"{call}: weight[targets] must not sum to 0, got no mean: {mend}")


def check_loss_gradient(call: str, dout: Any) -> None:
    """Refuse an upstream gradient that is no single number."""
    if number(dout) is None:
        raise ValueError(f"{call}: dout must be one number, as the loss is, got {shown(dout)}")


def check_optimizer(
    call: str, layer: Any, lr: float, betas: tuple[float, float], eps: float, weight_decay: float
) -> None:
    """Refuse what has no parameters, and constants outside their ranges."""
    if not hasattr(layer, "named_parameters"):
        raise ValueError(f"{call}: layer must be a Layer, got {type(layer).__name__}")
    if next(iter(layer.named_parameters()), None) is None:
        raise ValueError(
            f"{call}: layer must have parameters, got {type(layer).__name__} with none"
        )
    check_number(call, "lr", lr)
    if not isinstance(betas, Sequence) or len(betas) != 2:
        raise ValueError(f"{call}: betas must be two numbers, got {betas!r}")
    for n, beta in enumerate(betas):
        check_share(call, f"betas[{n}]", beta, "0 forgets at once")
    check_number(call, "eps", eps)
    check_number(call, "weight_decay", weight_decay)


def check_checkpoints(call: str, states: Sequence[Mapping[str, Array]]) -> None:
    """Refuse no states at all, and states that differ in names, shapes or dtypes."""
    if not states:
        raise ValueError(f"{call}: states must be at least one state, got none")
    wanted = {name: tuple(value.shape) for name, value in states[0].items()}
    for n, state in enumerate(states):
        here = f"{call}: states[{n}]"
        check_state(here, wanted, {name: tuple(value.shape) for name, value in state.items()})
        for name, value in state.items():
            check_floats(here, **{name: value})
            if value.dtype != states[0][name].dtype:
                raise ValueError(
                    f"{here}: {name} must be {kind(states[0][name])} as in the first, "
                    f"got {kind(value)}: convert it"
                )
