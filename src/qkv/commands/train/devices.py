"""Where it runs: one device, or one for each process that torchrun started."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch.nn.attention import SDPBackend, sdpa_kernel

__all__ = ["Place", "join", "keep_memory", "narrow"]


@dataclass(frozen=True)
class Place:
    """One process among `world`, and its device; the one of rank 0 speaks, writes and validates."""

    device: torch.device
    rank: int = 0
    world: int = 1

    @property
    def first(self) -> bool:
        return self.rank == 0

    @property
    def machine(self) -> dict[str, str | int]:
        """What the last digits of a run hang on, besides its options."""
        return {
            "device": self.device.type,
            "processes": self.world,
            "threads": torch.get_num_threads(),
        }

    def wait(self) -> None:
        """Until all are here."""
        if self.world > 1:
            dist.barrier()

    def total(self, numbers: torch.Tensor) -> torch.Tensor:
        """Their sum over all processes."""
        if self.world > 1:
            numbers = numbers.clone()
            dist.all_reduce(numbers)
        return numbers


@contextmanager
def join(name: str, threads: int | None, bf16: bool) -> Iterator[Place]:
    """Take a device, together with the others if torchrun started several.

    Raises:
        ValueError: there is no such device, or it lacks bfloat16.
    """
    if threads is not None:
        torch.set_num_threads(threads)
    rank, world, local = (int(os.environ.get(n, d)) for n, d in NAMES)
    device = choose(name, local if world > 1 else None)
    if bf16 and not has_bf16(device):
        raise ValueError(f"--bf16: {device} cannot compute in bfloat16: leave it out")
    if device.type == "cuda":
        torch.cuda.set_device(device)
    elif device.type == "cpu":
        keep_memory()
    if "RANK" not in os.environ:
        yield Place(device)
        return
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield Place(device, rank, world)
    finally:
        dist.destroy_process_group()


@contextmanager
def narrow(device: torch.device) -> Iterator[None]:
    """Take products in bfloat16."""
    with torch.autocast(device.type, torch.bfloat16):
        if device.type != "cpu":
            yield
            return
        # There the backward of the fused attention takes longer in bfloat16 than all the rest.
        with sdpa_kernel(SDPBackend.MATH):
            yield


def keep_memory() -> None:
    """Let what is freed stay with this process, where the C library is glibc.

    A large array is otherwise given back to the system, and the next one of the same size is
    fetched anew, page by page: a tenth of the time of a small model on a CPU, and more.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another library, or another system
        return
    mallopt(-3, 2**25)  # M_MMAP_THRESHOLD, at its most
    mallopt(-1, 2**31 - 1)  # M_TRIM_THRESHOLD


NAMES = (("RANK", 0), ("WORLD_SIZE", 1), ("LOCAL_RANK", 0))


def choose(name: str, local: int | None) -> torch.device:
    """The device of that name; `local` counts the processes of this machine."""
    counts = {
        "cpu": 1,
        "cuda": torch.cuda.device_count() if torch.cuda.is_available() else 0,
        "mps": int(torch.backends.mps.is_available()),
    }
    if name == "auto":
        name = next(kind for kind in ("cuda", "mps", "cpu") if counts[kind])
    kind, colon, index = name.partition(":")
    if kind not in counts or (colon and not index.isdecimal()):
        raise ValueError(f"--device: {name} is unknown: auto, cpu, cuda, cuda:1 or mps is expected")
    if local is not None and kind == "cuda" and not colon:
        index = str(local)
    if int(index or 0) >= counts[kind]:
        here = [f"{n} {k}" for k, n in counts.items() if n]
        raise ValueError(f"--device: there is no {name} here, only {' and '.join(here)}")
    return torch.device(kind, int(index)) if index and kind != "cpu" else torch.device(kind)


def has_bf16(device: torch.device) -> bool:
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if device.type == "cpu":
        return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    try:
        torch.ones(1, dtype=torch.bfloat16, device=device).add(1).cpu()
    except (RuntimeError, TypeError):
        return False
    return True
