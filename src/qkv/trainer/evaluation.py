"""Evaluation on pairs that a model does not learn from: loss, BLEU, exact matches."""

from __future__ import annotations

import math

import torch

from qkv.bleu import bleu_scorer
from qkv.text import bucket_by_length, collate
from qkv.trainer.data import TranslationData
from qkv.trainer.events import Scores
from qkv.trainer.loss import TranslationLoss, batch_tensors
from qkv.translator import Translator

__all__ = ["evaluate"]

MAX_TOKENS = 4096  # of a batch; nothing is kept for a backward
MARGIN = 10  # tokens that a translation may have beyond the longest reference


def evaluate(loss: TranslationLoss, data: TranslationData) -> Scores:
    """Loss without label smoothing, BLEU of greedy translations, and how many are exact.

    Raises:
        ValueError: the loss is not finite.
        ImportError: sacrebleu is not installed.
    """
    device, training = next(loss.parameters()).device, loss.training
    lengths = [(len(source), len(target) - 1) for source, target in data.validation]
    total, count = 0.0, 0
    loss.eval()
    with torch.no_grad():
        for index in bucket_by_length(lengths, max(MAX_TOKENS, *map(max, lengths))):
            batch = batch_tensors(collate(data.validation, index), device)
            total += float(loss(*batch))
            count += len(batch[3])
    loss.train(training)
    if not math.isfinite(total):
        raise ValueError(
            f"Trainer: the loss of the validation is {total}: begin another run with a lower rate "
            "(`learning_rate`) or a lower `weight_decay`"
        )
    longest = max(length for _, length in lengths) + MARGIN
    translator = Translator(loss.model, data.source, data.target)
    longest = min(longest, translator.max_len)
    sources = [source for source, _ in data.validation_texts]
    translations = translator.translate(sources, max_new_tokens=longest)
    references = [data.target.normalize(target) for _, target in data.validation_texts]
    bleu, signature = bleu_scorer()(translations, references)
    exact = sum(map(str.__eq__, translations, references)) / len(translations) * 100
    return Scores(total / count, bleu, exact, signature)
