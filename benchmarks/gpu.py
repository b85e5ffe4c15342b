"""What one GPU does: decoding, attention beside plain products of matrices, steps of training.

    python benchmarks/gpu.py

The paper's base model with parameters and tokens drawn at random. Without an NVIDIA GPU nothing is
measured; `--small` is a trial, on a CPU too, that stores nothing. Writes results/gpu.json and
results/gpu.md beside this file.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product

import numpy as np
import torch
from results import Figures, save_results
from torch import Tensor

from qkv.config import TransformerConfig
from qkv.text import PAD, SOS, Batch
from qkv.torch import Adam, Transformer, greedy, scaled_dot_product_attention
from qkv.trainer import Runtime, RuntimeConfig, TranslationLoss
from qkv.trainer.loss import batch_tensors

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
FIRST_TOKEN = 4  # those before have a meaning of their own


@dataclass(frozen=True)
class Sizes:
    """What is measured."""

    model: TransformerConfig
    batches: tuple[int, ...] = (1, 32, 256)  # of decoding
    source: int = 32  # tokens read there, a sentence
    tokens: int = 128  # tokens written
    matrix: int = 8192  # rows and columns of the plain product
    lengths: tuple[int, ...] = (1024, 4096, 16384)  # of attention, n
    widths: tuple[int, ...] = (64, 128)  # d_k
    heads: int = 32
    sentences: int = 48  # of training; with 64 words a GPU's part of the paper's 25,000 tokens
    words: int = 64
    repeats: int = 10


BASE = Sizes(TransformerConfig(37_000, pad_id=PAD))
SMALL = Sizes(
    TransformerConfig(50, d_model=16, n_heads=2, d_ff=32, n_layers=1, pad_id=PAD),
    *((1, 2), 5, 3, 64, (32, 64), (8,), 2, 3, 7, 2),
)


def seconds(call: Callable[[], object], device: torch.device, repeats: int) -> float:
    """The median of one call by the clock, to the end of the GPU's work; two calls warm it up."""
    times = []
    for _ in range(repeats + 2):
        start = time.perf_counter()
        call()
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        times.append(time.perf_counter() - start)
    return statistics.median(times[2:])


def matrix_rates(sizes: Sizes, device: torch.device) -> dict[str, float]:
    """Operations a second of a product of two square matrices: 2 n³ of them."""
    found, n = {}, sizes.matrix
    for name, dtype in DTYPES.items():
        call = partial(torch.matmul, *torch.randn(2, n, n, device=device, dtype=dtype))
        found[name] = 2 * n**3 / seconds(call, device, sizes.repeats)
    return found


def attention(sizes: Sizes, device: torch.device) -> Iterator[Figures]:
    """Operations a second of fused attention, no mask: 4 n² d_k a head, with backward 3.5 times."""
    for (name, dtype), d_k, n in product(DTYPES.items(), sizes.widths, sizes.lengths):
        q, k, v, dout = torch.randn(4, 1, sizes.heads, n, d_k, device=device, dtype=dtype)
        forward = partial(attend, *(x.requires_grad_() for x in (q, k, v)))
        with torch.no_grad():
            alone = seconds(forward, device, sizes.repeats)
        both = seconds(partial(forward, dout), device, sizes.repeats)
        count = 4 * sizes.heads * n**2 * d_k
        row = {"forward": count / alone, "with backward": 3.5 * count / both}
        yield {"dtype": name, "d_k": d_k, "n": n} | row


def attend(q: Tensor, k: Tensor, v: Tensor, dout: Tensor | None = None) -> None:
    """Attention without its weights, and with `dout` its gradients."""
    out, _ = scaled_dot_product_attention(q, k, v, need_weights=False)
    if dout is not None:
        torch.autograd.grad(out, (q, k, v), dout)


@torch.inference_mode()
def decoding(sizes: Sizes, device: torch.device) -> Iterator[Figures]:
    """Tokens a second by greedy decoding with the cache; no sentence ends early."""
    for (name, dtype), B in product(DTYPES.items(), sizes.batches):
        model = Transformer(sizes.model, device=device, dtype=dtype).eval()
        ids = torch.randint(FIRST_TOKEN, sizes.model.vocab_size, (B, sizes.source), device=device)
        prefixes = torch.full((B, 1), SOS, device=device)
        call = partial(write, model, ids, prefixes, sizes.tokens)
        rate = B * sizes.tokens / seconds(call, device, sizes.repeats)
        yield {"dtype": name, "batch": B, "tokens a second": rate}


