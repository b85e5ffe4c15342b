"""Wrong backwards that still train: a small Transformer with one fault at a time in its backward.

The model writes six digits in reverse. `measure` trains it with the right backward ("none") and
with each fault, by Adam and by SGD, from several seeds; for one seed data and start are the same.
Figures: `steps`; `runs`, by optimizer and fault: `curve`, the mean loss over seeds at `steps`, and
for each seed `end`, its last point, and `exact`, the share of new sequences that greedy decoding
writes without an error. `longer`: `exact` of a few of them after more `steps`.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

import qkv.numpy as qn
from qkv.config import TransformerConfig
from qkv.experiments.stored_results import run_and_store
from qkv.numpy.add_norm.norms import layer_norm_backward_formula
from qkv.numpy.attention.scaled_dot_product import attend_backward
from qkv.numpy.feed_forward.activations import ACTIVATIONS
from qkv.numpy.linear import linear_backward_formula

__all__ = ["FAULTS", "check", "draw", "gradient", "loss_of", "make_model", "measure", "planted"]

Array = np.ndarray[Any, Any]
SOS, EOS, V, LENGTH = 10, 11, 12, 6  # the digits are 0 to 9
RATES = {"Adam": 2e-3, "SGD": 0.1}
STEPS, MORE_STEPS = 600, 3000
LONGER = (("Adam", "no row sum"), ("Adam", "σ constant"), ("SGD", "no skip"))
EVERY = 20  # steps that one point of a curve is the mean of
HIGHEST = 10.0  # a loss above it, or none, is stored as this, and the run ends


def no_scale(dout: Array, q: Array, k: Array, v: Array, **options: Any) -> tuple[Any, ...]:
    """The backward of attention without 1/√d_k."""
    dq, dk, *others = attend_backward(dout, q, k, v, **options)
    root = math.sqrt(q.shape[-1])
    return dq * root, dk * root, *others


def no_row_sum(dout: Array, weights: Array) -> Array:
    """The backward of softmax without its sum over the row."""
    return weights * dout


def bias_mean(dout: Array, x: Array, weight: Array, bias: Array | None) -> tuple[Any, ...]:
    """The backward of a linear layer whose bias takes the mean over the rows, not their sum."""
    dx, dweight, dbias = linear_backward_formula(dout, x, weight, bias)
    return dx, dweight, None if dbias is None else dbias / (dout.size // dout.shape[-1])


def bias_last_row(dout: Array, x: Array, weight: Array, bias: Array | None) -> tuple[Any, ...]:
    """The backward of a linear layer whose bias takes the last row alone."""
    dx, dweight, dbias = linear_backward_formula(dout, x, weight, bias)
    return dx, dweight, None if dbias is None else dout.reshape(-1, dout.shape[-1])[-1]


def sigma_constant(dout: Array, x: Array, weight: Array, eps: float) -> tuple[Any, ...]:
    """The backward of LayerNorm without its last term, as if σ did not depend on x."""
    _, dweight, dbias = layer_norm_backward_formula(dout, x, weight, eps)
    g = dout * weight
    s = np.sqrt(x.var(-1, keepdims=True) + eps)
    return (g - g.mean(-1, keepdims=True)) / s, dweight, dbias


def relu_open(dout: Array, x: Array) -> Array:
    """The backward of ReLU that lets everything through."""
    return dout


def no_skip(self: qn.AddNorm, dout: Array, sublayer_backward: Callable[[Array], Array]) -> Array:
    """The backward of post-norm Add & Norm without the gradient of the residual connection."""
    self.pop_saved()
    dx = self.norm.backward(dout)
    return sublayer_backward(self.dropout.backward(dx))


# What each fault replaces: a module, a name in it that layers use, and what stands there instead.
RELU_OPEN = ACTIVATIONS["relu"]._replace(backward=relu_open)
FAULTS: dict[str, tuple[str, str, Any]] = {
    "no 1/√d_k": ("multi_head.attention", "attend_backward", no_scale),
    "no row sum": ("attention.scaled_dot_product", "softmax_backward_formula", no_row_sum),
    "bias: mean": ("linear", "linear_backward_formula", bias_mean),
    "bias: last row": ("linear", "linear_backward_formula", bias_last_row),
    "σ constant": ("add_norm.norms", "layer_norm_backward_formula", sigma_constant),
    "ReLU open": ("feed_forward.feed_forward", "ACTIVATIONS", ACTIVATIONS | {"relu": RELU_OPEN}),
    "no skip": ("add_norm.residual", "AddNorm.backward", no_skip),
}


@contextmanager
def planted(fault: str) -> Iterator[None]:
    """Plant one of FAULTS for a while; "none" plants nothing."""
    if fault == "none":
        yield
        return
    module, name, wrong = FAULTS[fault]
    target: Any = importlib.import_module(f"qkv.numpy.{module}")
    *owner, name = name.split(".")
    with patch.object(getattr(target, owner[0]) if owner else target, name, wrong):
        yield


def make_model(seed: int, dtype: type[np.floating[Any]] = np.float32) -> qn.Transformer:
    """Encoder and decoder of two layers each, width 32, four heads, one table for all."""
    config = TransformerConfig(V, d_model=32, n_heads=4, d_ff=64, n_layers=2, dropout=0.0)
    return qn.Transformer(config, rng=np.random.default_rng(seed), dtype=dtype)


def draw(n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Digits (n, 6), and the same in reverse with <eos> (n, 7)."""
    source = rng.integers(10, size=(n, LENGTH))
    return source, np.concatenate([source[:, ::-1], np.full((n, 1), EOS)], 1)


