"""Gradient checkpointing: what a forward run keeps for its backward, the peak, and the time.

A step of training of the package's encoder, forward and backward, in three ways: all activations
are kept; of each layer only the input is kept, and the layer is computed again in the backward
run; or the same with segments of about √L of the L layers. Source: Chen et al. 2016.
"""

from __future__ import annotations

import math
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.checkpoint import checkpoint

import qkv.torch as qt
from qkv.experiments.stored_results import run_and_store

__all__ = ["WAYS", "check", "kept_bytes", "measure", "peak_bytes", "run_layers", "segment_length"]

Figures = dict[str, Any]

WAYS = ("all kept", "each layer", "√L segments")
DEPTHS = (4, 9, 16, 25)
BATCH, TOKENS, D_MODEL, HEADS, D_FF = 2, 256, 128, 4, 512


def segment_length(way: str, depth: int) -> int:
    """Layers from one kept input to the next; 0 where all activations are kept."""
    return {"all kept": 0, "each layer": 1, "√L segments": math.isqrt(depth)}[way]


def run_layers(layers: Sequence[nn.Module], x: Tensor, length: int) -> Tensor:
    """Layers one after another, checkpointed in segments of this length; 0 keeps all."""
    if not length:
        return _in_turn(layers, x)
    for start in range(0, len(layers), length):
        x = checkpoint(_in_turn, layers[start : start + length], x, use_reentrant=False)
    return x


def _in_turn(layers: Sequence[nn.Module], x: Tensor) -> Tensor:
    for layer in layers:
        x = layer(x)
    return x


def kept_bytes(run: Callable[[], Tensor], parameters: Sequence[Tensor]) -> int:
    """Bytes that a forward run keeps for its backward, each storage once, no parameters."""
    known = {p.untyped_storage().data_ptr() for p in parameters}
    found: dict[int, int] = {}

    def pack(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in known:
            found[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        out = run()  # alive to the end: no address is used twice
    assert out.requires_grad
    return sum(found.values())


class LiveBytes(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """While it is active: the bytes of all storages made in it that are alive, and their peak."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.now = self.peak = 0
        self._alive: set[int] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        # What goes in was made before, outside perhaps: views of it must not count.
        inputs = {_storage_id(x) for x in tree_leaves((args, kwargs)) if isinstance(x, Tensor)}
        out = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(out):
            if isinstance(tensor, Tensor) and _storage_id(tensor) not in inputs | self._alive:
                self._add(tensor.untyped_storage())
        return out

    def _add(self, storage: torch.UntypedStorage) -> None:
        key, size = storage._cdata, storage.nbytes()
        self._alive.add(key)
        self.now += size
        self.peak = max(self.peak, self.now)
        weakref.finalize(storage, self._remove, key, size)

    def _remove(self, key: int, size: int) -> None:
        self._alive.discard(key)
        self.now -= size


def _storage_id(tensor: Tensor) -> int:
    return int(tensor.untyped_storage()._cdata)


def peak_bytes(step: Callable[[], None]) -> int:
    """The most bytes of tensors that a step has alive at once, beside those it starts from."""
    with LiveBytes() as live:
        step()
    peak: int = live.peak
    return peak


def measure(small: bool = False) -> Figures:
    """A step with each depth in each way.

    Returns:
        depths: numbers of layers.
        input: bytes of one layer's input.
        ways: for each, at each depth: `kept` and `peak` in bytes; `seconds` of processor time, the
            best of several steps, the ways in turn; `difference`, the largest of a gradient from
            that of "all kept", as a share of the largest gradient.
    """
    torch.set_num_threads(1)
    depths, repeats = ((4, 9), 1) if small else (DEPTHS, 11)
    x = torch.randn(BATCH, TOKENS, D_MODEL, generator=torch.Generator().manual_seed(0))
    ways: dict[str, Figures] = {
        way: {"kept": [], "peak": [], "seconds": [], "difference": []} for way in WAYS
    }
    for depth in depths:
        layers = [qt.EncoderLayer(D_MODEL, HEADS, D_FF) for _ in range(depth)]
        steps = {way: _Step(layers, x, segment_length(way, depth)) for way in WAYS}
        gradients = {way: step.gradients() for way, step in steps.items()}
        largest = float(gradients["all kept"].abs().max())
        best = dict.fromkeys(WAYS, math.inf)
        for _ in range(repeats):
            for way, step in steps.items():
                best[way] = min(best[way], step.seconds())
        for way, step in steps.items():
            gap = float((gradients[way] - gradients["all kept"]).abs().max()) / largest
            ways[way]["kept"].append(kept_bytes(step.forward, step.parameters))
            ways[way]["peak"].append(peak_bytes(step))
            ways[way]["seconds"].append(round(best[way], 4))
            ways[way]["difference"].append(gap)
    return {"depths": list(depths), "input": x.nbytes, "ways": ways}


class _Step:
    """A step of training without the optimizer: forward and backward."""

    def __init__(self, layers: Sequence[nn.Module], x: Tensor, length: int) -> None:
        self.layers, self.x, self.length = layers, x, length
        self.parameters = [p for layer in layers for p in layer.parameters()]

    def forward(self) -> Tensor:
        return run_layers(self.layers, self.x, self.length).square().mean()

    def __call__(self) -> None:
        self.forward().backward()  # type: ignore[no-untyped-call]

    def gradients(self) -> Tensor:
        """All gradients, one after another."""
        for p in self.parameters:
            p.grad = None
        self()
        return torch.cat([p.grad.flatten() for p in self.parameters if p.grad is not None])

    def seconds(self) -> float:
        start = time.process_time()
        self()
        return time.process_time() - start


def check(figures: Figures) -> None:
    """What the chapter says; no time is claimed of a small run."""
    depths, ways, unit = figures["depths"], figures["ways"], figures["input"]
    everything, each, segments = (ways[way] for way in WAYS)
    for way in WAYS:
        assert max(ways[way]["difference"]) < 1e-5  # the same gradients
    for i, depth in enumerate(depths):
        layer = everything["kept"][i] / depth
        assert 10 < layer / unit < 14  # what a layer keeps, in inputs
        assert each["kept"][i] <= (depth + 2) * unit
        assert segments["kept"][i] <= (math.ceil(depth / math.isqrt(depth)) + 2) * unit
        assert each["kept"][i] < 0.12 * everything["kept"][i]
        assert segments["kept"][i] < each["kept"][i]
        # The peak holds one segment that is computed again, and so one of √L layers is larger.
        assert each["peak"][i] < segments["peak"][i] < everything["peak"][i]
    if len(depths) < len(DEPTHS):
        return
    assert each["peak"][-1] < 0.2 * everything["peak"][-1]
    for way in WAYS[1:]:
        extra = np.array(ways[way]["seconds"]) / everything["seconds"]
        assert extra.min() > 1.1
        assert extra.max() < 1.9


if __name__ == "__main__":
    run_and_store("efficient_checkpointing", measure)
