"""Explorers of the chapter on the whole Transformer: what a size costs, and who looks at whom."""

from __future__ import annotations

from dataclasses import dataclass

from qkv.config import TransformerConfig, parameter_count
from qkv.explore.framework.panels import Arrow, Box, Diagram, Heatmap, Panels, Table
from qkv.pretrained import pretrained

TOKENS = 25  # of the source, and of the target
BYTES = 4  # of a float32


@dataclass(frozen=True)
class Part:
    """What one kind of part costs, all of its layers together.

    Args:
        name: as it stands in the figure.
        parameters: numbers that are learnt; the biases and the norms of its Add & Norm counted.
        flops: of one forward pass over a sentence pair; a multiplication and an addition are two.
            Biases, norms and softmax are left out: they are less than a hundredth.
    """

    name: str
    parameters: int
    flops: int


def parts(layers: int, d_model: int, d_ff: int, vocabulary: int, S: int, T: int) -> list[Part]:
    """The parts of an encoder-decoder Transformer with S source tokens and T target tokens."""
    d, N = d_model, layers
    norm = 2 * d
    attention = 4 * (d * d + d) + norm
    feed_forward = d * d_ff + d_ff + d_ff * d + d + norm

    def attend(queries: int, keys: int) -> int:
        projections = 2 * d * d * (2 * queries + 2 * keys)  # W_Q and W_O, W_K and W_V
        return projections + 2 * 2 * queries * keys * d  # scores, then the mix of the values

    def apply(tokens: int) -> int:
        return 2 * tokens * 2 * d * d_ff

    return [
        Part("embedding table", vocabulary * d, 0),
        Part("encoder: self-attention", N * attention, N * attend(S, S)),
        Part("encoder: feed-forward", N * feed_forward, N * apply(S)),
        Part("decoder: self-attention", N * attention, N * attend(T, T)),
        Part("decoder: cross-attention", N * attention, N * attend(T, S)),
        Part("decoder: feed-forward", N * feed_forward, N * apply(T)),
        Part("output: the table again", 0, 2 * T * d * vocabulary),
    ]


def weights_count(layers: int, heads: int, S: int, T: int) -> int:
    """Attention weights of one sentence pair: three attentions in each pair of layers."""
    return layers * heads * (S * S + T * T + T * S)


def sizes(
    *, layers: int, d_model: int, heads: int, d_ff: int, vocabulary: int, show: str
) -> Panels:
    """Parameters, FLOPs and memory of a Transformer whose table is shared by both languages.

    Args:
        layers: of the encoder, and of the decoder.
        d_model, heads, d_ff, vocabulary: as in the paper; a head has width d_model / heads.
        show: what the boxes say, one of SHOWN.
    """
    found = parts(layers, d_model, d_ff, vocabulary, TOKENS, TOKENS)
    total = sum(part.parameters for part in found)
    flops = sum(part.flops for part in found)
    config = TransformerConfig(
        vocabulary, d_model=d_model, n_heads=heads, d_ff=d_ff, n_layers=layers
    )
    assert total == parameter_count(config)
    if show == SHOWN[0]:
        values = [(part.parameters / 1e6, part.parameters / total) for part in found]
    else:
        values = [(part.flops / 1e9, part.flops / flops) for part in found]
    weights = weights_count(layers, heads, TOKENS, TOKENS)
    megabytes = (total * BYTES, 4 * total * BYTES, weights * BYTES)
    rows = ("the parameters", "training with Adam", "attention weights of one pair")
    return {
        "parameters": f"{total:,}",
        "flops": f"{flops / 1e9:.2f}",
        "figure": _figure(dict(zip([part.name for part in found], values, strict=True))),
        "memory": Table(
            ["in float32", "MB"],
            [(row, f"{mb / 1e6:,.2f}") for row, mb in zip(rows, megabytes, strict=True)],
        ),
    }


BASE = {"layers": 6, "d_model": 512, "heads": 8, "d_ff": 2048, "vocabulary": 37000}
SIZES = {
    "layers": [2, 6],
    "d_model": [256, 512, 1024],
    "heads": [1, 8, 16],
    "d_ff": [1024, 2048, 4096],
    "vocabulary": [10000, 37000],
}
SHOWN = ("millions of parameters", "GFLOPs")
# Where each box of the figure stands, and what is said of it.
PLACES = {
    "embedding table": ("embedding\n+ position", 0.2, 8.6, "V × d_model; positions cost nothing"),
    "encoder: self-attention": ("self-attention", 0.2, 6.2, "4 · d_model² and biases, N times"),
    "encoder: feed-forward": ("feed-forward", 0.2, 4.3, "2 · d_model · d_ff and biases, N times"),
    "same table": ("embedding\n+ position", 4.2, 8.6, "the table of the encoder: counted there"),
    "decoder: self-attention": (
        "causal\nself-attention",
        4.2,
        6.2,
        "4 · d_model² and biases, N times",
    ),
    "decoder: cross-attention": (
        "cross-attention",
        4.2,
        4.3,
        "4 · d_model² and biases, N times; W_K and W_V read the memory",
    ),
    "decoder: feed-forward": ("feed-forward", 4.2, 2.4, "2 · d_model · d_ff and biases, N times"),
    "output: the table again": ("linear, softmax", 4.2, 0, "the table of the embedding, once more"),
}
SAME_TABLE = ("same table", "output: the table again")
ARROWS = (
    ("embedding table", "encoder: self-attention", "S × d_model"),
    ("encoder: self-attention", "encoder: feed-forward", "S × d_model"),
    ("same table", "decoder: self-attention", "T × d_model"),
    ("decoder: self-attention", "decoder: cross-attention", "T × d_model"),
    ("decoder: cross-attention", "decoder: feed-forward", "T × d_model"),
    ("decoder: feed-forward", "output: the table again", "T × d_model"),
)


def _figure(values: dict[str, tuple[float, float]]) -> Diagram:
    """The paper's figure; values: by part, the number in its box and its share of all."""
    boxes = {
        "encoder": Box("encoder, N layers", 0, 3.8, 3.6, 4),
        "decoder": Box("decoder, N layers", 4, 1.9, 3.6, 5.9),
    }
    for name, (label, x, y, detail) in PLACES.items():
        value, share = values.get(name, (0.0, 0.0))
        same = name in SAME_TABLE and not value
        text_or_number = "same table" if same else round(value, 2)
        boxes[name] = Box(label, x, y, 3.2, 1.3, detail, value=text_or_number, level=share)
    arrows = [Arrow(start, end, label) for start, end, label in ARROWS]
    up_and_over = [(1.8, 3.2), (3.8, 3.2), (3.8, 4.95)]
    memory = "S × d_model: keys and values of each decoder layer, from the last encoder layer"
    arrows.append(
        Arrow(
            "encoder: feed-forward", "decoder: cross-attention", "memory", memory, via=up_and_over
        )
    )
    return Diagram(boxes, arrows)


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
