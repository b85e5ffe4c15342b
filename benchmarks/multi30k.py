"""German to English on Multi30k: BLEU against processor minutes, ours beside torch.nn.Transformer.

    python benchmarks/multi30k.py FOLDER [STEPS]      or MULTI30K=FOLDER make bench

Both learn from the same batches in the same order, at the same rate, with the same optimizer and
the same bounds, in one process and one thread: they take turns, a part of the run each, so that a
slow moment of the machine meets both. Minutes are of training alone. Without the folder nothing is
measured. Writes results/multi30k.json, .md and .svg beside this file.
"""

# ruff: noqa: E402  (the number of threads has to be set before the imports that read it)
from __future__ import annotations

import os

for library in ("OPENBLAS", "OMP", "MKL", "VECLIB_MAXIMUM"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

import torch
from baselines import (
    MODEL,
    NAMES,
    RUNTIME,
    TRAINING,
    Peer,
    data_config,
    fields_in_words,
    folder_of,
    make,
)
from baselines.models import TorchTransformer
from results import Figures, new_figure, save_figure, save_results
from torch import Tensor, nn

from qkv.bleu import bleu_scorer
from qkv.config import TransformerConfig, parameter_count
from qkv.corpus import read_pairs
from qkv.plot import COLOURS
from qkv.text import EOS, PAD, SOS, bucket_by_length, collate
from qkv.torch import beam_search, greedy
from qkv.trainer import (
    Runtime,
    StepResult,
    TrainingConfig,
    TranslationData,
    TranslationLoss,
    open_runtime,
)
from qkv.trainer.loop import learning_rate_schedule, make_optimizer, training_loop
from qkv.trainer.step_batches import plan_steps, steps_per_epoch
from qkv.translator import Translator

PARTS = 6  # how often each is looked at
LONGEST = 80  # tokens of a translation
AIM, MINUTES = 36.0, 8.0


@dataclass
class Run:
    """A model on its way."""

    name: str
    loss: nn.Module
    steps: Iterator[StepResult]
    step: int = 0
    seconds: float = 0.0
    curve: list[dict[str, float]] = field(default_factory=list)


def begin(
    name: str,
    config: TransformerConfig,
    training: TrainingConfig,
    data: TranslationData,
    runtime: Runtime,
) -> Run:
    loss = make(name, config, training.label_smoothing, training.seed)
    optimizer = make_optimizer(training, loss)
    schedule = learning_rate_schedule(training, config.d_model)
    plan = list(islice(plan_steps(data.lengths, training), training.steps))
    return Run(
        name,
        loss,
        training_loop(loss, optimizer, data.training, plan, training, runtime, schedule),
    )


def train(run: Run, until: int) -> None:
    """Go on to that step."""
    run.loss.train()
    while run.step < until:
        start = time.thread_time()
        run.step = next(run.steps).step
        run.seconds += time.thread_time() - start


def translate(run: Run, data: TranslationData, texts: Sequence[str], beam_size: int) -> list[str]:
    """By greedy, or by beam search."""
    run.loss.eval()
    if isinstance(run.loss, TranslationLoss):
        translator = Translator(run.loss.model, data.source, data.target)
        if beam_size > 1:
            return translator.translate(texts, "beam", beam_size=beam_size, max_new_tokens=LONGEST)
        return translator.translate(texts, max_new_tokens=LONGEST)
    assert isinstance(run.loss, Peer)  # for the type checker
    assert isinstance(run.loss.model, TorchTransformer)
    pairs = [(data.source.encode(t, eos=True), [SOS, EOS]) for t in texts]
    found = [""] * len(texts)
    for index in bucket_by_length([(len(s), 1) for s, _ in pairs], 2048):
        batch = collate(pairs, index)
        tokens = write(run.loss.model, torch.from_numpy(batch.source), beam_size)
        for place, row in zip(index, tokens.tolist(), strict=True):
            found[place] = data.target.decode(row)
    return found


@torch.no_grad()
def write(model: TorchTransformer, source: Tensor, beam_size: int) -> Tensor:
    """(B, S) to (B, T) by the same search as ours; this model has no cache, so all is anew."""
    memory = model.encode(source)

    def step(prefixes: Tensor) -> Tensor:
        times = len(prefixes) // len(source)
        held, read = (x.repeat_interleave(times, 0) for x in (memory, source))
        x = model.decode(prefixes, held, read)[:, -1]  # (N, d_model)
        return (x @ model.table.T).log_softmax(-1)

    prefixes = torch.full((len(source), 1), SOS)
    if beam_size > 1:
        tokens, _ = beam_search(
            step, prefixes, eos_id=EOS, max_new_tokens=LONGEST, beam_size=beam_size, pad_id=PAD
        )
        return tokens[:, 0]
    return greedy(step, prefixes, eos_id=EOS, max_new_tokens=LONGEST, pad_id=PAD)[0]


def measure(folder: Path, steps: int | None = None) -> Figures:
    """Train both, and translate with both; `steps` are fewer than the recipe's, for a trial."""
    names = [folder / f"test_2016_flickr.{language}.gz" for language in ("de", "en")]
    score = bleu_scorer()  # before there is anything to lose
    texts, references = zip(*read_pairs(*names), strict=True)
    data = TranslationData.from_config(data_config(folder))
    config = data.model_config(**MODEL)
    training = replace(TRAINING, steps=steps)
    per_epoch = steps_per_epoch(data.lengths, training)
    training = training.resolved(per_epoch, data.default_epochs)
    total = training.steps or 0
    signature = ""
    with open_runtime(RUNTIME) as runtime:
        runs = [begin(name, config, training, data, runtime) for name in NAMES[:2]]
        for part in range(1, PARTS + 1):
            for run in runs:
                train(run, round(total * part / PARTS))
                bleu, signature = score(translate(run, data, texts, 1), list(references))
                point = {"step": run.step, "minutes": run.seconds / 60, "bleu": bleu}
                run.curve.append(point)
                print(f"{run.name}: {point['minutes']:.2f} min, BLEU {bleu:.2f}", flush=True)
        return {
            "recipe": fields_in_words(data.config, MODEL, TRAINING, RUNTIME),
            "steps": total,
            "parameters": parameter_count(config),
            "signature": signature,
            "runs": {
                run.name: {
                    "curve": run.curve,
                    "beam 4": score(translate(run, data, texts, 4), list(references))[0],
                }
                for run in runs
            },
        }


def draw(figures: Figures) -> None:
    """The curves, each with its name under its end, where they may meet."""
    figure, ax = new_figure()
    kinds = zip(figures["runs"].items(), ("ink", "ochre"), (-20, -36), strict=True)
    for (name, run), colour, below in kinds:
        minutes, bleu = ([p[key] for p in run["curve"]] for key in ("minutes", "bleu"))
        ax.plot(minutes, bleu, marker="o", markersize=4, color=COLOURS[colour])
        ax.annotate(
            name,
            (minutes[-1], bleu[-1]),
            (0, below),
            textcoords="offset points",
            ha="right",
            color=COLOURS[colour],
        )
    ax.axhline(AIM, color=COLOURS["grey"], linestyle=":", linewidth=1)
    ax.set(xlabel="minutes of one core", ylabel="BLEU, greedy", xlim=(0, None), ylim=(0, 40))
    save_figure("multi30k", figure)


def table(figures: Figures) -> str:
    """The figures in Markdown."""
    ends = {name: run["curve"][-1] for name, run in figures["runs"].items()}
    said = "; ".join(
        f"{name} ends at {end['bleu']:.1f} after {end['minutes']:.1f} minutes"
        for name, end in ends.items()
    )
    lines = [
        "# German to English on Multi30k",
        "",
        f"{figures['parameters']:,} parameters.",
        f"Trained with `{figures['recipe']}`; BLEU on test_2016_flickr, `{figures['signature']}`.",
        f"Aim: {AIM:g} in {MINUTES:g} minutes. Minutes are processor time of training alone.",
        "",
        f"![BLEU against minutes of one core, two rising curves: {said}](multi30k.svg)",
        "",
        "The dotted line is the aim. Each point is the test set, translated at that step.",
        "",
        "| steps | " + " | ".join(f"{name}, min | BLEU" for name in ends) + " |",
        "|--:|" + "--:|--:|" * len(ends),
    ]
    for points in zip(*(run["curve"] for run in figures["runs"].values()), strict=True):
        cells = [f"{p['minutes']:.2f} | {p['bleu']:.2f}" for p in points]
        lines.append(f"| {points[0]['step']} | " + " | ".join(cells) + " |")
    beam_size = [f"| {run['beam 4']:.2f}" for run in figures["runs"].values()]
    lines.append("| beam 4 | " + " | ".join(beam_size) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    arguments = sys.argv[1:]
    steps = int(arguments[1]) if len(arguments) > 1 else None
    figures = measure(folder_of(arguments), steps)
    save_results("multi30k", table(figures), figures)
    draw(figures)


if __name__ == "__main__":
    main()
