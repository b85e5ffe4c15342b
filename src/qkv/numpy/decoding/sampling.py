"""Sampling: each token drawn at random, by temperature, top-k and top-p."""

import numpy as np

from qkv.numpy.array_types import Floats, Ints
from qkv.numpy.attention.softmax import softmax
from qkv.numpy.checks import check_shapes
from qkv.numpy.decoding.generation_loop import generate
from qkv.numpy.decoding.step_function import StepFunction
from qkv.numpy.decoding.top_k_top_p import top_k_filtering, top_p_filtering
from qkv.shapes import check_count, check_range
from qkv.shapes.decoding import check_search

__all__ = ["sample"]


def sample(
    step: StepFunction,
    prefixes: Ints,
    *,
    eos_id: int | None,
    max_new_tokens: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    rng: np.random.Generator | None = None,
    uniforms: Floats | None = None,
    pad_id: int | None = None,
) -> tuple[Ints, Floats]:
    """Sample each token from softmax(log p / temperature), cut by top-k and then by top-p.

    One uniform number is drawn for each sentence at each step, ended or not, so that a seed gives
    the same tokens with a cache and without.

    Args:
        step, prefixes, eos_id, max_new_tokens, pad_id: as for `greedy`.
        temperature: above 0; below 1 sharpens, above 1 flattens.
        top_k, top_p: as `top_k_filtering` and `top_p_filtering` take them; None keeps all.
        rng: draws the numbers; None is a generator of its own.
        uniforms: (B, max_new_tokens) numbers in [0, 1) to take instead, a row for each sentence:
            then what it gets is the same in any batch and in either room.
    Returns:
        (B, T) tokens, and (B,) sums of the step's own log-probabilities.
    Raises:
        ValueError: as `greedy`, or temperature, top_k or top_p is out of its range.
    """
    check_shapes("sample", prefixes=(prefixes, "int B+ t+"))
    check_search("sample", eos_id, max_new_tokens, pad_id)
    check_range("sample", "a finite number above 0", temperature=temperature)
    if top_k is not None:
        check_count("sample", top_k=top_k)
    if top_p is not None:
        check_range("sample", "a number in (0, 1]", top_p=top_p)
    if uniforms is not None:
        B = len(prefixes)
        expected = (uniforms, "B max_new_tokens")
        check_shapes("sample", B=B, max_new_tokens=max_new_tokens, uniforms=expected)
    rng = rng or np.random.default_rng()
    columns = None if uniforms is None else iter(uniforms.T)

    def draw_token(scores: Floats, rows: Ints) -> Ints:
        # less the highest, so that no temperature however low sends all to −∞; below ε², where the
        # highest alone is left, one could be 0 in the scores' own dtype
        lowest = float(np.finfo(scores.dtype).eps) ** 2
        scores = (scores - scores.max(-1, keepdims=True)) / max(float(temperature), lowest)
        scores = scores if top_k is None else top_k_filtering(scores, top_k)
        scores = scores if top_p is None else top_p_filtering(scores, top_p)
        cumulative = softmax(scores).cumsum(-1)  # (N, V)
        total = cumulative[:, -1:]  # (N, 1), 1 but for rounding
        uniform = rng.random(len(prefixes)) if columns is None else next(columns)  # (B,)
        uniform = uniform[rows, None].astype(cumulative.dtype) * total  # (N, 1)
        reached = (cumulative > uniform) | (cumulative == total)  # (N, V)
        tokens: Ints = reached.argmax(-1)  # the first: never one of mass 0
        return tokens

    return generate("sample", step, prefixes, draw_token, eos_id, max_new_tokens, pad_id)
