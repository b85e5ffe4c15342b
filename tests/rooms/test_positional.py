"""Positions: waves, learned rows, turned pairs, falling scores; by hand, by torch, by refusal."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import qkv.numpy as qn
import qkv.torch as qt
from tests.helpers.layers import copy_parameters, matches_differences, same_gradients
from tests.helpers.rooms import ROOMS, close, refused_alike, tensor

LAYOUTS = ["interleaved", "halves"]
# Axes of x; positions, None for 0 to T - 1.
SHAPES = [
    ((2, 3, 5, 14), None),
    ((5, 2), np.array([3, 1, 4, 1, 5])),
    ((1, 1, 1, 4), np.array([100_000])),
    ((2, 3, 5, 6), np.array([[[0, 1, 2, 3, 4]], [[7, 8, 9, 10, 11]]])),
    ((3, 5, 6), np.array(-7)),
    ((2, 1, 3, 5, 2), np.arange(5, dtype=np.uint8)),
]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_sinusoidal_encoding_by_hand(room, to):
    close(room.sinusoidal_encoding(1, 6), [[0, 1, 0, 1, 0, 1]])
    angles = [3, 3 / 100]  # position 3; 10000^(2/4) = 100
    row = [math.sin(angles[0]), math.cos(angles[0]), math.sin(angles[1]), math.cos(angles[1])]
    options = {"dtype": to(np.float64(0)).dtype}
    close(room.sinusoidal_encoding(5, 4, **options)[3], row)
    close(room.sinusoidal_encoding(1, 4, start=3, **options)[0], row)
    halves = [row[0], row[2], row[1], row[3]]
    close(room.sinusoidal_encoding(5, 4, layout="halves", **options)[3], halves)
    close(room.sinusoidal_encoding(4, 3, **options)[3], [*row[:2], math.sin(3 / 10000 ** (2 / 3))])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("d_model", [1, 2, 7, 512])
def test_the_rooms_encode_alike_far_out_too(layout, d_model):
    options = {"layout": layout, "start": 100_000}
    ours = qn.sinusoidal_encoding(3, d_model, dtype=np.float64, **options)
    close(ours, qt.sinusoidal_encoding(3, d_model, dtype=torch.float64, **options))
    narrow = qn.sinusoidal_encoding(3, d_model, **options)
    assert narrow.dtype == np.float32
    close(narrow, ours, "float32")
    theirs = qt.sinusoidal_encoding(3, d_model, **options)
    assert theirs.dtype == torch.float32
    close(theirs, ours, "float32")


def test_i_counts_pairs_so_the_longest_wave_at_512_has_60611_positions():
    encoding = qn.sinusoidal_encoding(60_612, 512, dtype=np.float64)
    wave = encoding[:, 510]  # the last sine
    assert round(2 * math.pi * 10000 ** (510 / 512)) == 60_611
    assert wave[15_153] > 1 - 1e-8  # a quarter on
    assert abs(wave[60_611]) < 1e-4  # a whole one on
    assert encoding[60_611, 511] > 1 - 1e-8
    squares = encoding.reshape(-1, 256, 2) ** 2
    close(squares.sum(-1), np.ones((60_612, 256)))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_step_of_k_is_one_rotation_wherever_it_begins(layout):
    """PE(pos + k) is a linear function of PE(pos), as the paper says."""
    encoding = qn.sinusoidal_encoding(40, 6, layout=layout, dtype=np.float64)
    step = np.linalg.lstsq(encoding[:30], encoding[7:37], rcond=None)[0]
    close(encoding[:33] @ step, encoding[7:])


@pytest.mark.parametrize(("room", "to"), ROOMS)
@pytest.mark.parametrize("way", ["none", "sinusoidal", "learned", "rotary", "alibi", "batch axis"])
def test_without_positions_attention_cannot_tell_an_order(room, to, way, rng):
    """Permute the tokens: outputs follow them, unless positions were given (and given right)."""
    x = to(rng.standard_normal((5, 5, 6)))
    order = [3, 0, 4, 1, 2]
    like = x.dtype
    rows = room.sinusoidal_encoding(5, 6, dtype=like)
    layer = room.LearnedPositions(7, 6, dtype=like)
    bias = room.alibi_bias(1, 5, dtype=like)[0]

    def attend(x):
        x = {
            "sinusoidal": lambda: x + rows,
            "batch axis": lambda: x + rows[:, None],  # each sentence gets one row for all tokens
            "learned": lambda: layer(x),
        }.get(way, lambda: x)()
        q = room.rotary(x) if way == "rotary" else x
        kept = bias if way == "alibi" else None
        return to(room.scaled_dot_product_attention(q, q, x, bias=kept)[0].tolist())

    gap = abs(attend(x[:, order]) - attend(x)[:, order]).max()
    assert (gap < 1e-10) == (way in ("none", "batch axis"))


@pytest.mark.parametrize("shape", [(2, 3, 5), (1, 1, 5), (3, 5), (2, 1, 7, 5)])
@pytest.mark.parametrize("start", [0, 4])
def test_learned_positions_go_back_as_autograd_and_as_differences_say(rng, shape, start):
    layer = qn.LearnedPositions(11, 5, rng=rng, dtype=np.float64)
    module = qt.LearnedPositions(11, 5, dtype=torch.float64)
    copy_parameters(layer, module)
    x, dout = rng.standard_normal((2, *shape))
    x.flags.writeable = False
    x_t = torch.tensor(x, requires_grad=True)
    out = module(x_t, start)
    out.backward(torch.tensor(dout))
    close(layer(x, start), out.detach())
    close(out.detach(), x + layer.params["weight"][start : start + shape[-2]])
    close(layer.backward(dout), x_t.grad)
    same_gradients(layer, module)

    def loss():
        return (layer.eval()(x, start) * dout).sum()

    matches_differences(layer.grads["weight"], loss, layer.params["weight"])


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_a_learned_table_has_the_variance_of_embeddings(room, to):
    weight = np.array(dict(room.LearnedPositions(500, 300).named_parameters())["weight"].tolist())
    assert np.isclose(weight.var(), 1 / 300, rtol=0.02)


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_rotary_by_hand(room, to):
    """At position 3 pair 0 turns by 3, pair 1 by 3/100."""
    x = to([[1.0, 0.0, 0.0, 2.0]])
    c, s, c2, s2 = math.cos(3), math.sin(3), math.cos(0.03), math.sin(0.03)
    close(room.rotary(x, to(np.array([3]))), [[c, s, -2 * s2, 2 * c2]])
    halves = [[c, -2 * s2, s, 2 * c2]]
    close(room.rotary(x[:, [0, 2, 1, 3]], to(np.array([3])), layout="halves"), halves)
    close(room.rotary(x), x)  # position 0 turns nothing
    close(room.rotary(to([[1.0, 0.0]] * 2), base=7)[1], [math.cos(1), math.sin(1)])


@pytest.mark.parametrize(("room", "to"), ROOMS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_rotary_scores_depend_on_the_distance_alone(room, to, layout, rng):
    q, k = (to(x) for x in rng.standard_normal((2, 3, 5, 6)))
    here, there = (to(np.arange(5) + start) for start in (0, 1000))
    near = room.rotary(q, here, layout=layout) @ room.rotary(k, here, layout=layout).mT
    far = room.rotary(q, there, layout=layout) @ room.rotary(k, there, layout=layout).mT
    close(near, far)
    close((room.rotary(q, there, layout=layout) ** 2).sum(-1), (q**2).sum(-1))
    assert abs(near - q @ k.mT).max() > 0.1


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("shape", "positions"), SHAPES)
def test_rotary_goes_back_as_autograd_and_as_differences_say(rng, shape, positions, layout):
    x, dout = rng.standard_normal((2, *shape))
    options = {"base": 500.0, "layout": layout}
    x_t = torch.tensor(x, requires_grad=True)
    out = qt.rotary(x_t, None if positions is None else tensor(positions), **options)
    out.backward(torch.tensor(dout))
    close(qn.rotary(x, positions, **options), out.detach())
    gradient = qn.rotary_backward(dout, positions, **options)
    close(gradient, x_t.grad)
    matches_differences(gradient, lambda: (qn.rotary(x, positions, **options) * dout).sum(), x)


def complex_rotary(x, positions, base):
    """The paper's own form: pairs are complex numbers, times exp(i · angle)."""
    d = x.shape[-1]
    angle = positions[:, None] * base ** (-np.arange(0, d, 2) / d)
    turned = (x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(1j * angle)
    return np.stack([turned.real, turned.imag], -1).reshape(x.shape)


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_rotary_is_the_product_of_complex_numbers(room, to, rng):
    x, positions = rng.standard_normal((2, 3, 5, 14)), np.array([9, 0, 3, 3, 12_345])
    expected = complex_rotary(x, positions, 10000.0)
    close(room.rotary(to(x), to(positions)), expected)
    halves = np.concatenate([x[..., 0::2], x[..., 1::2]], -1)
    turned = np.concatenate([expected[..., 0::2], expected[..., 1::2]], -1)
    close(room.rotary(to(halves), to(positions), layout="halves"), turned)


def test_rotary_leaves_its_input_and_takes_any_memory(rng):
    x = rng.standard_normal((6, 5)).T
    x.flags.writeable = False
    close(qn.rotary(x), qn.rotary(np.ascontiguousarray(x)))
    close(qn.rotary_backward(qn.rotary(x)), x)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_other_dtypes_stay_what_they_are(rng, dtype):
    x = rng.standard_normal((3, 5, 6)).astype(dtype)
    exact = qn.rotary(x.astype(np.float64), np.arange(5) + 100_000)
    # Half precision rounds cosine, product and sum, of numbers up to 3.
    tolerance = "bfloat16" if dtype == "float16" else dtype
    for room, to in ((qn, np.asarray), (qt, tensor)):
        out = room.rotary(to(x), to(np.arange(5) + 100_000))
        assert str(out.dtype).endswith(dtype)
        close(out, exact, tolerance)
    for room in (qn, qt):
        bias = room.alibi_bias(12, 3, 5, dtype=getattr(np if room is qn else torch, dtype))
        assert str(bias.dtype).endswith(dtype)
        close(bias, qn.alibi_bias(12, 3, 5, dtype=np.float64), dtype)


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_alibi_by_hand(room, to):
    close(room.alibi_slopes(1), [2**-8])
    close(room.alibi_slopes(8), [2**-n for n in range(1, 9)])
    # Three heads: the slopes of two, then the first of those of four.
    close(room.alibi_slopes(3), [2**-4, 2**-8, 2**-2])
    halves = [2 ** (-n / 2) for n in (1, 3, 5, 7)]
    close(room.alibi_slopes(12), [2**-n for n in range(1, 9)] + halves, "float32")
    distances = np.array([[2, 1, 0, 1], [3, 2, 1, 0]])  # queries stand at positions 2 and 3
    close(room.alibi_bias(2, 2, 4), [[-distances / 16, -distances / 256]])
    assert room.alibi_bias(3, 5).shape == (1, 3, 5, 5)


def slopes_as_published(n):
    """The recursion of the code that came with the ALiBi paper."""
    if math.log2(n).is_integer():
        first = 2 ** (-(2 ** -(math.log2(n) - 3)))
        return [first * first**i for i in range(n)]
    power = 2 ** math.floor(math.log2(n))
    return slopes_as_published(power) + slopes_as_published(2 * power)[0::2][: n - power]


@pytest.mark.parametrize("n_heads", range(1, 41))
def test_alibi_slopes_are_those_of_the_papers_code(n_heads):
    close(qn.alibi_slopes(n_heads, dtype=np.float64), slopes_as_published(n_heads))
    close(qt.alibi_slopes(n_heads, dtype=torch.float64), slopes_as_published(n_heads))


def outcome(call):
    """What a call gives as an array, or the text of its refusal."""
    try:
        return np.array(call().tolist(), np.float64)
    except ValueError as error:
        return str(error)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_the_rooms_agree_or_refuse_in_the_same_words(data):
    size = st.integers(0, 7)
    shape = tuple(data.draw(st.lists(size, max_size=4)))
    usual = st.sampled_from(["float64"] * 6 + ["float32", "int64"])
    x = np.asarray(np.random.default_rng(data.draw(size)).standard_normal(shape))
    x = x.astype(data.draw(usual))
    positions = None
    if data.draw(st.booleans()):
        kept = tuple(n if data.draw(st.booleans()) else 1 for n in shape[:-1])
        kept = (2, *kept) if data.draw(st.sampled_from([False] * 4 + [True])) else kept
        positions = np.arange(math.prod(kept)).reshape(kept)
        positions = positions.astype(data.draw(st.sampled_from(["int64"] * 6 + ["float32"])))
    layout = data.draw(st.sampled_from([*LAYOUTS, "thirds"]))
    base = data.draw(st.sampled_from([10000.0, 10000, 7.5, 0, "10000"]))
    T, S = data.draw(st.integers(-1, 7)), data.draw(st.none() | size)
    n, d = data.draw(st.integers(-1, 7)), data.draw(size)
    said = []
    for room, to in ((qn, np.asarray), (qt, tensor)):
        wide = to(np.float64(0)).dtype
        where = None if positions is None else to(positions)
        learned = room.LearnedPositions(5, 6, dtype=wide)
        learned.load_state_dict({"weight": to(np.arange(30.0).reshape(5, 6))})
        said += [
            outcome(lambda: room.rotary(to(x), where, base=base, layout=layout)),  # noqa: B023
            outcome(lambda: room.sinusoidal_encoding(n, d, layout=layout, dtype=wide)),  # noqa: B023
            outcome(lambda: room.alibi_bias(n, T, S, dtype=wide)),  # noqa: B023
            outcome(lambda: learned(to(x), n)),  # noqa: B023
        ]
    for ours, theirs in zip(said[:4], said[4:], strict=True):
        if isinstance(ours, str) or isinstance(theirs, str):
            assert isinstance(ours, str)
            assert ours == theirs
        else:
            close(ours, theirs, "float32" if x.dtype == np.float32 else "float64")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda r, to: r.LearnedPositions(7, 6)(to(np.ones((2, 5, 6), np.float32)), 3),
            "LearnedPositions: start + T must be at most max_len = 7, got 8: "
            "cut the sequence, or learn a longer table",
        ),
        (
            lambda r, to: r.LearnedPositions(7, 6)(to(np.ones((2, 5, 6)))),
            "LearnedPositions: x must be float32 as weight is, got float64",
        ),
        (
            lambda r, to: r.LearnedPositions(7, 0),
            "LearnedPositions: d_model must be a whole number of at least 1, got 0",
        ),
        (
            lambda r, to: r.rotary(to(np.ones((2, 5, 7)))),
            "rotary: d must be even and at least 2, got x = (2, 5, 7): entries turn in pairs",
        ),
        (
            lambda r, to: r.rotary(to(np.ones((2, 5, 6))), to(np.arange(4))),
            "rotary: positions must broadcast to (B, T) = (2, 5), got (4,): "
            "each vector has one position",
        ),
        (
            lambda r, to: r.rotary(to(np.ones((2, 5, 6))), to(np.arange(5.0))),
            "rotary: positions must be an integer array, got float64: count them 0, 1, 2 and so on",
        ),
        (
            lambda r, to: r.rotary(to(np.ones((5, 6))), layout="pairs"),
            "rotary: layout must be one of 'interleaved', 'halves', got 'pairs'",
        ),
        (
            lambda r, to: r.sinusoidal_encoding(5, 6, start=-1),
            "sinusoidal_encoding: start must be a whole number of at least 0, got -1",
        ),
        (
            lambda r, to: r.alibi_bias(2, 5, 3),
            "alibi_bias: T must be at most S = 3, got 5: the queries are the last T",
        ),
        (lambda r, to: r.alibi_slopes(0), "alibi_slopes: n_heads must be a whole number"),
    ],
)
def test_both_rooms_refuse_in_the_same_words(call, words):
    refused_alike(call, words)


def test_no_backward_without_a_call_or_of_another_shape(rng):
    layer = qn.LearnedPositions(7, 6, rng=rng)
    x = np.ones((2, 5, 6), np.float32)
    layer(x)
    with pytest.raises(ValueError, match=r"dout must be \(2, 5, 6\), got \(2, 4, 6\)"):
        layer.backward(x[:, 1:])
    with pytest.raises(ValueError, match=r"LearnedPositions\.backward: there is no call"):
        layer.backward(x)


def test_torch_positions_work_under_autocast_and_compiled():
    learned = qt.LearnedPositions(11, 6)
    x, positions = torch.randn(2, 5, 6), torch.arange(5) + 3

    def place(x, positions):
        x = learned(x, 2) + qt.sinusoidal_encoding(5, 6) + qt.alibi_bias(3, 5).sum()
        return qt.rotary(x, positions) + qt.rotary(x, layout="halves")

    with torch.autocast("cpu", torch.bfloat16):
        assert learned(x.bfloat16()).dtype == torch.float32
        assert qt.rotary(x.bfloat16()).dtype == torch.bfloat16
    compiled = torch.compile(place, backend="aot_eager", fullgraph=True)
    close(compiled(x, positions).detach(), place(x, positions).detach(), "float32")
