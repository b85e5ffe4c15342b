"""What `throughput` has measured, as tables and as a picture."""

from __future__ import annotations

import statistics

from results import Figures, new_figure, save_figure

from baselines.models import NAMES
from qkv.plot import COLOURS

__all__ = ["AUTOCAST_ALONE", "FIXED", "WIDTH", "draw", "table"]

WIDTH = 72  # what a fixed width has to be here: the longest sentence has 62 tokens and its ends
FIXED = f"all to {WIDTH}, scores for padding too"
AUTOCAST_ALONE = f"{NAMES[1]}, by autocast alone"
NUMBERS = ("float32", "bfloat16")


def table(figures: Figures) -> str:
    """The figures in Markdown."""
    lines = [
        "# Training speed and memory",
        "",
        f"Load of the machine at the start: {figures['load']}.",
        f"Multi30k, {figures['sizes']}. Useful tokens (no padding) of source and target a second:"
        " medians of the thread's own time, in one thread, taking turns in one process; the ratios"
        " are medians of ratios.",
        "",
        "| batches, bfloat16 | tokens/s | of the last |",
        "|---|--:|--:|",
    ]
    lines += compare(figures["padding"], FIXED)
    lines += ["", f"![{alt(figures)}](throughput.svg)", "", spread(figures)]
    for kind in NUMBERS:
        lines += ["", f"| {kind} | tokens/s | of torch's |", "|---|--:|--:|"]
        lines += compare(figures[kind], NAMES[1])
    lines += [
        "",
        "In bfloat16 on a CPU the backward of torch's fused attention is slow. The peers are spared"
        " it here by `sdpa_kernel(SDPBackend.MATH)`, but for the last line, which has"
        " `torch.autocast` alone.",
    ]
    one, two = figures["processes"]["1"], figures["processes"]["2"]
    lines += [
        "",
        "Whatever else runs takes from two processes what they would gain: see the load above.",
        "",
        "| processes, by the clock | tokens/s | of one |",
        "|---|--:|--:|",
        f"| 1 | {one:,.0f} | 1.00 |",
        f"| 2 | {two:,.0f} | {two / one:.2f} |",
        "",
        "| peak memory of the process | MB | above the first |",
        "|---|--:|--:|",
    ]
    least = figures["memory"]["nothing"]
    for name, value in figures["memory"].items():
        title = "torch and the batches, no model" if name == "nothing" else name
        lines.append(f"| {title} | {value:.0f} | {value - least:.0f} |")
    return "\n".join(lines) + "\n"


def compare(found: dict[str, list[float]], base: str) -> list[str]:
    """A row for each."""
    rows = []
    for name, values in found.items():
        ratio = statistics.median(a / b for a, b in zip(values, found[base], strict=True))
        rows.append(f"| {name} | {statistics.median(values):,.0f} | {ratio:.2f} |")
    return rows


def draw(figures: Figures) -> None:
    """A point for each round of each model, and a line at their median."""
    figure, ax = new_figure(height=2.6)
    labels = [f"{name}, {kind}" for kind in NUMBERS for name in NAMES]
    for place, label in enumerate(labels):
        name, kind = label.split(", ")
        values = figures[kind][name]
        colour = COLOURS["ink" if name == NAMES[0] else "ochre"]
        ax.plot(values, [place] * len(values), "o", markersize=4, alpha=0.6, color=colour)
        ax.plot(statistics.median(values), place, "|", markersize=18, color=colour)
    ax.set_yticks(range(len(labels)), labels)
    ax.invert_yaxis()
    ax.tick_params(axis="y", length=0)
    ax.set(xlabel="useful tokens a second", xlim=(0, None))
    save_figure("throughput", figure)


def spread(figures: Figures) -> str:
    """How far rounds of one model lie apart, and how far the medians of the models."""
    said = []
    for kind in NUMBERS:
        found = [figures[kind][name] for name in NAMES]
        rounds = max(max(values) / min(values) for values in found) - 1
        medians = [statistics.median(values) for values in found]
        models = max(medians) / min(medians) - 1
        said.append(f"in {kind} {rounds:.0%} between rounds, {models:.0%} between models")
    return (
        "The largest difference between two rounds of one model, and between the medians of two "
        f"models: {'; '.join(said)}."
    )


def alt(figures: Figures) -> str:
    """What `draw` shows, in words."""
    said = "; ".join(
        f"{name} in {kind} from {min(values):,.0f} to {max(values):,.0f}"
        for kind in NUMBERS
        for name, values in figures[kind].items()
        if name in NAMES
    )
    return f"Useful tokens a second, five rounds each and a line at the median: {said}"