def write(model: Transformer, source: Tensor, prefixes: Tensor, tokens: int) -> None:
    greedy(model.start_decoding(source), prefixes, eos_id=None, max_new_tokens=tokens)


def training(sizes: Sizes, device: torch.device) -> Iterator[Figures]:
    """Milliseconds of one step, by eager calls and by torch.compile."""
    shape = 3, sizes.sentences, sizes.words
    ids = np.random.default_rng(0).integers(FIRST_TOKEN, sizes.model.vocab_size, shape)
    batch = Batch(
        ids[0], ids[1], ids[2], np.arange(sizes.sentences), 2 * sizes.sentences * sizes.words
    )
    tensors = batch_tensors(batch, device)
    for name in DTYPES:
        row: Figures = {"dtype": name}
        for kind in ("eager", "compiled"):
            model = Transformer(sizes.model, device=device)
            loss = TranslationLoss(model, 0.1, fused=kind == "eager").train()
            if kind == "compiled":  # what compiles for a CPU would need a C compiler
                loss.compile(backend="inductor" if device.type == "cuda" else "aot_eager")
            runtime = Runtime(device, RuntimeConfig(bf16=name == "bfloat16"))
            call = partial(update, loss, Adam(loss, lr=1e-4), runtime, tensors)
            row[kind] = 1000 * seconds(call, device, sizes.repeats)
        yield row


def update(
    loss: TranslationLoss, adam: Adam, runtime: Runtime, tensors: tuple[Tensor, ...]
) -> None:
    """One step: forward, backward, Adam."""
    loss.zero_grad()
    with runtime.autocast():
        total = loss(*tensors)
    (total / len(tensors[3])).backward()
    adam.step()


def measure(sizes: Sizes, device: torch.device) -> Figures:
    return {
        "sizes": asdict(sizes),
        "matrix": matrix_rates(sizes, device),
        "attention": list(attention(sizes, device)),
        "decoding": list(decoding(sizes, device)),
        "training": list(training(sizes, device)),
    }


def table(figures: Figures) -> str:
    """The figures in Markdown."""
    sizes, matrix = figures["sizes"], figures["matrix"]
    rates = ", ".join(f"{rate / 1e12:.3g} in {name}" for name, rate in matrix.items())
    lines = [
        "# Decoding, attention and training on one GPU",
        "",
        f"d_model {sizes['model']['d_model']}, {sizes['model']['n_layers']} layers; medians of"
        f" {sizes['repeats']} calls, by the clock. A product of two {sizes['matrix']} × "
        f"{sizes['matrix']} matrices reaches {rates}, in TFLOP/s; the shares are of that.",
        "",
        f"| decoding, {sizes['tokens']} tokens each, with a cache | batch | tokens/s |",
        "|---|--:|--:|",
    ]
    for row in figures["decoding"]:
        lines.append(f"| {row['dtype']} | {row['batch']} | {row['tokens a second']:,.0f} |")
    lines += ["", "| attention, TFLOP/s | d_k | n | forward | share | with backward | share |"]
    lines += ["|---|--:|--:|--:|--:|--:|--:|"]
    for row in figures["attention"]:
        alone, both, most = row["forward"], row["with backward"], matrix[row["dtype"]]
        cells = f"{alone / 1e12:.3g} | {alone / most:.0%} | {both / 1e12:.3g} | {both / most:.0%}"
        lines.append(f"| {row['dtype']} | {row['d_k']} | {row['n']} | {cells} |")
    words = sizes["sentences"] * sizes["words"]
    lines += ["", f"| a step, {words:,} words | eager, ms | compiled, ms |", "|---|--:|--:|"]
    for row in figures["training"]:
        lines.append(f"| {row['dtype']} | {row['eager']:.1f} | {row['compiled']:.1f} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--small", action="store_true", help="a trial: nothing is stored")
    small, gpu = parser.parse_args().small, torch.cuda.is_available()
    if not (small or gpu):
        print("There is no NVIDIA GPU here. Nothing was measured.")
        return
    figures = measure(SMALL if small else BASE, torch.device("cuda" if gpu else "cpu"))
    print(table(figures))
    if not small:
        save_results("gpu", table(figures), figures)


if __name__ == "__main__":
    main()