def loss_of(model: qn.Transformer, source: Array, target: Array) -> float:
    """Mean cross-entropy of a batch; nothing is kept for a backward."""
    with model.inference_mode():
        return float(qn.cross_entropy(model(source, _shifted(target)), target))


def gradient(
    model: qn.Transformer, source: Array, target: Array, fault: str = "none"
) -> tuple[float, dict[str, Array]]:
    """Loss of a batch, and the gradients that the right backward, or one with a fault, gives."""
    model.zero_grad()
    logits = model(source, _shifted(target))
    with planted(fault):
        model.backward(qn.cross_entropy_backward(1.0, logits, target))
    gradients = {name: value.copy() for name, value in model.named_gradients()}
    return float(qn.cross_entropy(logits, target)), gradients


def _shifted(target: Array) -> Array:
    return np.concatenate([np.full((len(target), 1), SOS), target[:, :-1]], 1)


def _train(fault: str, optimizer: str, seed: int, steps: int) -> dict[str, Any]:
    model, rng = make_model(seed), np.random.default_rng(seed)
    adam, losses = qn.Adam(model, lr=RATES["Adam"]), []
    for _ in range(steps):
        loss, gradients = gradient(model, *draw(64, rng), fault)
        losses.append(min(loss, HIGHEST) if math.isfinite(loss) else HIGHEST)
        if losses[-1] == HIGHEST:  # it will not come back
            losses += [HIGHEST] * (steps - len(losses))
            break
        if optimizer == "Adam":
            adam.step()
            continue
        for name, parameter in model.named_parameters():
            parameter -= RATES["SGD"] * gradients[name]
    diverged = losses[-1] == HIGHEST
    return {
        "curve": np.reshape(losses, (-1, EVERY)).mean(1),
        "exact": 0.0 if diverged else _exact(model, seed),
    }


def _exact(model: qn.Transformer, seed: int) -> float:
    """Share of 200 new sequences that greedy decoding writes without an error."""
    source, answer = draw(200, np.random.default_rng(1000 + seed))
    written = np.full((200, 1), SOS)
    with model.inference_mode():
        for _ in range(LENGTH + 1):
            best = model(source, written)[:, -1:].argmax(-1)
            written = np.concatenate([written, best], 1)
    return float((written[:, 1:] == answer).all(1).mean())


def _train_each(fault: str, optimizer: str, seeds: int, steps: int) -> list[dict[str, Any]]:
    with np.errstate(all="ignore"):  # some diverge
        return [_train(fault, optimizer, seed, steps) for seed in range(seeds)]


def measure(small: bool = False) -> dict[str, Any]:
    """Train with the right backward and with each fault, by both optimizers."""
    seeds, steps, more_steps = (1, 20, 40) if small else (5, STEPS, MORE_STEPS)
    figures: dict[str, Any] = {"steps": list(range(EVERY, steps + 1, EVERY)), "runs": {}}
    for optimizer in RATES:
        figures["runs"][optimizer] = {}
        for fault in ("none", *FAULTS):
            runs = _train_each(fault, optimizer, seeds, steps)
            figures["runs"][optimizer][fault] = {
                "curve": np.mean([run["curve"] for run in runs], 0).round(4).tolist(),
                "end": [round(float(run["curve"][-1]), 4) for run in runs],
                "exact": [round(run["exact"], 3) for run in runs],
            }
    figures["longer"] = {"steps": more_steps, "exact": {name: {} for name in RATES}}
    for optimizer, fault in LONGER:
        runs = _train_each(fault, optimizer, min(seeds, 3), more_steps)
        figures["longer"]["exact"][optimizer][fault] = [round(run["exact"], 3) for run in runs]
    return figures


def check(figures: dict[str, Any]) -> None:
    """What the book says; a run of few steps shows only that no curve tells at first."""
    adam, sgd = figures["runs"]["Adam"], figures["runs"]["SGD"]
    assert list(adam) == list(sgd) == ["none", *FAULTS]
    for fault in FAULTS:
        assert abs(adam[fault]["curve"][0] - adam["none"]["curve"][0]) < 0.4
    if len(figures["steps"]) < 10:
        return
    for fault in ("none", "no 1/√d_k", "bias: mean", "bias: last row"):
        assert min(adam[fault]["exact"]) == 1
        assert max(adam[fault]["end"]) < 0.05
    for fault in ("ReLU open", "no skip"):
        assert 0.6 < min(adam[fault]["exact"]) < 1
    assert max(adam["σ constant"]["exact"]) < 0.6
    assert max(adam["no row sum"]["exact"] + sgd["no row sum"]["exact"]) == 0
    assert set(sgd["no row sum"]["end"]) == {HIGHEST}
    assert max(sgd["no skip"]["exact"]) <= 0.15
    longer = figures["longer"]["exact"]
    assert max(longer["Adam"]["no row sum"]) == 0
    assert min(longer["Adam"]["σ constant"]) > 0.8
    assert min(longer["SGD"]["no skip"]) > 0.9
    assert sum(exact < 0.5 for exact in sgd["ReLU open"]["exact"]) == 2
    early = np.subtract(adam["bias: mean"]["curve"], adam["none"]["curve"])[:8]
    assert np.abs(early).max() < 0.01  # 160 steps


if __name__ == "__main__":
    run_and_store("backward_faults", measure)
