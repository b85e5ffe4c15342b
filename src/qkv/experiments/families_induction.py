"""An induction head: a two-layer decoder-only model that goes on with what it has read before.

The task: a block of 5 to 16 different letters, written twice. The second time each letter is known:
it came after the same letter before. Two heads, one above the other, can find it. A head of the
first layer writes into each token which letter stood before it, and a head of the second layer
looks for the token that follows an earlier copy of its own letter.

Each model is trained on all positions, by AdamW with a short warm-up, and its parameters are
rounded to float16 before it is measured, on blocks of 12 letters. Layers and heads count from 0.
Source: Elhage et al. 2021; Olsson et al. 2022.
"""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import qkv.numpy as qn
from qkv.bridge import copy_parameters, save_state_dict, state_dict
from qkv.config import parameter_count
from qkv.experiments.stored_results import run_and_store
from qkv.pretrained.induction import (
    LETTERS,
    MODEL,
    WIDTH,
    accuracy,
    head_scores,
    loss,
    model_config,
    repeated_blocks,
    without_head,
    without_layer,
)

__all__ = ["check", "first_below", "measure"]

Figures = dict[str, Any]

GUESSING = math.log(len(LETTERS))  # the loss of a model that says 1/26 for every letter
PERIODS = range(5, 17)  # lengths of a block: one is drawn for each batch
PERIOD, TESTED = 12, 256  # of the blocks that a model is measured on
BATCH, RATE, WARM_UP = 32, 5e-3, 50
STEPS = 1000
# Layers, width, steps as a multiple, weight decay. The last two give one layer more of everything.
MODELS = ((2, WIDTH, 1, 0.3), (1, WIDTH, 1, 0.3), (1, 2 * WIDTH, 2, 0.3), (1, 2 * WIDTH, 2, 0.01))
EVERY = 50  # steps from one point of the curve to the next


def train(
    layers: int, width: int, steps: int, decay: float, seed: int
) -> tuple[qn.DecoderOnly, Figures]:
    """Train a model in the torch room; the model in NumPy, and its curve."""
    import torch

    import qkv.torch as qt

    config = model_config(layers, width)
    module = qt.DecoderOnly(config, rng=torch.Generator().manual_seed(seed))
    model = qn.DecoderOnly(config, rng=np.random.default_rng(0)).eval()
    optimizer = torch.optim.AdamW(module.parameters(), lr=RATE, weight_decay=decay)
    rng, held_back = np.random.default_rng(seed), measured_blocks(64)
    curve: Figures = {"step": [], "loss": [], "previous": [], "induction": []}
    for step in range(steps + 1):
        if step % EVERY == 0:
            copy_parameters(module, model)
            scores = head_scores(model, held_back)
            curve["step"].append(step)
            curve["loss"].append(loss(model, held_back))
            curve["previous"].append(max(scores["previous"][0]))
            curve["induction"].append(max(scores["induction"][-1]))
        for group in optimizer.param_groups:
            group["lr"] = RATE * min(1.0, (step + 1) / WARM_UP)
        period = int(rng.integers(PERIODS.start, PERIODS.stop))
        ids = torch.from_numpy(repeated_blocks(rng, BATCH, period))
        logits = module(ids)[:, :-1].flatten(0, 1)  # (B (T − 1), V)
        optimizer.zero_grad()
        torch.autograd.backward(qt.cross_entropy(logits, ids[:, 1:].flatten()))
        optimizer.step()
    copy_parameters(_rounded(module), model)
    return model, curve


def _rounded(model: Any) -> dict[str, NDArray[Any]]:
    """Its parameters as float16, as they are stored."""
    return {name: value.astype(np.float16) for name, value in state_dict(model).items()}


def measured_blocks(n: int) -> NDArray[np.int64]:
    """The blocks that every model is measured on."""
    return repeated_blocks(np.random.default_rng(1000), n, PERIOD)


