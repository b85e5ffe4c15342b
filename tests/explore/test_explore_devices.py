"""The explorer of number formats: each number and each sum as PyTorch has them."""

import itertools
import math

import pytest
import torch

from qkv.explore.devices import (
    FORMATS,
    INT8,
    NAMES,
    NUMBERS,
    ONES,
    ORDERS,
    bits,
    gap,
    number_and_sum,
    stored,
)

DTYPES = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
    "float8": torch.float8_e4m3fn,
}
INTEGERS = {"float32": torch.int32, "bfloat16": torch.int16, "float16": torch.int16}
EDGES = [0.0, 17.0, 19.0, 448.0, 463.9, 65519.9, 65520.0, 2049.0, 2051.0, 257.0, 259.0]
SMALL = [2.0**-10, 1.5 * 2.0**-9, 6e-8, 2.9e-8, 1e-40, 0.0156, 0.0142]


def some_numbers():
    rng = torch.Generator().manual_seed(0)
    x = torch.randn(300, generator=rng, dtype=torch.float64)
    spread = x * 10.0 ** (6 * torch.rand(300, generator=rng, dtype=torch.float64) - 4)
    return [*NUMBERS, *EDGES, *SMALL, *spread.tolist()]


@pytest.mark.parametrize("name", FORMATS)
def test_numbers_are_stored_as_in_torch(name):
    for x in some_numbers():
        if name == "float8" and abs(x) > 448:
            assert abs(stored(x, name)) == 448
            continue
        for y in (x, -x):
            assert stored(y, name) == torch.tensor(y).double().to(DTYPES[name]).double(), y
    info = torch.finfo(DTYPES[name])
    assert FORMATS[name].largest == info.max
    assert gap(1.0, name) == info.eps


@pytest.mark.parametrize("name", FORMATS)
def test_the_bits_are_torchs(name):
    width = torch.finfo(DTYPES[name]).bits
    for x in some_numbers():
        for y in (stored(x, name), stored(-x, name)):
            raw = torch.tensor(y).double().to(DTYPES[name]).view(INTEGERS.get(name, torch.uint8))
            expected = f"{raw.item() % 2**width:0{width}b}"
            if y == 0:
                expected = "0" * width
            assert "".join(part for _, part, _ in bits(y, name)) == expected, y


def test_the_bits_say_the_number():
    for name, x in itertools.product(FORMATS, NUMBERS):
        y = stored(x, name)
        if math.isinf(y):
            continue
        (_, _, sign), (_, _, power), (_, _, significand) = bits(y, name)
        digits = power[1:].translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
        assert sign == "+"
        assert float(significand) * 2.0 ** int(digits) == pytest.approx(y, rel=1e-5)


def test_int8_holds_whole_numbers():
    assert [stored(x, INT8) for x in (0.1, 0.5, 1.5, -3.4, 127.4, 300, -300)] == [
        *(0, 0, 2, -3, 127, 127, -128)
    ]
    assert bits(100, INT8)[0][1] == "01100100"
    assert bits(-1, INT8)[0][1] == "11111111"


@pytest.mark.parametrize("name", ["bfloat16", "float16"])
@pytest.mark.parametrize("number", [0.1, 16, 256, 2048])
def test_sums_are_those_of_torch_step_by_step(name, number):
    one = torch.ones((), dtype=DTYPES[name])
    x = torch.tensor(number, dtype=DTYPES[name])
    for ones in ONES:
        total, many = x, torch.zeros_like(one)
        for _ in range(ones):
            total, many = total + one, many + one
        assert ORDERS["left to right"](x.item(), ones, name) == total
        assert ORDERS["the ones first"](x.item(), ones, name) == many + x
        wide = (x.double() + ones).to(DTYPES[name])
        assert ORDERS["wider total"](x.item(), ones, name) == wide


def test_it_opens_where_the_order_decides():
    sums = dict(row[:2] for row in number_and_sum(2048, "float16", 8)["sum"].rows)
    assert sums == {
        "left to right": "2048",
        "the ones first": "2056",
        "in pairs": "2056",
        "wider total": "2056",
    }


def test_pairs_lose_less_than_one_after_another():
    for name, number, ones in itertools.product(FORMATS, NUMBERS, ONES):
        x = stored(number, name)
        if math.isinf(x):
            continue
        chain, pairs = (ORDERS[order](x, ones, name) for order in ("left to right", "in pairs"))
        assert abs(pairs - x - ones) <= abs(chain - x - ones)


def test_the_text_of_the_grid_is_small():
    panels = [number_and_sum(*point) for point in itertools.product(NUMBERS, NAMES, ONES)]
    assert sum(len(str(p["sum"].rows)) for p in panels) < 5e4
    assert panels[0]["stored as"] == "9.99999994e-09"  # in float32


def test_the_largest_number_has_no_next_one():
    for x, name, said in (
        (448, "float8", "none"),
        (70000, "float16", "none"),
        (127, INT8, "none"),
        (126, INT8, "1 further"),
        (2048, "float16", "2 further"),
    ):
        assert number_and_sum(x, name, 8)["next number"] == said
