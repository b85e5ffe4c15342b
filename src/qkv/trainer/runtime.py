"""Where training runs: one device, or one for each process that torchrun started."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field

import torch
import torch.distributed as dist
from torch import nn

from qkv.trainer.config import RuntimeConfig

__all__ = ["Runtime", "open_runtime", "select_device", "tune_malloc"]


@dataclass(frozen=True)
class Runtime:
    """Device, process group (DDP), mixed precision and compilation, for one process of a training.

    Of several processes, that of rank 0 prints, saves and validates.

    Args:
        device: where model and batches are.
        config: says whether products are taken in bfloat16, and whether the model is compiled.
        rank, world_size: which process this is, counted from 0, and how many there are.
    """

    device: torch.device
    config: RuntimeConfig = field(default_factory=RuntimeConfig)
    rank: int = 0
    world_size: int = 1

    @property
    def is_main_process(self) -> bool:
        return self.rank == 0

    @property
    def machine(self) -> dict[str, str | int]:
        """What the last digits of a run hang on, besides its configuration."""
        return {
            "device": self.device.type,
            "processes": self.world_size,
            "threads": torch.get_num_threads(),
        }

    def barrier(self) -> None:
        """Wait until all processes are here."""
        if self.world_size > 1:
            dist.barrier()

    def all_reduce(self, x: torch.Tensor) -> torch.Tensor:
        """The sum over all processes."""
        if self.world_size > 1:
            x = x.clone()
            dist.all_reduce(x)
        return x

    def prepare(self, module: nn.Module) -> nn.Module:
        """Compiled if the configuration says so; where there are several processes, one of them."""
        if self.config.compile:
            module.compile(dynamic=True)
        if self.world_size > 1:
            ids = [self.device.index] if self.device.type == "cuda" else None
            module = nn.parallel.DistributedDataParallel(module, device_ids=ids)
        return module

    def gradient_sync(self, module: nn.Module, last: bool) -> AbstractContextManager[None]:
        """Processes add their gradients up in the last backward of a step, and in none before."""
        if last or self.world_size == 1:
            return nullcontext()
        no_sync: AbstractContextManager[None] = module.no_sync()  # type: ignore[operator]
        return no_sync

    def autocast(self) -> AbstractContextManager[None]:
        """Products in bfloat16, if the configuration says so."""
        bf16 = self.config.bf16
        return torch.autocast(self.device.type, torch.bfloat16) if bf16 else nullcontext()


@contextmanager
def open_runtime(config: RuntimeConfig) -> Iterator[Runtime]:
    """Take a device, together with the other processes if torchrun started several.

    Raises:
        ValueError: there is no such device, or it lacks bfloat16.
    """
    if config.threads is not None:
        torch.set_num_threads(config.threads)
    rank, world_size, local_rank = (int(os.environ.get(n, d)) for n, d in TORCHRUN)
    device = select_device(config.device, local_rank if world_size > 1 else None)
    if config.bf16 and not supports_bf16(device):
        raise ValueError(f"Runtime: `bf16`: {device} cannot compute in bfloat16: leave it out")
    if device.type == "cuda" and device.index is not None:  # without one, the current GPU is meant
        torch.cuda.set_device(device)
    elif device.type == "cpu":
        tune_malloc()
    if "RANK" not in os.environ:
        yield Runtime(device, config)
        return
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield Runtime(device, config, rank, world_size)
    finally:
        dist.destroy_process_group()


TORCHRUN = (("RANK", 0), ("WORLD_SIZE", 1), ("LOCAL_RANK", 0))


def tune_malloc() -> None:
    """Keep freed memory in this process by `mallopt`, where the C library is glibc.

    A large array is otherwise given back to the system, and the next one of the same size is
    fetched anew, page by page: a tenth of the time of a small model on a CPU, and more. Call it
    once, before training; it counts for the whole process, which keeps its largest size.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another library, or another system
        return
    mallopt(-3, 2**25)  # M_MMAP_THRESHOLD, at its most
    mallopt(-1, 2**31 - 1)  # M_TRIM_THRESHOLD


def select_device(name: str, local_rank: int | None = None) -> torch.device:
    """The device of that name.

    Args:
        name: "auto", "cpu", "cuda", "cuda:1" or "mps".
        local_rank: of this process among those of this machine, where there are several.
    Raises:
        ValueError: it is unknown, or not here.
    """
    counts = {
        "cpu": 1,
        "cuda": torch.cuda.device_count() if torch.cuda.is_available() else 0,
        "mps": int(torch.backends.mps.is_available()),
    }
    if name == "auto":
        name = next(kind for kind in ("cuda", "mps", "cpu") if counts[kind])
    kind, colon, index = name.partition(":")
    if kind not in counts or (colon and not index.isdecimal()):
        raise ValueError(
            f"Runtime: `device`: {name} is unknown: auto, cpu, cuda, cuda:1 or mps is expected"
        )
    if local_rank is not None and kind == "cuda" and not colon:
        index = str(local_rank)
    if int(index or 0) >= counts[kind]:
        here = [f"{n} {k}" for k, n in counts.items() if n]
        raise ValueError(f"Runtime: `device`: there is no {name} here, only {' and '.join(here)}")
    return torch.device(kind, int(index)) if index and kind != "cpu" else torch.device(kind)


def supports_bf16(device: torch.device) -> bool:
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if device.type == "cpu":
        return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    try:
        torch.ones(1, dtype=torch.bfloat16, device=device).add(1).cpu()
    except (RuntimeError, TypeError):
        return False
    return True
