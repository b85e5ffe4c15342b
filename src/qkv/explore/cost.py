"""Explorer of the chapter on cost: FLOPs by part, parameters, cache and seconds of an encoder."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qkv.explore.framework.panels import Bars, Lines, Panels, Table
from qkv.language import gettext, gettext_noop

__all__ = ["BATCH", "DEVICES", "D_MODEL", "LAYERS", "N_HEADS", "START", "Cost", "N", "costs"]

N = (128, 512, 2048, 8192, 32_768, 131_072)
D_MODEL = (256, 512, 1024, 4096)
N_HEADS = (1, 8, 16)
LAYERS = (1, 6, 24)
BATCH = (1, 32)
START = {"n": 2048, "d_model": 512, "n_heads": 8, "layers": 1, "batch": 1}
FLOAT32 = 4  # bytes
DAY = 86_400.0  # seconds
# FLOPs a second at most: of one core as `qkv.experiments.cost_time` measured it, and from a data
# sheet (NVIDIA H100 SXM, bfloat16, dense): nothing was run on one here.
DEVICES = {
    gettext_noop("one CPU core, measured"): 100.5e9,
    gettext_noop("H100, data sheet"): 989e12,
}


@dataclass(frozen=True)
class Cost:
    """What `layers` encoder layers cost for `batch` sentences of n tokens, forward; d_ff = 4d.

    Embedding, output, softmax, norms and biases are left out.
    """

    n: int
    d_model: int
    n_heads: int = 8
    layers: int = 1
    batch: int = 1

    @property
    def flops(self) -> dict[str, int]:
        """Of the matrix products, by part."""
        tokens, d = self.layers * self.batch * self.n, self.d_model
        return {
            gettext_noop("n² part"): 4 * tokens * self.n * d,
            gettext_noop("feed-forward"): 16 * tokens * d**2,
            gettext_noop("projections"): 8 * tokens * d**2,
        }

    @property
    def parameters(self) -> int:
        """W_Q, W_K, W_V, W_O and the two matrices of the feed-forward part."""
        return 12 * self.layers * self.d_model**2

    @property
    def score_bytes(self) -> int:
        """The weights of all heads of one layer, float32."""
        return FLOAT32 * self.batch * self.n_heads * self.n**2

    @property
    def cache_bytes(self) -> int:
        """Keys and values of all layers, as a decoder of this size keeps them, float32."""
        return FLOAT32 * 2 * self.layers * self.batch * self.n * self.d_model

    @property
    def crossing(self) -> int:
        """The n at which the n² part equals the rest: 4 n² d = 24 n d²."""
        return 6 * self.d_model


def costs(*, n: int, d_model: int, n_heads: int, layers: int, batch: int) -> Panels:
    """FLOPs by part as shares, the other costs, least seconds by device, and growth with n."""
    cost = Cost(n, d_model, n_heads, layers, batch)
    total = sum(cost.flops.values())
    amounts = {
        "FLOPs": scaled(total, "FLOP", 1000, ("", "k", "M", "G", "T", "P", "E")),
        gettext("parameters"): f"{cost.parameters:,}",
        gettext("scores of one layer"): as_bytes(cost.score_bytes),
        gettext("KV cache, if it writes"): as_bytes(cost.cache_bytes),
    }
    lengths = 2 ** np.arange(6, 19)
    by_n = [Cost(int(length), d_model).flops for length in lengths]
    rest = [flops["projections"] + flops["feed-forward"] for flops in by_n]
    return {
        "share": Bars(
            [100 * count / total for count in cost.flops.values()],
            [*map(gettext, cost.flops)],
            (0, 100),
        ),
        gettext_noop("costs"): Table([gettext("what"), gettext("how much")], list(amounts.items())),
        gettext_noop("seconds"): Table(
            [gettext("device"), gettext("at least")],
            [[gettext(name), seconds(total / rate)] for name, rate in DEVICES.items()],
        ),
        "growth": Lines(
            lengths,
            {
                gettext("n² part"): np.array([flops["n² part"] for flops in by_n]) / 1e9,
                gettext("the rest"): np.array(rest) / 1e9,
            },
            x_label="n",
            y_label="GFLOP",
            log_x=True,
            log_y=True,
            mark=cost.crossing,
        ),
    }


def as_bytes(count: float) -> str:
    """Bytes with a unit of 1,024."""
    return scaled(count, "B", 1024, ("", "Ki", "Mi", "Gi", "Ti"))


def seconds(value: float) -> str:
    """Two digits and the unit that fits, from microseconds to days."""
    if value >= DAY:
        return gettext("{count} days").format(count=two_digits(value / DAY))
    for unit, size in (("h", 3600.0), ("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{two_digits(value / size)} {unit}"
    return f"{two_digits(value / 1e-6)} µs"


def scaled(value: float, unit: str, step: int, prefixes: tuple[str, ...]) -> str:
    """A number of at most three digits before the point, with the prefix that fits."""
    power = 0
    while value >= step and power < len(prefixes) - 1:
        value, power = value / step, power + 1
    return f"{two_digits(value)} {prefixes[power]}{unit}"


def two_digits(value: float) -> str:
    """Two digits that count, or all before the point."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"
