"""Explorers of the chapter on training: attention forming, and the paper's learning rate."""

from __future__ import annotations

import numpy as np

from qkv.explore.framework.panels import Bars, Heatmap, Lines, Panels
from qkv.learning_rate_schedules import noam_schedule
from qkv.numpy import softmax
from qkv.pretrained import pretrained
from qkv.text import SOS

__all__ = ["NOAM", "SENTENCES", "attention_forming", "noam"]

# Sentence pairs of the book's grammar.
SENTENCES = {
    "The cat sat on the mat": "고양이가 매트 위에 앉았다",
    "I like the small cat": "나는 작은 고양이를 좋아한다",
    "The dog will sleep under the table": "개가 탁자 아래에서 잘 것이다",
}
NOAM = {
    "d_model": [256, 512, 1024],
    "warmup": [2000, 4000, 8000, 16000],
    "factor": [0.5, 1.0],
}
DRAWN = np.unique(np.geomspace(1, 32000, 90).round().astype(int))  # steps of the curve


def attention_forming(*, sentence: str, step: int) -> Panels:
    """What the model that ships said and looked at after so many steps of its training.

    Args:
        sentence: one of SENTENCES; its right translation is what the decoder reads.
        step: one of `qkv.pretrained.STEPS`.
    """
    translator = pretrained(step=step)
    maps = translator.attention(sentence, SENTENCES[sentence])
    source = translator.source.encode(sentence, eos=True)[None]  # (1, S)
    target = translator.target.encode(SENTENCES[sentence], eos=True)  # (T,)
    with translator.model.inference_mode() as model:
        logits = model(source, np.array([[SOS, *target[:-1]]]))[0]  # (T, V)
    right = softmax(logits)[np.arange(len(target)), target]  # (T,)
    return {
        "writes": translator.translate(sentence),
        "loss": f"{-np.log(right).mean():.2f}",
        "probability": Bars(right, maps.target, limits=(0, 1)),
        "weights": Heatmap(maps.stack("cross")[-1], maps.target, maps.source, colours="weights"),
    }


def noam(*, d_model: int, warmup: int, factor: float) -> Panels:
    """The learning rate of the paper, step by step.

    Args:
        d_model, warmup, factor: as `noam_schedule` takes them.
    """
    rates = [noam_schedule(step, d_model, warmup, factor) for step in DRAWN.tolist()]
    peak = noam_schedule(warmup, d_model, warmup, factor)
    return {
        "peak": f"{peak:.5e} at step {warmup:,}",
        "first": f"{noam_schedule(1, d_model, warmup, factor):.2e}",
        "rate": Lines(DRAWN, {"rate": np.array(rates) * 1e3}, "step", "rate × 1000", mark=warmup),
    }
