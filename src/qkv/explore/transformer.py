"""Explorer of the chapter on the whole Transformer: who looks at whom."""

from __future__ import annotations

from qkv.explore.framework.panels import Heatmap, Panels
from qkv.pretrained import pretrained

SENTENCES = (
    "The cat sat on the mat",
    "The cat did not sit on the mat",
    "I like the small cat",
    "The dog will sleep under the table",
)


def alignment(*, sentence: str) -> Panels:
    """Cross-attention of the trained model's last decoder layer, head by head.

    Args:
        sentence: English words that the model knows, such as one of SENTENCES.
    """
    maps = pretrained().attention(sentence)
    weights = maps.stack("cross")[-1]  # (H, T, S)
    return {
        "translation": maps.translation,
        "weights": Heatmap(weights, maps.target, maps.source, colours="weights"),
    }
