"""BLEU, computed by sacreBLEU."""

from __future__ import annotations

from collections.abc import Callable, Sequence

__all__ = ["bleu_scorer"]

Scorer = Callable[[Sequence[str], Sequence[str]], tuple[float, str]]


def bleu_scorer(call: str = "BLEU", install: str = "'qkv[train]'") -> Scorer:
    """A function that computes BLEU of translations against references, and its signature.

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

    def score(translations: Sequence[str], references: Sequence[str]) -> tuple[float, str]:
        metric = BLEU()
        bleu = metric.corpus_score(translations, [references])
        return bleu.score, str(metric.get_signature())

    return score
