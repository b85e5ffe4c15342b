"""What the timings of the chapter on cost are made with: each part, and the shortest of several."""

import numpy as np

from qkv.experiments.cost_time import milliseconds, parts_of_layer


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
    np.testing.assert_array_equal(parts["scores"](), parts["scores, out="]())
