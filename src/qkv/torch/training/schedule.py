"""The rate of learning over time: up in a line, down with the root."""

from qkv.shapes import check_count, check_number

__all__ = ["noam_rate"]


def noam_rate(step: int, d_model: int, warmup: int = 4000, factor: float = 1.0) -> float:
    """The learning rate of a step: factor · d_model^−½ · min(step^−½, step · warmup^−3⁄2).

    Args:
        step: the number of the update, counted from 1; the rate is highest at `warmup`.
        d_model: width of the model.
        warmup: steps during which the rate rises.
        factor: multiplies it all.
    Returns:
        The rate, a plain float.
    Raises:
        ValueError: step, d_model or warmup is no whole number of at least 1.
    Source: Vaswani et al. 2017, eq. 3.
    """
    check_count("noam_rate", step=step, d_model=d_model, warmup=warmup)
    check_number("noam_rate", "factor", factor)
    return float(factor * d_model**-0.5 * min(step**-0.5, step * warmup**-1.5))
