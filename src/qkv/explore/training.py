"""Explorers of the chapter on training: the learning rate, and attention forming."""

from __future__ import annotations

import numpy as np

from qkv.experiments import stored_result
from qkv.explore.framework.panels import Bars, Heatmap, Lines, Panels
from qkv.language import gettext, gettext_noop
from qkv.numpy import softmax
from qkv.pretrained import pretrained
from qkv.text import SOS

__all__ = ["NORMS", "RATES", "SENTENCES", "WARMUPS", "attention_forming", "learning_rate"]

# Sentence pairs of the book's grammar.
SENTENCES = {
    "The cat sat on the mat": "고양이가 매트 위에 앉았다",
    "I like the small cat": "나는 작은 고양이를 좋아한다",
    "The dog will sleep under the table": "개가 탁자 아래에서 잘 것이다",
}
RATES = [0.0003, 0.001, 0.003, 0.01, 0.03]
WARMUPS = [1, 30, 100]
NORMS = [gettext_noop("post-norm"), gettext_noop("pre-norm")]


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


def learning_rate(*, rate: float, warmup: int, norm: str) -> Panels:
    """The stored trainings of `training_rates`: one rate, beside the ends of all.

    Args:
        rate: the learning rate after the warm-up; the nearest of RATES is shown.
        warmup: steps during which it rises; the nearest of WARMUPS is shown, and 1 is none.
        norm: one of NORMS.
    """
    figures = stored_result("training_rates").figures
    of_norm, every = figures[norm.removesuffix("-norm")], figures["every"]
    row, column = _nearest(figures["warmups"], warmup), _nearest(figures["rates"], rate)
    ends = np.array(of_norm["loss"][row])  # (rates, seeds)
    shown, steps = figures["rates"][column], np.arange(every, figures["steps"] + 1, every)
    return {
        "end": gettext("{lowest} to {highest} at rate {rate}").format(
            lowest=f"{ends[column].min():.1f}",
            highest=f"{ends[column].max():.1f}",
            rate=f"{shown:g}",
        ),
        "curve": Lines(
            steps,
            {gettext("loss"): of_norm["training"][row][column]},
            gettext("step"),
            gettext("training loss"),
        ),
        "ends": Lines(
            figures["rates"],
            {gettext("loss"): ends.mean(1)},
            gettext("rate"),
            gettext("loss at the end"),
            log_x=True,
            mark=shown,
        ),
    }


def _nearest(values: list[float], value: float) -> int:
    return int(np.abs(np.log(values) - np.log(value)).argmin())
