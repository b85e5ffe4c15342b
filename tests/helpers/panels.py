"""A function for an explorer that shows points, a tree and a diagram, as chapters might."""

from __future__ import annotations

from typing import Any

import numpy as np

from qkv.explore import Arrow, Box, Diagram, Node, Scatter, Tree

WORDS = ("cat", "dog", "Eiffel", "tower", "miniature", "street", "river")
KINDS = ("noun", "noun", "name", "noun", "adjective", "noun", "noun")
BEFORE = np.array(
    [[0.3, 0.7], [0.3, -1.0], [0.7, 0.4], [-0.4, 0.5], [0.3, 0.2], [0, 0.4], [-0.6, -0.1]]
)
WIDTHS = [1, 2, 3]
MIXES = [0.0, 0.5, 1.0]


def every_panel(width: int, mix: float) -> dict[str, Any]:
    """Words that move to their mean, vectors, clocks, a tree that grows, a diagram with counts."""
    angles = (1 + 4 * mix) * width / 10.0 ** np.arange(5)
    hands = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    return {
        "words": Scatter(
            (1 - mix) * BEFORE + mix * BEFORE.mean(axis=0),
            WORDS,
            start=BEFORE,
            groups=KINDS,
            x_label="first coordinate",
            y_label="second coordinate",
        ),
        "vectors": Scatter(
            BEFORE[:3] * (1 + mix),
            ["q", "k", "v"],
            groups=["query", "key", "value"],
            arrows=True,
            limits=(-2.5, 2.5),
        ),
        "clocks": Scatter(
            hands[:, None], ["hand"], names=[*"abcde"], arrows=True, circle=True, limits=(-1.2, 1.2)
        ),
        "tree": Tree(grow(width, mix)),
        "diagram": draw(width, mix),
    }


def grow(width: int, mix: float) -> list[Node]:
    nodes = [Node("<s>")]
    parent = 0
    for depth in range(1, 4):
        first = len(nodes)
        for i, word in enumerate(WORDS[: width + 1]):
            state = "pruned" if i else "finished" if depth == 3 else "kept"
            nodes.append(Node(word, parent, -depth - i - mix / 3, state))
        parent = first
    return [*nodes, Node("어텐션", 0, "merged")]


def draw(width: int, mix: float) -> Diagram:
    d_model = 64 * width
    return Diagram(
        {
            "x": Box("x", 2.5, 7.5, 2.5, detail="the input", value=f"(8, 10, {d_model})"),
            "q": Box("W_Q", 0, 5, 2, role="query", value=64 * d_model, level=mix),
            "k": Box("W_K", 2.75, 5, 2, role="key", value=64 * d_model, level=mix / 2),
            "v": Box("W_V", 5.5, 5, 2, role="value", value=64 * d_model),
            "head": Box("head, h ×", 0, 1.5, 7.5, 2.25, detail="what each head does"),
            "mix": Box("scaled dot-product\nattention", 1, 2.5, 5.5, detail="softmax(qkᵀ/√d_k) v"),
            "out": Box("W_O", 2.75, 0, 2, role="output", value=0.1234 * width),
        },
        [
            Arrow("x", "q"),
            Arrow("x", "k", f"(B, T, {d_model})", "one row a token"),
            Arrow("x", "v", via=[(6.5, 8)]),
            *(Arrow(name, "mix", f"({name})") for name in "qkv"),
            Arrow("mix", "out", "(B, T, d_v)", "all heads, side by side"),
        ],
    )
