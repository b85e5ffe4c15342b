"""Attention some queries at a time, in NumPy: equal to the plain formula, and in less memory."""

import numpy as np
import pytest

import qkv.numpy as qn
from qkv.experiments.efficient_blocks import numpy_peak
from qkv.numpy.attention import memory_efficient, scaled_dot_product
from tests.helpers.rooms import D_V, B, H, S, T, close, qkv, some_mask

pytestmark = pytest.mark.filterwarnings("error", "ignore::ResourceWarning")

OPTIONS = {
    "nothing": {},
    "a mask": {"mask": some_mask()},
    "a mask of keys": {"mask": np.arange(S) % 3 != 1},
    "a mask of queries": {"mask": np.arange(T)[:, None] != 2},
    "a bias": {"bias": np.random.default_rng(2).standard_normal((H, T, S))},
    "a bias of keys": {"bias": np.random.default_rng(3).standard_normal(S)},
    "causal": {"causal": True},
    "causal, a mask and a bias": {
        "causal": True,
        "mask": some_mask(),
        "bias": np.random.default_rng(4).standard_normal((B, 1, T, 1)),
    },
    "a scale": {"scale": 3.0},
}


@pytest.fixture(params=[(1, 1), (1, 2), (23, 1), (60, 3), (130, 3), (250, 3)], ids=str)
def few_at_a_time(request, monkeypatch):
    """Blocks of one query, of two, of a head, of some heads, of some of the batch."""
    in_cache, rows = request.param
    monkeypatch.setattr(memory_efficient, "MANY", 0)
    monkeypatch.setattr(memory_efficient, "IN_CACHE", in_cache)
    monkeypatch.setattr(memory_efficient, "ROWS", rows)
    monkeypatch.setattr(memory_efficient, "CAUSAL_ROWS", 2)


@pytest.fixture
def blocks(monkeypatch):
    """The indices of every block, as they are asked for."""
    seen = []
    ask = memory_efficient._blocks
    monkeypatch.setattr(
        memory_efficient, "_blocks", lambda *of: (seen.append(block) or block for block in ask(*of))
    )
    return seen


def both_ways(q, k, v, **options):
    """The output by the plain formula, and the output where no weights are asked for."""
    plain, weights = qn.scaled_dot_product_attention(q, k, v, **options)
    assert weights.shape == (*q.shape[:-1], k.shape[-2])
    out, nothing = qn.scaled_dot_product_attention(q, k, v, **options, need_weights=False)
    assert nothing is None
    return plain, out


@pytest.mark.usefixtures("few_at_a_time")
@pytest.mark.parametrize("name", OPTIONS)
def test_equal_to_the_plain_formula(name, blocks):
    close(*both_ways(*qkv(), **OPTIONS[name]))
    assert blocks


@pytest.mark.usefixtures("few_at_a_time")
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("T", "S"), [(5, 11), (11, 11), (1, 7), (7, 29)])
@pytest.mark.parametrize("lead", [(), (3,), (7, 3), (2, 5, 3)], ids=str)
def test_equal_for_any_number_of_leading_axes(lead, T, S, causal):
    close(*both_ways(*qkv(lead=lead, T=T, S=S), causal=causal))


@pytest.mark.usefixtures("few_at_a_time")
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", OPTIONS)
def test_the_dtype_stays_and_the_inputs_too(name, dtype):
    options = {n: x.astype(dtype) if n == "bias" else x for n, x in OPTIONS[name].items()}
    inputs = qkv(dtype=dtype)
    copies = [x.copy() for x in inputs]
    plain, out = both_ways(*inputs, **options)
    assert out.dtype == plain.dtype == np.dtype(dtype)
    close(out, plain, dtype)
    for x, copy in zip(inputs, copies, strict=True):
        np.testing.assert_array_equal(x, copy)


@pytest.mark.usefixtures("few_at_a_time")
def test_an_empty_row_is_zeros_next_to_scores_of_ten_thousand():
    q, k, v = qkv()
    q, k = 1e2 * q, 1e2 * k
    plain, out = both_ways(q, k, v, mask=some_mask())
    close(plain, out)
    close(out[0, :, 2], np.zeros((H, D_V)))
    _, out = both_ways(q, k, v, bias=np.full((T, 1), -np.inf), causal=True)
    close(out, np.zeros((B, H, T, D_V)))


@pytest.mark.usefixtures("few_at_a_time")
@pytest.mark.parametrize("causal", [False, True])
def test_heads_apart_in_memory_and_keys_that_several_share(causal):
    """As multi-head attention hands them in: split from the width, keys broadcast to a group."""
    rng = np.random.default_rng(5)
    q = rng.standard_normal((B, T, 2, H, 7)).transpose(0, 2, 3, 1, 4)  # (B, 2, H, T, d_k)
    k, v = rng.standard_normal((2, B, S, 2, 1, 7)).transpose(0, 1, 3, 4, 2, 5)
    k, v = (np.broadcast_to(x, (B, 2, H, S, 7)) for x in (k, v))
    apart = both_ways(q, k, v, causal=causal)
    close(*apart)
    close(apart[1], both_ways(*map(np.ascontiguousarray, (q, k, v)), causal=causal)[1])


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("shape", [(2, 3, 5, 11), (7, 5, 11), (5, 11), (2, 3, 5, 11, 11)], ids=str)
@pytest.mark.usefixtures("few_at_a_time")
def test_every_score_is_in_one_block_and_blocks_are_small(shape, causal):
    times = np.zeros(shape, int)
    n_rows = memory_efficient.CAUSAL_ROWS if causal else memory_efficient.ROWS
    for heads, rows in memory_efficient._blocks(shape, causal):
        block = times[heads][..., rows, :]
        block += 1
        assert block.size <= max(memory_efficient.IN_CACHE, n_rows * shape[-1])
        assert rows.stop - rows.start == block.shape[-2]
    assert (times == 1).all()


@pytest.mark.parametrize(("T", "many"), [(T, B * H * T * S), (1, 0)])
def test_few_scores_and_one_query_take_the_plain_formula(T, many, monkeypatch):
    """So short sentences give the same to the last bit, and decoding is no slower."""
    monkeypatch.setattr(memory_efficient, "MANY", many)
    monkeypatch.setattr(
        scaled_dot_product, "memory_efficient_attention", lambda *_: pytest.fail("in blocks")
    )
    mask = some_mask()[..., :T, :]
    plain, out = both_ways(*qkv(dtype="float32", T=T), mask=mask, causal=True)
    np.testing.assert_array_equal(plain, out)


@pytest.mark.parametrize("causal", [False, True])
def test_many_queries_take_a_fraction_of_the_memory_of_their_scores(causal):
    q, k, v = np.random.default_rng(6).standard_normal((3, 4, 1021, 8), dtype=np.float32)

    def attend():
        return qn.scaled_dot_product_attention(q, k, v, causal=causal, need_weights=False)

    assert numpy_peak(attend) < 4 * 1021**2 * 4 / 4
