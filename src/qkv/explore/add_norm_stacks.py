"""Stacks of sub-layers before training, with and without Add & Norm: sizes and gradients."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import qkv.numpy as qn
from qkv.language import gettext_noop

Array = NDArray[Any]

TOKENS = ("The", "cat", "sat", "on", "the", "mat")
WIDTH, HEADS, HIDDEN = 64, 4, 256
PLACEMENTS = (
    gettext_noop("neither"),
    gettext_noop("norm only"),
    gettext_noop("residual only"),
    gettext_noop("post-norm"),
    gettext_noop("pre-norm"),
)
STARTS = ("N(0, 0.07)", "Xavier")  # how the weights are drawn; 0.02 √(768 / 64) is 0.07
SUBLAYERS = ("attention", "feed-forward", "in turn")
ROUNDING = 1e-12  # a difference below this is the rounding of float64
SEEDS = 5


@dataclass(frozen=True)
class Signals:
    """What one forward and one backward through a stack show.

    Args:
        gradients: (depth + 1,) root mean square of the gradient with respect to the vectors, before
            the stack and after each step: 1 at the last; infinite where float64 overflows.
        sizes: (depth + 1,) root mean square of the vectors, before the stack and after each step.
        differences: (depth + 1,) the size without the tokens' mean vector, divided by the size: 0
            when all tokens have the same vector, but for rounding.
        queries: (depth,) root mean square of the gradient of each W_Q; not a number where a
            sub-layer has none.
    """

    gradients: Array
    sizes: Array
    differences: Array
    queries: Array


class Attention:
    """Multi-head self-attention of one sentence, as a function of x alone."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.layer = qn.MultiHeadAttention(WIDTH, HEADS, rng=rng, dtype=np.float64)

    def __call__(self, x: Array) -> Array:
        out, _ = self.layer(x[None])  # (1, n, d_model)
        first: Array = out[0]
        return first

    def backward(self, dout: Array) -> Array:
        dx, *_ = self.layer.backward(dout[None])  # (1, n, d_model)
        first: Array = dx[0]
        return first


class FeedForward:
    """The other sub-layer of the Transformer, of one sentence."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.layer = qn.FeedForward(WIDTH, HIDDEN, rng=rng, dtype=np.float64)

    def __call__(self, x: Array) -> Array:
        return self.layer(x)

    def backward(self, dout: Array) -> Array:
        return self.layer.backward(dout)


SubLayer: TypeAlias = Attention | FeedForward


def step(x: Array, f: SubLayer, norm: qn.LayerNorm, placement: str) -> Array:
    """One sub-layer f in a stack: (n, d_model) -> the same shape."""
    if placement == "neither":
        return f(x)
    if placement == "norm only":
        return norm(f(x))
    if placement == "residual only":
        return x + f(x)
    if placement == "post-norm":
        return norm(x + f(x))
    return x + f(norm(x))


def step_backward(dout: Array, f: SubLayer, norm: qn.LayerNorm, placement: str) -> Array:
    """The gradient with respect to the x of `step`, from that of its output."""
    if placement in ("norm only", "post-norm"):
        dout = norm.backward(dout)
    through = f.backward(dout)
    if placement == "pre-norm":
        through = norm.backward(through)
    return through if placement in ("neither", "norm only") else dout + through


def make_sublayer(kind: str, start: str, rng: np.random.Generator) -> SubLayer:
    """A sub-layer with fresh weights and biases of zero.

    Args:
        kind: "attention" or "feed-forward".
        start: "Xavier" is uniform with variance 2 / (d_in + d_out), "N(0, 0.02)" is normal with
            that standard deviation or another.
        rng: draws them.
    """
    sublayer = Attention(rng) if kind == "attention" else FeedForward(rng)
    if start != "Xavier":
        deviation = float(start.removeprefix("N(0, ").removesuffix(")"))
        for name, value in sublayer.layer.named_parameters():
            if name.endswith("weight"):
                value[...] = deviation * rng.standard_normal(value.shape)
    return sublayer


@cache
def signals(
    placement: str, depth: int, start: str = "Xavier", seed: int = 0, kind: str = "attention"
) -> Signals:
    """Send random vectors of six tokens through a stack, and a random gradient back.

    Args:
        placement: one of PLACEMENTS.
        depth: how many sub-layers stand one after another.
        start: as `make_sublayer` takes it.
        kind: one of SUBLAYERS; "in turn" is attention, feed-forward, attention, ….
        seed: of the weights, the vectors and the gradient.
    """
    rng = np.random.default_rng(seed)
    x, dout = rng.standard_normal((2, len(TOKENS), WIDTH))  # (n, d_model) each
    kinds = SUBLAYERS[:2] if kind == "in turn" else (kind,)
    stack = [make_sublayer(kinds[i % len(kinds)], start, rng) for i in range(depth)]
    norms = [qn.LayerNorm(WIDTH, dtype=np.float64) for _ in stack]
    vectors = [x]
    for f, norm in zip(stack, norms, strict=True):
        vectors.append(step(vectors[-1], f, norm, placement))
    gradients, queries = [dout / _size(dout)], []  # from the last to the first
    with np.errstate(over="ignore", invalid="ignore"):
        for f, norm in zip(reversed(stack), reversed(norms), strict=True):
            gradients.append(step_backward(gradients[-1], f, norm, placement))
            found = _size(f.layer.w_q.grads["weight"]) if isinstance(f, Attention) else math.nan
            queries.append(found)
    sizes = np.array([_size(x) for x in vectors])
    apart = np.array([_size(x - x.mean(axis=0)) for x in vectors])
    shares = np.where(apart / sizes < ROUNDING, 0, apart / sizes)
    of_x = np.array([_size(dx) for dx in reversed(gradients)])
    return Signals(of_x, sizes, shares, np.array(queries[::-1]))


def medians(
    placement: str, depth: int, start: str = "Xavier", kind: str = "attention"
) -> tuple[float, float]:
    """Medians of SEEDS seeds, for a stack as `signals` takes it.

    Returns:
        The difference between the tokens after the last sub-layer, and the size of the gradient
        of W_Q in the middle one, for a gradient of size 1 above the last.
    """
    runs = [signals(placement, depth, start, seed, kind) for seed in range(SEEDS)]
    differences = [run.differences[-1] for run in runs]
    queries = [run.queries[(depth - 1) // 2] for run in runs]
    return float(np.median(differences)), float(np.median(queries))


def _size(x: Array) -> float:
    """Root mean square of all entries, without underflow; infinite if one is not finite."""
    largest = float(np.abs(x).max())
    if not math.isfinite(largest):
        return math.inf
    return largest * math.sqrt(float(((x / largest) ** 2).mean())) if largest else 0.0
