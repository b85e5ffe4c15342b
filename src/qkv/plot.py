"""Matplotlib style and helpers of the figures: colours by role, heatmaps, matrices to scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import matplotlib
import numpy as np
from cycler import cycler
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from numpy.typing import ArrayLike

from qkv.language import ENGLISH, get_language, gettext

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.typing import ColorType

# Okabe and Ito 2008: told apart by readers of any colour vision, and never used without a letter.
COLOURS = {
    "query": "#0072B2",
    "key": "#D55E00",
    "value": "#009E73",
    "output": "#CC79A7",
    "ink": "#2B2F5B",
    "ochre": "#A06A12",
    "grey": "#6B7280",
}
# explorer.css holds the same stops, so a figure and an explorer on one page agree.
WEIGHTS = LinearSegmentedColormap.from_list("qkv-weights", ["#F7F7FB", "#8187B8", "#1E1B4B"])
SCORES = LinearSegmentedColormap.from_list(
    "qkv-scores", ["#4A2800", "#B07E3F", "#F7F7FB", "#8187B8", "#1E1B4B"]
)


def style() -> None:
    """Set matplotlib's defaults for the rest of the notebook.

    In another language than English, `font.family` also names a font that has its letters: see
    `qkv.fonts`.
    """
    matplotlib.rcParams.update(
        {
            "figure.figsize": (6.5, 3.2),
            "figure.dpi": 110,
            "savefig.dpi": 110,
            "figure.facecolor": "white",  # opaque: the same card on a light and a dark page
            "figure.constrained_layout.use": True,
            "font.size": 11,
            "axes.titlesize": 11,
            "axes.titlelocation": "left",
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.edgecolor": COLOURS["grey"],
            "axes.grid": False,
            "axes.prop_cycle": cycler(
                color=[COLOURS["ink"], COLOURS["ochre"], COLOURS["grey"]],
                linestyle=["-", "--", ":"],
            ),
            "lines.linewidth": 1.8,
        }
    )
    if (language := get_language()) != ENGLISH:
        from qkv.fonts import fallback_family  # reads all that matplotlib knows of fonts

        families = matplotlib.rcParams["font.family"]
        if (family := fallback_family(language)) and family not in families:
            matplotlib.rcParams["font.family"] = [*families, family]


def heatmap(
    ax: Axes,
    values: ArrayLike,
    rows: Sequence[str],
    columns: Sequence[str],
    kind: Literal["weights", "scores"] = "weights",
    numbers: bool = True,
) -> None:
    """Draw a matrix with a token at every row and column, and its number in every cell.

    Args:
        ax: where to draw.
        values: (n, m); -inf is drawn blank with the sign in it.
        rows: n tokens.
        columns: m tokens.
        kind: "weights" are coloured from 0 to 1, "scores" on either side of 0.
        numbers: whether to print them in the cells.
    """
    matrix = np.asarray(values, dtype=float)
    finite = matrix[np.isfinite(matrix)]
    largest = 1.0 if kind == "weights" else max(float(np.abs(finite).max(initial=0)), 1e-9)
    lowest, scale = (0.0, WEIGHTS) if kind == "weights" else (-largest, SCORES)
    drawn = np.ma.masked_invalid(matrix)
    ax.imshow(drawn, cmap=scale, vmin=lowest, vmax=largest, aspect="equal")
    label_tokens(ax, rows, columns)
    if numbers:
        for (i, j), value in np.ndenumerate(matrix):
            shade = scale((value - lowest) / (largest - lowest)) if np.isfinite(value) else "w"
            text, ink = format_number(value), text_colour_on(shade)
            ax.text(j, i, text, ha="center", va="center", size=9, color=ink)


def matrix_box(
    ax: Axes, x: float, rows: int, columns: int, name: str, colour: str, sides: tuple[str, str]
) -> None:
    """Draw a matrix to scale: its name inside, the names of its sides on its left and on top.

    Args:
        ax: where to draw; give it an equal aspect.
        x: the left edge; the box is centred on y = 0.
        rows, columns: the matrix's shape.
        name: what stands inside, such as "$Q$".
        colour: a key of COLOURS.
        sides: what the rows and the columns count, such as ("$n$", "$d_k$").
    """
    ink, middle = COLOURS[colour], x + columns / 2
    ax.fill_between([x, x + columns], -rows / 2, rows / 2, color=ink, alpha=0.25)
    ax.text(middle, 0, name, ha="center", va="center", color=ink)
    ax.text(x - 0.3, 0, sides[0], ha="right", va="center")
    ax.text(middle, rows / 2 + 0.3, sides[1], ha="center")


def loss_curve(
    ax: Axes,
    steps: Sequence[int],
    losses: Sequence[float],
    validations: Sequence[tuple[int, float]] = (),
) -> None:
    """Draw the training loss over the steps, and the loss at each validation as a point.

    Args:
        ax: where to draw.
        steps, losses: of each step.
        validations: step and loss of each.
    """
    ax.plot(steps, losses, color=COLOURS["grey"], linewidth=1, label=gettext("training"))
    if validations:
        at, values = zip(*validations, strict=True)
        ax.plot(at, values, "o-", color=COLOURS["ochre"], markersize=4, label=gettext("validation"))
    ax.legend(frameon=False)
    ax.set(xlabel=gettext("step"), ylabel=gettext("loss per token, nats"), ylim=(0, None))


def label_tokens(ax: Axes, rows: Sequence[str], columns: Sequence[str]) -> None:
    """Label every row on the left and every column above, without ticks or a frame."""
    ax.set_xticks(range(len(columns)), columns, rotation=45, ha="left", rotation_mode="anchor")
    ax.set_yticks(range(len(rows)), rows)
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def format_number(value: float) -> str:
    """Two decimals, a true minus sign, and −∞ where a mask has been."""
    if np.isneginf(value):
        return "−∞"
    return f"{value:.2f}".replace("-", "−")


def text_colour_on(colour: ColorType) -> str:
    """Black or white, whichever is read more easily on `colour` (WCAG relative luminance)."""
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)
    )
    return "black" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 else "white"


__all__ = [
    "COLOURS",
    "SCORES",
    "WEIGHTS",
    "format_number",
    "heatmap",
    "loss_curve",
    "matrix_box",
    "style",
    "text_colour_on",
]