def ablations(model: qn.DecoderOnly, ids: NDArray[np.int64]) -> Figures:
    """Accuracy of a two-layer model as it is, and without parts of it."""
    scores = head_scores(model, ids)["previous"][0]
    previous = int(np.argmax(scores))
    found: Figures = {"nothing": accuracy(model, ids)}
    for name, head in (("previous-token head", previous), ("other head of layer 0", 1 - previous)):
        with without_head(model, 0, head):
            found[name] = accuracy(model, ids)
        with without_head(model, 0, head, mean_over=ids):
            found[f"{name}, by its mean"] = accuracy(model, ids)
    with without_head(model, 0, 0), without_head(model, 0, 1):
        found["both heads of layer 0"] = accuracy(model, ids)
    for layer in (0, 1):
        with without_layer(model, layer):
            found[f"layer {layer}"] = accuracy(model, ids)
    return found


def measure(small: bool = False, keep: Path | None = None) -> Figures:
    """Train models of one and of two layers from several seeds; look into those of two.

    Args:
        small: few steps, one seed.
        keep: a file for the parameters of the first model of two layers.
    Returns:
        guessing: the loss of a model that knows nothing.
        steps: of the models of two layers.
        models: a row for each kind, with accuracy and loss of the second block for each seed.
        heads: for each seed of two layers, what `head_scores` gives.
        without: for each of them, the accuracy without parts of it. The previous-token head is that
            of layer 0 with the larger score "previous".
        curve: for each of them, at each step, the loss of the second block, the largest score
            "previous" of layer 0 and the largest score "induction" of layer 1.
    """
    seeds, steps = (1, 20) if small else (3, STEPS)
    ids = measured_blocks(32 if small else TESTED)
    figures: Figures = {"guessing": round(GUESSING, 4), "steps": steps, "models": []}
    for layers, width, times, decay in MODELS:
        runs = [train(layers, width, times * steps, decay, seed) for seed in range(seeds)]
        row: Figures = {"layers": layers, "width": width, "steps": times * steps, "decay": decay}
        row["parameters"] = parameter_count(model_config(layers, width), "decoder-only")
        models = [model for model, _ in runs]
        measured = {"accuracy": [accuracy(model, ids) for model in models]}
        measured["loss"] = [loss(model, ids) for model in models]
        figures["models"].append(row | measured)
        if layers == 2:
            figures["heads"] = [head_scores(model, ids) for model in models]
            figures["without"] = [ablations(model, ids) for model in models]
            figures["curve"] = [curve for _, curve in runs]
            if keep is not None:
                save_state_dict(keep, _rounded(models[0]))
    return figures


def first_below(curve: Figures, share: float) -> int:
    """The first measured step at which the loss is below a share of that of guessing."""
    pairs = zip(curve["step"], curve["loss"], strict=True)
    steps: list[int] = [step for step, value in pairs if value < share * GUESSING]
    return steps[0]


def check(figures: Figures) -> None:
    """What the chapter says; a small run has too few steps for all of it."""
    two, *ones = figures["models"]
    assert two["parameters"] < ones[-1]["parameters"]
    assert max(without["layer 0"] for without in figures["without"]) < 0.2
    if figures["steps"] < STEPS:
        return
    assert min(two["accuracy"]) > 0.98
    assert max(value for one in ones for value in one["accuracy"]) < 0.5
    for heads, without in zip(figures["heads"], figures["without"], strict=True):
        assert max(heads["previous"][0]) > 0.35 > 10 * max(heads["previous"][1])
        assert min(heads["induction"][1]) > 0.5 > 10 * max(heads["induction"][0])
        assert without["previous-token head"] < 0.75
        assert without["other head of layer 0"] > 0.95
        assert without["both heads of layer 0"] < 0.2
        for name in ("previous-token head", "other head of layer 0"):
            assert abs(without[name] - without[f"{name}, by its mean"]) < 0.05
    for curve in figures["curve"]:
        assert first_below(curve, 0.95) >= 200  # nothing is learnt in the first 150 steps
        assert first_below(curve, 0.2) - first_below(curve, 0.9) <= 300


if __name__ == "__main__":
    run_and_store("families_induction", partial(measure, keep=MODEL))
