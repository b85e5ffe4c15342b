"""How good a model is on pairs that it does not learn from: loss, BLEU, and how many are exact."""

from __future__ import annotations

import torch

from qkv.commands.bleu import bleu_scorer
from qkv.commands.train.data import Data
from qkv.commands.train.objective import Objective, tensors
from qkv.text import pad_batch, plan_batches
from qkv.translator import Translator

__all__ = ["better", "evaluate"]

Scores = dict[str, float]
TOKENS = 4096  # of a batch; nothing is kept for a backward
TELLING = 1.0  # BLEU; below, models that say nothing right differ by chance
MORE = 10  # tokens that a translation may have beyond the longest reference


def evaluate(objective: Objective, data: Data) -> tuple[Scores, str]:
    """Loss (cross-entropy per token, in nats, without smoothing), BLEU by greedy, exact matches.

    Returns:
        "loss", "bleu" and "exact", a share in percent; and the signature of BLEU.
    """
    device, training = next(objective.parameters()).device, objective.training
    lengths = [(len(source), len(target) - 1) for source, target in data.validation]
    total, count = 0.0, 0
    objective.eval()
    with torch.no_grad():
        for index in plan_batches(lengths, max(TOKENS, *map(max, lengths))):
            batch = tensors(pad_batch(data.validation, index), device)
            total += float(objective(*batch))
            count += len(batch[3])
    objective.train(training)
    longest = max(length for _, length in lengths) + MORE
    translator = Translator(objective.model, data.source, data.target)
    longest = min(longest, translator.max_len)
    said = translator.translate([source for source, _ in data.texts], max_new_tokens=longest)
    references = [data.target.clean(target) for _, target in data.texts]
    bleu, signature = bleu_scorer()(said, references)
    exact = sum(map(str.__eq__, said, references)) / len(said) * 100
    return {"loss": total / count, "bleu": bleu, "exact": exact}, signature


def better(one: Scores, other: Scores) -> bool:
    """Whether one is better: by BLEU; of equals, and while BLEU is below 1, by loss."""
    (left, right) = ((s["bleu"] if s["bleu"] >= TELLING else 0.0, -s["loss"]) for s in (one, other))
    return left > right
