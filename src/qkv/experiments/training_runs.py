"""Seven trainings of a small translator: one as it should be, six with a fault; what each writes.

The faults are those of FAULTS. `measure` trains each from several seeds. Figures, by run:
`training` and `validation`, one list a seed, the loss at `steps`: that of training is the mean over
the steps before, as the run itself reports it; that of validation is of words alone. Of the pairs
held back, greedy decoding: `exact`, the share that it translates word for word; `first_sos` and
`first_eos`, the shares at which the first token that it writes is <sos> or <eos>. `writes`, the
tokens that it makes of SENTENCE. Two probes show where a run looks for its answer, the encoder
reading SENTENCE: `repeats`, the share of all words w at which the decoder predicts w after reading
w; `looks_ahead`, the share at which its first row, <sos>, predicts w if the second row is w.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from qkv.experiments.stored_results import run_and_store
from qkv.learning_rate_schedules import linear_schedule
from qkv.text import EOS, PAD, SOS, collate
from qkv.torch import Adam, Transformer
from qkv.trainer import TranslationData

__all__ = ["FAULTS", "SENTENCE", "Run", "check", "measure", "small_data", "validation_loss"]

Figures = dict[str, Any]

FAULTS = {
    "healthy": "none",
    "not shifted": "the decoder reads the answers",
    "no mask": "the decoder's self-attention sees later words",
    "loss on padding": "targets are padded to 16 tokens, and <PAD> counts as a word",
    "rate too high": "thirty times the rate",
    "rate too low": "a thirtieth of the rate",
    "few pairs": "100 pairs for training",
}
SENTENCE = "The cat sat on the mat"
WIDTHS = {"d_model": 64, "n_heads": 2, "d_ff": 128, "n_layers": 1, "dropout": 0.0}
BATCH, RATE, FEW, LONGEST = 64, 0.003, 100, 16


@cache
def small_data() -> TranslationData:
    """The book's grammar in whole words, one vocabulary a language."""
    return TranslationData.from_grammar(
        words=True, separate_vocabularies=True, max_len=LONGEST, valid_pairs=200
    )


