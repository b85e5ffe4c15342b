"""What the timings of the chapter on cost are made with: exponents, and the shortest of several."""

import pytest

from qkv.experiments.cost_time import fit_exponent, milliseconds, parts_of_layer


@pytest.mark.parametrize("exponent", [0.5, 1, 2])
def test_the_exponent_of_a_power_is_found(exponent):
    sizes = [64, 128, 512]
    assert fit_exponent(sizes, [3 * n**exponent for n in sizes]) == pytest.approx(exponent)


def test_every_part_is_run_and_timed():
    calls = {"one": 0, "two": 0}

    def part(name):
        def run():
            calls[name] += 1
            sum(range(2000))

        return run

    times = milliseconds({name: part(name) for name in calls}, budget=0.05, rounds=3)
    assert times.keys() == calls.keys()
    assert min(times.values()) > 0
    assert min(calls.values()) >= 3


def test_the_parts_of_a_layer_run():
    parts = parts_of_layer(4, 64)
    assert [parts["scores"]().shape, parts["mix"]().shape] == [(1, 4, 4), (1, 4, 64)]
    assert [product.shape for product in parts["projections"]()] == [(4, 64)] * 4
    assert parts["feed-forward"]()[1].shape == (4, 64)
