"""The explorers of "The whole Transformer": what a size costs, and who looks at whom."""

import itertools

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

import qkv.torch as qt
from qkv.config import TransformerConfig, parameter_count
from qkv.explore.framework.frames import Frames
from qkv.explore.transformer import (
    BASE,
    SENTENCES,
    SHOWN,
    SIZES,
    alignment,
    parts,
    sizes,
    weights_count,
)

GRID = [dict(zip(SIZES, values, strict=True)) for values in itertools.product(*SIZES.values())]


def model_of(S, T, **options):
    torch.manual_seed(0)
    config = TransformerConfig(
        options["vocabulary"],
        d_model=options["d_model"],
        n_heads=options["heads"],
        d_ff=options["d_ff"],
        n_layers=options["layers"],
    )
    ids = [torch.randint(options["vocabulary"], (1, n)) for n in (S, T)]
    return qt.Transformer(config).eval(), ids


def test_parameters_and_flops_are_those_of_a_model_that_is_built():
    options = {"layers": 3, "d_model": 12, "heads": 2, "d_ff": 17, "vocabulary": 29}
    S, T = 7, 5
    model, ids = model_of(S, T, **options)
    found = parts(3, 12, 17, 29, S, T)
    assert sum(p.parameters for p in found) == sum(p.numel() for p in model.parameters())
    maps = {}
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        model(*ids, attention_maps=maps)
    assert sum(p.flops for p in found) == counter.get_total_flops()
    assert weights_count(3, 2, S, T) == sum(weights.numel() for weights in maps.values())


@pytest.mark.parametrize("options", GRID, ids=str)
def test_the_boxes_add_up_to_the_totals(options):
    for show, total in zip(SHOWN, ("parameters", "flops"), strict=True):
        panels = sizes(**options, show=show)
        values = [box.value for box in panels["figure"].boxes.values()]
        numbers = [value for value in values if isinstance(value, float)]
        stated = float(panels[total].replace(",", ""))
        whole = stated / 1e6 if total == "parameters" else stated
        assert sum(numbers) == pytest.approx(whole, abs=0.05)
        shares = [box.level for box in panels["figure"].boxes.values() if box.level is not None]
        assert sum(shares) == pytest.approx(1)


def test_the_base_model_is_the_one_that_the_chapter_counts():
    panels = sizes(**BASE, show=SHOWN[0])
    assert panels["parameters"] == "63,082,496"
    assert parameter_count(TransformerConfig(37000)) == 63_082_496
    assert panels["memory"].rows[0][1] == "252.33"
    assert panels["memory"].rows[2][1] == f"{6 * 8 * 3 * 25 * 25 * 4 / 1e6:.2f}"


def test_heads_change_the_memory_of_the_weights_and_nothing_else():
    one, many = (sizes(**BASE | {"heads": h}, show=SHOWN[1]) for h in (1, 16))
    assert (one["parameters"], one["flops"]) == (many["parameters"], many["flops"])
    first, second = (float(p["memory"].rows[2][1]) for p in (one, many))
    assert second == pytest.approx(16 * first, abs=0.1)
    assert one["memory"].rows[:2] == many["memory"].rows[:2]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_alignment_has_a_row_of_sum_one_for_each_predicted_word(sentence):
    panels = alignment(sentence=sentence)
    heatmap = panels["weights"]
    np.testing.assert_allclose(heatmap.values.sum(-1), 1, atol=1e-5)
    assert " ".join(heatmap.rows[:-1]) == panels["translation"]
    assert heatmap.columns[:-1] == tuple(sentence.split())


def test_functions_are_light():
    packed = Frames()
    for options, show in itertools.product(GRID, SHOWN):
        packed.add(sizes(**options, show=show))
    assert len(packed.data) < 100_000
