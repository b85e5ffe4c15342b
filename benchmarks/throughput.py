"""Training on Multi30k: useful tokens a second, beside peers of the same size, and peak memory.

    python benchmarks/throughput.py FOLDER      or MULTI30K=FOLDER make bench

Useful tokens are those of source and target that are no padding. The calls that are compared take
turns in one process and one thread, each on the same batches; two processes against one, and
memory, take processes of their own. Without the folder nothing is measured, because padding hangs
on how long real sentences are. Writes results/throughput.json, .md and .svg beside this file.
"""

# ruff: noqa: E402  (the number of threads has to be set before the imports that read it)
from __future__ import annotations

import os

for library in ("OPENBLAS", "OMP", "MKL", "VECLIB_MAXIMUM"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import pickle
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from baselines import MODEL, NAMES, RUNTIME, TRAINING, data_config, folder_of, make
from baselines.throughput_table import AUTOCAST_ALONE, FIXED, WIDTH, draw, table
from results import Figures, save_results
from torch.nn.attention import SDPBackend, sdpa_kernel

from qkv.config import TransformerConfig
from qkv.text import PAD, Batch, bucketed_batches, collate
from qkv.torch import Adam, Transformer
from qkv.trainer import (
    Runtime,
    RuntimeConfig,
    Trainer,
    TranslationData,
    batch_tensors,
    open_runtime,
    tune_malloc,
)
from qkv.trainer.data import Ids

ROUNDS, BATCHES = 5, 6
STEPS = 150  # of one process and of two
ALONE, TRAIN = "--alone", "--train"  # what `memory` and `processes` call this program with
CPU = torch.device("cpu")


def trainer(
    name: str,
    config: TransformerConfig,
    bf16: bool,
    given: Callable[[Batch], tuple[torch.Tensor, ...]] = lambda batch: batch_tensors(batch, CPU),
    fused: bool = False,
) -> Callable[[Batch], None]:
    """One step, as `Trainer` takes it.

    Args:
        name: of the model.
        bf16: whether products are taken in bfloat16. There the peers take torch's attention
            without its fused kernel, whose backward is slow on a CPU; ours sees to that itself.
        given: makes of a batch what the model takes.
        fused: leave the peers at the fused kernel, as a loop does that says nothing of it.
    """
    loss_module = make(name, config, TRAINING.label_smoothing, TRAINING.seed)
    optimizer = Adam(loss_module.train())
    runtime = Runtime(CPU, RuntimeConfig(bf16=bf16))
    unfused = bf16 and name != NAMES[0] and not fused

    def update(batch: Batch) -> None:
        tensors = given(batch)
        for parameter in loss_module.parameters():
            parameter.grad = None
        with runtime.autocast(), sdpa_kernel(SDPBackend.MATH) if unfused else nullcontext():
            loss = loss_module(*tensors)
        (loss / len(tensors[3])).backward()
        optimizer.step()

    return update


def widened(batch: Batch) -> Batch:
    """The same pairs, filled up to one width for all."""

    def wide(ids: Any) -> Any:
        return np.pad(ids, ((0, 0), (0, WIDTH - ids.shape[1])), constant_values=PAD)

    source, target_in, target_out = map(wide, (batch.source, batch.target_in, batch.target_out))
    return Batch(source, target_in, target_out, batch.index, batch.non_padding)


def rates(calls: dict[str, tuple[Callable[[Batch], None], list[Batch]]]) -> dict[str, list[float]]:
    """Useful tokens a second of the thread's own time: of each call, a number for each round."""
    found: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(ROUNDS + 1):
        for name, (update, batches) in calls.items():
            own = batches[turn * BATCHES : (turn + 1) * BATCHES]
            start = time.thread_time()
            for batch in own:
                update(batch)
            if turn:  # the first is warming up
                useful = sum(batch.non_padding for batch in own)
                found[name].append(useful / (time.thread_time() - start))
    return found


def with_padding(batch: Batch) -> tuple[torch.Tensor, ...]:
    """What a model's loss takes, padding among the words that it is asked for."""
    places = np.arange(batch.target_out.size)
    arrays = batch.source, batch.target_in, places, batch.target_out.reshape(-1)
    return tuple(map(torch.from_numpy, arrays))


def padding(data: TranslationData) -> dict[str, list[float]]:
    """Batches of like lengths against pairs as they come, all filled up to one width."""
    config = data.model_config(**MODEL)
    update = trainer("qkv", config, True)
    naive = trainer("qkv", config, True, with_padding)
    rng = np.random.default_rng(0)
    by_length = list(bucketed_batches(data.training, TRAINING.max_tokens, rng=rng))
    size, order = TRAINING.max_tokens // WIDTH, rng.permutation(len(data.training))
    pairs: list[Ids] = data.training
    parts = [order[n : n + size] for n in range(0, (ROUNDS + 1) * BATCHES * size, size)]
    as_they_come = [widened(collate(pairs, part, PAD)) for part in parts]
    return rates(
        {
            "by length": (update, by_length),
            f"all to {WIDTH}, scores for words alone": (update, as_they_come),
            FIXED: (naive, as_they_come),
        }
    )


def peers(data: TranslationData, bf16: bool) -> dict[str, list[float]]:
    rng = np.random.default_rng(0)
    batches = list(bucketed_batches(data.training, TRAINING.max_tokens, rng=rng))
    config = data.model_config(**MODEL)
    updates = {name: trainer(name, config, bf16) for name in NAMES}
    if bf16:
        updates[AUTOCAST_ALONE] = trainer(NAMES[1], config, bf16, fused=True)
    return rates({name: (update, batches) for name, update in updates.items()})


def processes(folder: Path) -> dict[str, float]:
    """Tokens a second of the clock, by one process and by two, each in one thread."""
    rates = {}
    for count in (1, 2):
        start = [sys.executable]
        if count > 1:
            start += ["-m", "torch.distributed.run", f"--nproc-per-node={count}"]
        command = [*start, __file__, TRAIN, str(folder)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        rates[str(count)] = float(done.stdout.split()[-1])
    return rates


def train(folder: Path) -> None:
    """Train as one of the processes that `processes` starts; the first says how fast it was."""
    training = replace(TRAINING, steps=STEPS, validate_every=STEPS)
    training = replace(training, max_tokens=2 * TRAINING.max_tokens)  # for both
    with open_runtime(RUNTIME) as runtime:
        data = TranslationData.from_config(data_config(folder))
        rng = torch.Generator().manual_seed(training.seed)
        model = Transformer(data.model_config(**MODEL), rng=rng)
        own = Trainer(model, data, training, runtime)
        own.fit()
        if runtime.is_main_process:
            print(own.state.tokens / own.state.seconds)


def memory(data: TranslationData) -> dict[str, float]:
    """The most memory in MB that a process takes which holds some batches and trains on them."""
    batches = list(bucketed_batches(data.training, TRAINING.max_tokens))
    chosen = [*batches[:: len(batches) // 20], batches[-1]]
    found = {}
    with tempfile.TemporaryDirectory() as parent:
        path = Path(parent) / "batches.pickle"
        path.write_bytes(pickle.dumps((data.model_config(**MODEL), chosen)))
        for name in ("nothing", *NAMES):
            command = [sys.executable, __file__, ALONE, str(path), name]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            found[name] = float(done.stdout.split()[-1])
    return found


def alone(path: Path, name: str) -> None:
    """Train on what `memory` has left there, and say how much memory it took."""
    config, batches = pickle.loads(path.read_bytes())
    if name != "nothing":
        update = trainer(name, config, True)
        for batch in batches:
            update(batch)
    print(peak())


def peak() -> float:
    """In MB. What `getrusage` says on Linux begins with the memory of the process that forked."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text().splitlines()
        return float(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 2**10
    unit = 2**20 if sys.platform == "darwin" else 2**10  # bytes there, kilobytes elsewhere
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def main() -> None:
    torch.set_num_threads(1)
    tune_malloc()
    if sys.argv[1:2] == [ALONE]:
        return alone(Path(sys.argv[2]), sys.argv[3])
    if sys.argv[1:2] == [TRAIN]:
        return train(Path(sys.argv[2]))
    folder = folder_of(sys.argv[1:])
    load = os.getloadavg()[0]
    data = TranslationData.from_config(data_config(folder))
    config = data.model_config(**MODEL)
    figures: Figures = {
        "load": f"{load:.1f}",
        "sizes": f"d_model {config.d_model}, d_ff {config.d_ff}, {config.n_heads} heads,"
        f" {config.n_layers} + {config.decoder_layers} layers, {config.vocab_size:,} tokens,"
        f" batches of at most {TRAINING.max_tokens}",
        "padding": padding(data),
        "float32": peers(data, False),
        "bfloat16": peers(data, True),
        "processes": processes(folder),
        "memory": memory(data),
    }
    save_results("throughput", table(figures), figures)
    draw(figures)
    print(table(figures))


if __name__ == "__main__":
    main()
