"""Logits of one model by room and number format: how far from float64, and which words change."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from random import Random
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from qkv.corpus import sentences, split_by_combination
from qkv.experiments.stored_results import run_and_store
from qkv.pretrained import pretrained
from qkv.text import PAD, SOS, Batch, collate

__all__ = [
    "DEVICES",
    "check",
    "held_back",
    "logits",
    "logits_of",
    "margins",
    "measure",
    "reversed_units",
]

STEPS = (100, 300, 3000)
# Who computes, in which format; the first is what the others are compared with.
DEVICES = ("torch float64", "NumPy float32", "torch float32", "torch bfloat16", "torch float16")


def measure(small: bool = False) -> dict[str, Any]:
    """Every ninth held-back pair, the decoder reads the right words.

    Returns:
        positions: how many words are predicted.
        steps: of training, after which the checkpoint was taken; each list below has one entry
            for each of them.
        smallest_margin: between the largest and the second largest logit, in float64.
        difference: of any logit from float64, the largest; by device.
        changed: at how many positions the largest logit is another word's; by device.
        one_logit: the chosen word's logit at the second position: float32 in two orders, float64.
        orders_apart: the largest difference of any logit between the two orders, in float32.
    """
    every = 90 if small else 9
    found: dict[str, Any] = {"positions": int(held_back(every)[1].sum()), "steps": list(STEPS)}
    by_step = [{name: logits(name, step, every) for name in DEVICES} for step in STEPS]
    found["smallest_margin"] = [float(margins(of[DEVICES[0]]).min()) for of in by_step]
    for key, figure in (("difference", difference), ("changed", changed)):
        found[key] = {
            name: [figure(of[name], of[DEVICES[0]]) for of in by_step] for name in DEVICES[1:]
        }
    exact, one = (by_step[-1][name] for name in ("torch float64", "torch float32"))
    other = logits_of(reversed_units(pretrained("torch").model.eval()), every)
    at = 1, int(exact[1].argmax())
    found["one_logit"] = {
        "float32": float(one[at]),
        "float32, other order": float(other[at]),
        "float64": float(exact[at]),
    }
    found["orders_apart"] = difference(one, other)
    return found


def reversed_units(model: Any) -> torch.nn.Module:
    """A copy whose feed-forward layers hold their hidden units in reverse order."""
    copy: torch.nn.Module = deepcopy(model)
    for name, w in copy.state_dict().items():
        if "w_1" in name:  # the weight and the bias that give the hidden units
            w.copy_(w.flip(0))
        if "w_2.weight" in name:
            w.copy_(w.flip(1))
    return copy


@cache
def held_back(every: int = 9) -> tuple[Batch, NDArray[np.bool_]]:
    """Held-back pairs as one batch, and (B, T) where a word is predicted."""
    translator = pretrained()
    pairs = split_by_combination(list(sentences()), 0.1, Random(0))[1][::every]
    ids = [
        (
            np.array(translator.source.encode(" ".join(pair.source), eos=True)),
            np.array([SOS, *translator.target.encode(" ".join(pair.target), eos=True)]),
        )
        for pair in pairs
    ]
    batch = collate(ids, np.arange(len(ids)))
    return batch, batch.target_out != PAD


def logits(
    name: str, step: int, every: int = 9, device: torch.device | str = "cpu"
) -> NDArray[np.float64]:
    """(N, V): the logits of all N words, computed by one of `DEVICES`, as float64.

    Args:
        device: where torch computes.
    """
    room, dtype = name.split()
    if room == "torch":
        model: Any = deepcopy(pretrained("torch", step=step).model)  # a copy, to be cast
        return logits_of(model.eval().to(device, getattr(torch, dtype)), every, device)
    batch, is_word = held_back(every)
    out = pretrained(step=step).model.eval()(batch.source, batch.target_in)  # (B, T, V)
    found: NDArray[np.float64] = out[is_word].astype(np.float64)  # (N, V)
    return found


def logits_of(
    model: torch.nn.Module, every: int = 9, device: torch.device | str = "cpu"
) -> NDArray[np.float64]:
    """(N, V): the logits that a torch model on `device` gives for the same N words."""
    batch, is_word = held_back(every)
    inputs = [torch.from_numpy(x).to(device) for x in (batch.source, batch.target_in)]
    with torch.no_grad():
        out = model(*inputs).double().cpu().numpy()  # (B, T, V)
    found: NDArray[np.float64] = out[is_word]
    return found


def margins(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """(N,): the largest logit of a row minus the second largest."""
    second, first = np.sort(x, axis=-1)[:, -2:].T
    lead: NDArray[np.float64] = first - second
    return lead


def difference(x: NDArray[np.float64], exact: NDArray[np.float64]) -> float:
    return float(np.abs(x - exact).max())


def changed(x: NDArray[np.float64], exact: NDArray[np.float64]) -> int:
    return int((x.argmax(-1) != exact.argmax(-1)).sum())


def check(figures: dict[str, Any]) -> None:
    """float32 changes no word, on either device; 16 bits change few, and none at the end."""
    for device in DEVICES[1:3]:
        assert max(figures["difference"][device]) < 1e-4 < min(figures["smallest_margin"])
        assert not any(figures["changed"][device])
    for device in DEVICES[3:]:
        assert min(figures["difference"][device]) > 1e-3
        assert max(figures["difference"][device]) < 0.3
        assert max(figures["changed"][device]) < 0.01 * figures["positions"]
        assert figures["changed"][device][-1] == 0
    assert figures["smallest_margin"][-1] > 0.6
    assert figures["orders_apart"] < 2e-5
    assert abs(np.ptp(list(figures["one_logit"].values()))) < 2e-5


if __name__ == "__main__":
    run_and_store("devices_formats", measure)