@dataclass
class Run:
    """One training of a small translator.

    Args:
        fault: one of FAULTS.
        seed: draws the parameters and the batches.
        steps: how many.
        options: of the model, instead of WIDTHS.
    """

    fault: str
    seed: int
    steps: int
    options: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        data, rng = small_data(), torch.Generator().manual_seed(self.seed)
        options = {**WIDTHS, **(self.options or {}), "causal": self.fault != "no mask"}
        self.model = Transformer(data.model_config(**options), rng=rng)
        self.adam = Adam(self.model, betas=(0.9, 0.98))
        self.draw = np.random.default_rng(self.seed)

    def rate(self, step: int) -> float:
        """Rises over a tenth of the steps, then falls to 0."""
        peak = RATE * {"rate too high": 30, "rate too low": 1 / 30}.get(self.fault, 1)
        return linear_schedule(step, self.steps, max(1, self.steps // 10), peak)

    def step(self, rate: float) -> float:
        """Take one step; returns the loss that the run reports."""
        pairs = small_data().training
        most = FEW if self.fault == "few pairs" else len(pairs)
        batch = collate(pairs, self.draw.integers(most, size=BATCH) * (len(pairs) // most))
        inputs, answers = batch.target_in, batch.target_out  # (B, T)
        if self.fault == "not shifted":
            inputs = answers
        elif self.fault == "loss on padding":
            more = ((0, 0), (0, LONGEST - answers.shape[1]))
            inputs, answers = np.pad(inputs, more), np.pad(answers, more)  # (B, 16)
        ignored = -100 if self.fault == "loss on padding" else PAD
        loss = token_loss(self.model, batch.source, inputs, answers, ignored)
        self.model.zero_grad()
        torch.autograd.backward(loss)
        self.adam.step(rate)
        return loss.item()

    def curves(self, every: int) -> tuple[list[float], list[float]]:
        """Train; the losses of training, each a mean over so many steps, and of validation."""
        training, validation = [], []
        for step in range(1, self.steps + 1):
            training.append(self.step(self.rate(step)))
            if step % every == 0:
                validation.append(round(validation_loss(self.model, self.fault), 4))
        return np.reshape(training, (-1, every)).mean(1).round(4).tolist(), validation


def token_loss(
    model: Transformer, source: Any, inputs: Any, answers: Any, ignored: int = PAD
) -> Tensor:
    """Cross-entropy: source (B, S), what the decoder reads (B, T), and what it has to predict."""
    logits = model(torch.as_tensor(source), torch.as_tensor(inputs))  # (B, T, V)
    targets = torch.as_tensor(answers).flatten()
    return F.cross_entropy(logits.flatten(0, 1), targets, ignore_index=ignored)


@torch.no_grad()
def validation_loss(model: Transformer, fault: str = "healthy") -> float:
    """Loss of the words of pairs held back; the decoder reads what it read in training."""
    batch = collate(small_data().validation, np.arange(len(small_data().validation)))
    inputs = batch.target_out if fault == "not shifted" else batch.target_in
    return token_loss(model.eval(), batch.source, inputs, batch.target_out).item()


@torch.no_grad()
def write(model: Transformer, texts: list[str]) -> list[list[int]]:
    """Greedy translations up to <eos>, as ids; each step is computed anew from what is written."""
    data = small_data()
    encoded = [(data.source.encode(text, eos=True), np.array([SOS, EOS])) for text in texts]
    source = torch.as_tensor(collate(encoded, np.arange(len(texts))).source)
    memory, mask = model.eval().encode(source), model.memory_mask(source)
    written = torch.full((len(texts), 1), SOS)
    for _ in range(LONGEST):
        best = model.decode(written, memory, memory_mask=mask, last=True).argmax(-1)  # (B, 1)
        written = torch.cat([written, best], 1)
    return [_until_end(row) for row in written[:, 1:].tolist()]


def _until_end(ids: list[int]) -> list[int]:
    return ids[: ids.index(EOS) + 1] if EOS in ids else ids


def shares_written(model: Transformer) -> tuple[float, float, float]:
    """Shares of the pairs held back: word for word right; begun with <sos>; begun with <eos>."""
    data = small_data()
    texts = data.validation_texts
    written = write(model, [source for source, _ in texts])
    said = [data.target.decode([i for i in ids if i != EOS]) for ids in written]
    right = [ours == target for ours, (_, target) in zip(said, texts, strict=True)]
    firsts = [[ids[0] == special for ids in written] for special in (SOS, EOS)]
    exact, sos, eos = (round(float(np.mean(hits)), 3) for hits in (right, *firsts))
    return exact, sos, eos


@torch.no_grad()
def probes(model: Transformer) -> tuple[float, float]:
    """Shares of the words w that the decoder predicts after w, and that row 0 predicts before w."""
    data = small_data()
    words = torch.arange(EOS + 2, len(data.target))[:, None]  # (W, 1) after <unk>
    source = torch.as_tensor(data.source.encode(SENTENCE, eos=True)).expand(len(words), -1)
    starts = torch.full_like(words, SOS)
    model.eval()
    shares = []
    for read in (words, torch.cat([starts, words], 1)):
        first_row = model(source, read)[:, 0].argmax(-1)  # (W,)
        shares.append(round((first_row == words[:, 0]).double().mean().item(), 3))
    return shares[0], shares[1]


def measure(small: bool = False) -> Figures:
    """Train with each fault, from several seeds."""
    seeds, steps, every = (1, 40, 20) if small else (5, 600, 20)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    runs: dict[str, Any] = {}
    for fault in FAULTS:
        found = []
        for seed in range(seeds):
            run = Run(fault, seed, steps)
            curves = run.curves(every)
            shares = (*shares_written(run.model), *probes(run.model))
            writes = small_data().target.labels(np.array(write(run.model, [SENTENCE])[0]))
            found.append((*curves, *shares, " ".join(writes)))
        names = ["training", "validation", "exact", "first_sos", "first_eos", "repeats"]
        names += ["looks_ahead", "writes"]
        runs[fault] = dict(zip(names, map(list, zip(*found, strict=True)), strict=True))
    torch.set_num_threads(threads)
    return {"steps": list(range(every, steps + 1, every)), "runs": runs}


def check(figures: Figures) -> None:
    """What the chapter says; a run of few steps shows only which loss falls at once."""
    runs = figures["runs"]
    assert list(runs) == list(FAULTS)
    last = {
        (name, kind): [curve[-1] for curve in run[kind]]
        for name, run in runs.items()
        for kind in ("training", "validation")
    }
    assert max(last["not shifted", "training"]) < min(last["healthy", "training"])
    assert max(runs["not shifted"]["exact"] + runs["no mask"]["exact"]) == 0
    if len(figures["steps"]) < 30:
        return
    falling = ("healthy", "loss on padding", "no mask", "not shifted")
    for better, worse in pairwise(falling):
        assert max(last[worse, "training"]) < min(last[better, "training"])
    assert max(last["no mask", "validation"]) < 0.03 < min(last["healthy", "validation"])
    for name, least in (("healthy", 0.84), ("loss on padding", 0.78)):
        assert min(runs[name]["exact"]) > least
        assert set(runs[name]["writes"]) == {"고양이가 매트 위에 앉았다 <eos>"}
    assert np.mean(last["loss on padding", "validation"]) > np.mean(last["healthy", "validation"])
    for probe, fault in (("repeats", "not shifted"), ("looks_ahead", "no mask")):
        assert max(runs["healthy"][probe]) < 0.01 < 0.6 < min(runs[fault][probe])
    assert min(runs["not shifted"]["repeats"]) > 0.99
    assert min(runs["no mask"]["repeats"]) > 0.7
    assert min(runs["not shifted"]["first_sos"]) > 0.7 > 0 == max(runs["healthy"]["first_sos"])
    assert min(runs["no mask"]["first_eos"]) < 0.1 < 0.9 < max(runs["no mask"]["first_eos"])
    assert min(last["rate too high", "training"]) > 1.5
    assert min(last["rate too low", "training"]) > 4
    assert max(last["few pairs", "training"]) < 0.001 < 5 < min(last["few pairs", "validation"])


if __name__ == "__main__":
    run_and_store("training_runs", measure)
