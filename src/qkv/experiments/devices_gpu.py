"""What a CUDA GPU shows where the chapter on devices has only a processor; refused without one."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch

from qkv.experiments.devices_compile import SIZES, SMALL, example, training_step
from qkv.experiments.devices_formats import changed, difference, logits
from qkv.experiments.stored_results import run_and_store
from qkv.trainer import TranslationLoss

__all__ = ["check", "measure", "measure_on"]

FORMATS = ("float32", "bfloat16", "float16")
STEP = 3000  # of the checkpoint whose logits are compared


def measure(small: bool = False) -> dict[str, Any]:
    """As `measure_on`, of the GPU that torch finds first.

    Raises:
        RuntimeError: there is no CUDA GPU.
    """
    if not torch.cuda.is_available():
        raise RuntimeError("devices_gpu: torch finds no CUDA GPU here, and nothing is measured")
    return measure_on(torch.device("cuda"), torch.cuda.get_device_name(), small)


def measure_on(device: torch.device, name: str, small: bool = False) -> dict[str, Any]:
    """Formats, rates and step times of one device.

    Returns:
        name: of the device.
        difference, changed: of the logits from float64 on the processor; by format, as in
            `devices_formats`.
        rate: 10¹² operations a second of one large square product of ones, which can run faster
            than one of random numbers, as in `benchmarks/gpu.py`; by format.
        step: milliseconds of a training step of the larger model of `devices_compile`, by the
            clock: float32, under bfloat16 autocast, and float32 compiled.
    """
    exact = logits("torch float64", STEP)
    by_format = {dtype: logits(f"torch {dtype}", STEP, device=device) for dtype in FORMATS}
    return {
        "name": name,
        "difference": {dtype: difference(x, exact) for dtype, x in by_format.items()},
        "changed": {dtype: changed(x, exact) for dtype, x in by_format.items()},
        "rate": {dtype: rate(device, dtype, 128 if small else 8192) for dtype in FORMATS},
        "step": step_times(device, small),
    }


def rate(device: torch.device, dtype: str, n: int) -> float:
    """10¹² operations a second of a product of two (n, n) matrices."""
    x = torch.ones(n, n, device=device, dtype=getattr(torch, dtype))
    return 2e-9 * n**3 / milliseconds(lambda: x @ x, device)


def step_times(device: torch.device, small: bool) -> dict[str, float]:
    """Milliseconds of a training step, forward and backward."""
    name = "width 256"
    model, tensors = example(*(SMALL if small else SIZES)[name], device=device)
    step = training_step(TranslationLoss(model, 0.1), tensors)

    def autocast() -> None:
        with torch.autocast(device.type, torch.bfloat16):
            step()

    found = {"float32": milliseconds(step, device), "bfloat16": milliseconds(autocast, device)}
    loss = TranslationLoss(model, 0.1, fused=False)
    loss.compile(backend="aot_eager" if small else "inductor")
    return found | {"compiled": milliseconds(training_step(loss, tensors), device)}


def milliseconds(call: Callable[[], object], device: torch.device, repeats: int = 20) -> float:
    """The shortest of several calls, after three that are not counted; a GPU is waited for."""
    times = []
    for _ in range(repeats + 3):
        wait(device)
        start = time.perf_counter()
        call()
        wait(device)
        times.append(time.perf_counter() - start)
    return 1e3 * min(times[3:])


def wait(device: torch.device) -> None:
    """A call on a GPU returns before its work is done: wait until it is."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def check(figures: dict[str, Any]) -> None:
    """float32 changes no word of the trained model; everything took some time."""
    assert figures["changed"]["float32"] == 0
    assert min(*figures["rate"].values(), *figures["step"].values()) > 0


if __name__ == "__main__":
    run_and_store("devices_gpu", measure)
