"""Learning-rate schedules: linear warm-up, then inverse square root (Noam) or linear decay."""

from collections.abc import Callable

from qkv.shapes import check_count, check_range
from qkv.shapes.training import check_schedule

__all__ = ["linear_schedule", "noam_schedule"]


def noam_schedule(step: int, d_model: int, warmup: int = 4000, factor: float = 1.0) -> float:
    """Learning rate with linear warm-up and inverse-square-root decay, as in the paper.

    factor · d_model^−½ · min(step^−½, step · warmup^−3⁄2)

    Args:
        step: the number of the step, counted from 1; the rate is highest at `warmup`.
        d_model: width of the model.
        warmup: steps during which the rate rises.
        factor: multiplies it all.
    Returns:
        The learning rate of this step, a plain float.
    Raises:
        ValueError: step, d_model or warmup is no whole number of at least 1.
    Source: Vaswani et al. 2017, eq. 3.
    """
    check_count("noam_schedule", step=step, d_model=d_model, warmup=warmup)
    check_range("noam_schedule", "a number of at least 0", factor=factor)
    step, d_model, warmup = int(step), int(d_model), int(warmup)
    return float(float(factor) * d_model**-0.5 * min(step**-0.5, step * warmup**-1.5))


def linear_schedule(step: int, steps: int, warmup: int, peak: float = 1e-3) -> float:
    """Learning rate with linear warm-up and linear decay to zero.

    peak · min(step / warmup, (end − step) / (end − warmup)), where the end is steps + 1, one after
    the last: no step is taken at rate 0. Where the time for training is known, this makes more of
    it than a rate that never comes down.

    Args:
        step: the number of the step, counted from 1; the rate is highest at `warmup`.
        steps: how many there will be.
        warmup: steps during which the rate rises.
        peak: the highest rate.
    Returns:
        The learning rate of this step, a plain float.
    Raises:
        ValueError: step, steps or warmup is no whole number of at least 1, or step or warmup is
            more than steps.
    Source: Devlin et al. 2019, appendix A.2.
    """
    check_schedule("linear_schedule", step, steps, warmup)
    check_range("linear_schedule", "a number of at least 0", peak=peak)
    step, end, warmup = int(step), int(steps) + 1, int(warmup)
    return float(float(peak) * min(step / warmup, (end - step) / (end - warmup)))


# of (step, steps, warmup, the highest rate or the factor of the formula, d_model)
SCHEDULES: dict[str, Callable[[int, int, int, float, int], float]] = {
    "linear": lambda step, steps, warmup, rate, d_model: linear_schedule(step, steps, warmup, rate),
    "noam": lambda step, steps, warmup, rate, d_model: noam_schedule(step, d_model, warmup, rate),
}
