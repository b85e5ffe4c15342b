"""The explorer of "Gradients by hand": the error of a slope against the step."""

import itertools

import numpy as np
import pytest

from qkv.explore.backward import FORMATS, FUNCTIONS, SMALLEST, check_step, slope_errors
from qkv.explore.framework.frames import Frames

EXPONENTS = tuple(range(-12, 1))
GRID = list(itertools.product(FUNCTIONS, FORMATS, EXPONENTS))
SMOOTH = [name for name in FUNCTIONS if not name.startswith("ReLU")]


def at(function, step, dtype="float64"):
    return slope_errors(function, dtype, np.array([step]))[0]


@pytest.mark.parametrize("function", SMOOTH)
def test_float64_is_good_at_a_millionth(function):
    assert at(function, 1e-6) < 1e-6


@pytest.mark.parametrize("function", SMOOTH)
def test_float32_is_bad_at_a_millionth(function):
    assert at(function, 1e-6, "float32") > 1e-3


def test_a_large_step_of_a_curve_costs_its_square():
    assert at("√x at 2", 0.1) / at("√x at 2", 0.01) == pytest.approx(100, rel=0.01)
    assert at("x² at 3", 1.0) == 0  # no third derivative


def test_too_small_a_step_is_lost_in_the_number():
    assert at("1000 + √x at 2", 1e-12, "float32") == 1  # x + h is x


def test_a_kink_within_the_step_gives_a_wrong_slope():
    assert at("ReLU at 0.0001", 1e-5) < 1e-9
    assert at("ReLU at 0.0001", 1e-2) == pytest.approx(0.495)


@pytest.mark.parametrize(("function", "dtype", "exponent"), GRID)
def test_the_table_and_the_curve_say_the_same(function, dtype, exponent):
    panels = check_step(function=function, format=dtype, exponent=exponent)
    rows = dict(panels["numbers"].rows)
    error = at(function, 10.0**exponent, dtype)
    assert float(rows["error / slope"]) == pytest.approx(error, rel=0.06, abs=1e-16)
    assert np.all(panels["error"].ys[dtype] >= SMALLEST)
    assert panels["error"].mark == 10.0**exponent


def test_frames_are_small():
    packed = Frames()
    for function, dtype, exponent in GRID:
        packed.add(check_step(function=function, format=dtype, exponent=exponent))
    assert len(packed.data) < 100_000
