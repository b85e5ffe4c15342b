"""Explorer of the first chapter: the map of the book, the paper's figure with links to chapters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

from qkv.explore.framework.panels import Arrow, Box, Diagram, Panels
from qkv.language import ENGLISH, get_language, gettext, gettext_noop


@dataclass(frozen=True)
class Chapter:
    """A chapter of the book, as `make facts` reads it in the notebooks.

    Args:
        number: its number, the same for good.
        concept: with the number, the name of its notebook.
        title: as it stands at its top, in English.
        times: minutes of each language, as `minutes` gives them in the language that is set.
        exercises: the numbers of those in the core, and of those behind it.
    """

    number: int
    concept: str
    title: str
    times: Mapping[str, tuple[int, int, int]]
    exercises: tuple[tuple[int, ...], tuple[int, ...]]

    @property
    def minutes(self) -> tuple[int, int, int]:
        """To read its core, to do the exercises there, to read *Going further*."""
        return self.times.get(get_language(), self.times[ENGLISH])

    @property
    def notebook(self) -> str:
        """Without folder and ending, such as "03_attention"."""
        return f"{self.number:02}_{self.concept}"

    @property
    def short_title(self) -> str:
        """What stands before a colon, in English."""
        return self.title.partition(":")[0]


def read_chapters() -> tuple[Chapter, ...]:
    """Every chapter, in reading order."""
    stored = json.loads(files("qkv.explore").joinpath("chapters.json").read_text("utf-8"))
    return tuple(_chapter(**facts) for facts in stored)


def _chapter(*, minutes: dict[str, list[int]], exercises: list[list[int]], **names: Any) -> Chapter:
    times = {language: (read, done, further) for language, (read, done, further) in minutes.items()}
    core, behind = map(tuple, exercises)
    return Chapter(**names, times=times, exercises=(core, behind))


BOOK = read_chapters()
CHAPTERS = BOOK[1:]  # the map stands in the first
# Two ways through: chapters whose cores are read.
WAYS = {
    gettext_noop("an afternoon"): (3, 5, 6, 9, 10, 12),
    gettext_noop("the whole book"): tuple(chapter.number for chapter in CHAPTERS),
}
ON_THE_WAY = 0.3  # how dark a box is filled
WIDTH = 3.5  # of a box

# Chapter, label and place of each box: first the encoder, then the decoder, then what is not in
# the paper's figure.
ENCODER = {
    "norm above": (7, gettext_noop("Add & Norm"), 0.1, 4.0, 0.6),
    "feed-forward": (8, gettext_noop("feed-forward"), 0.1, 4.9, 0.6),
    "norm": (7, gettext_noop("Add & Norm"), 0.1, 6.2, 0.6),
    "attention": (6, gettext_noop("multi-head\nself-attention"), 0.1, 7.1, 1.0),
    "position": (9, gettext_noop("+ position"), 0.1, 8.9, 0.6),
    "embedding": (2, gettext_noop("embedding"), 0.1, 9.8, 0.6),
}
DECODER = {
    "output": (12, gettext_noop("softmax,\nnext word"), 4.0, 0, 1.0),
    "norm of three": (7, gettext_noop("Add & Norm"), 4.0, 2.2, 0.6),
    "feed-forward of two": (8, gettext_noop("feed-forward"), 4.0, 3.1, 0.6),
    "norm of two": (7, gettext_noop("Add & Norm"), 4.0, 4.0, 0.6),
    "cross": (10, gettext_noop("multi-head\ncross-attention"), 4.0, 4.9, 1.0),
    "norm of one": (7, gettext_noop("Add & Norm"), 4.0, 6.2, 0.6),
    "masked": (5, gettext_noop("masked\nself-attention"), 4.0, 7.1, 1.0),
    "position of target": (9, gettext_noop("+ position"), 4.0, 8.9, 0.6),
    "embedding of target": (2, gettext_noop("embedding"), 4.0, 9.8, 0.6),
}
BESIDE = {
    "loss": (11, gettext_noop("training:\nloss, Adam"), 0.1, 0, 1.0),
    "query": (3, gettext_noop("query, key, value"), 0.1, 11.6, 0.6),
    "root": (4, gettext_noop("why √d_k"), 4.0, 11.6, 0.6),
    "results": (13, gettext_noop("looking inside\na trained model"), 0.1, 13.3, 1.0),
    "families": (14, "BERT, GPT, T5", 4.0, 13.3, 1.0),
    "cost": (15, gettext_noop("cost"), 0.1, 14.5, 1.0),
    "efficient": (16, gettext_noop("long texts"), 4.0, 14.5, 1.0),
    "devices": (17, gettext_noop("several devices"), 0.1, 15.7, 1.0),
    "backward": (18, gettext_noop("gradients\nby hand"), 4.0, 15.7, 1.0),
}
FRAMES = {
    "encoder": Box(gettext_noop("encoder, N layers"), 0, 3.4, 3.7, 5),
    "decoder": Box(gettext_noop("decoder, N layers"), 3.9, 1.6, 3.7, 6.8),
    "inside": Box(gettext_noop("inside every attention"), 0, 11, 7.6, 1.4),
    "around": Box(gettext_noop("around the model"), 0, 12.7, 7.6, 4.2),
}


def book_map(*, way: str) -> Panels:
    """The paper's figure, each box a link to its chapter; filled where the way leads through it.

    Args:
        way: one of WAYS.
    """
    chapters = {chapter.number: chapter for chapter in CHAPTERS}
    boxes = {name: replace(frame, label=gettext(frame.label)) for name, frame in FRAMES.items()}
    for name, (number, text, x, y, height) in {**ENCODER, **DECODER, **BESIDE}.items():
        boxes[name] = _box(chapters[number], text, (x, y, height), number in WAYS[way])
    ups = [*zip(list(ENCODER)[::-1], list(ENCODER)[-2::-1], strict=False)]
    ups += zip(list(DECODER)[::-1], list(DECODER)[-2::-1], strict=False)
    memory = [(1.85, 3.0), (3.8, 3.0), (3.8, 5.4)]
    arrows = [*(Arrow(*pair) for pair in ups), Arrow("output", "loss")]
    arrows.append(Arrow("norm above", "cross", via=memory))
    return {
        "time": duration(way_minutes(way)),
        "map": Diagram(boxes, arrows),
    }


def way_minutes(way: str) -> int:
    """What it takes to read the cores on a way, by their stated times."""
    return sum(chapter.minutes[0] for chapter in CHAPTERS if chapter.number in WAYS[way])


def duration(minutes: int) -> str:
    return gettext("{hours} h {minutes} min").format(hours=minutes // 60, minutes=minutes % 60)


def _box(chapter: Chapter, text: str, place: tuple[float, float, float], on_the_way: bool) -> Box:
    x, y, height = place
    read, exercises, further = chapter.minutes
    times = gettext(
        "“{title}”: read {read} minutes, exercises {exercises}, going further {further}"
    )
    return Box(
        f"{chapter.number} · {gettext(text)}",
        x,
        y,
        WIDTH,
        height,
        detail=times.format(
            title=gettext(chapter.short_title), read=read, exercises=exercises, further=further
        ),
        level=ON_THE_WAY if on_the_way else None,
        link=chapter.notebook,
    )
