"""BLEU, as everybody counts it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

__all__ = ["bleu_scorer"]

Scorer = Callable[[Sequence[str], Sequence[str]], tuple[float, str]]


def bleu_scorer(call: str = "BLEU", install: str = "'qkv[train]'") -> Scorer:
    """What gives BLEU of translations beside their references, and its signature.

    Args:
        call, install: who asks, and what pip shall bring, for the message of the error.
    Raises:
        ImportError: sacrebleu is not installed: better known before there is anything to lose.
    Source: Papineni et al. 2002; Post 2018.
    """
    try:
        from sacrebleu.metrics.bleu import BLEU
    except ImportError as error:
        raise ImportError(f"{call} needs sacrebleu: pip install {install}") from error

    def score(said: Sequence[str], references: Sequence[str]) -> tuple[float, str]:
        metric = BLEU()
        found = metric.corpus_score(said, [references])
        return found.score, str(metric.get_signature())

    return score
