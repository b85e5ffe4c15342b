"""What attention refuses, word for word, in both rooms."""

import numpy as np
import pytest

import qkv.numpy as qn
from tests.helpers.rooms import ROOMS, close, qkv

REFUSED = [
    (
        lambda q, k, v, to: ((q, k[..., :4], v), {}),
        "k must be (B, H, S, d_k) = (2, 3, S, 7), got (2, 3, 11, 4): check W_k's output width",
    ),
    (
        lambda q, k, v, to: ((q, k[0], v), {}),
        "k must be (B, H, S, d_k) = (2, 3, S, 7), got (3, 11, 7): "
        "q, k and v share all axes but the last two",
    ),
    (
        lambda q, k, v, to: ((q, k, v[:, :, :5]), {}),
        "v must be (B, H, S, d_v) = (2, 3, 11, d_v), got (2, 3, 5, 13): each key has one value",
    ),
    (
        lambda q, k, v, to: ((q[0, 0], k[0, 0, :, :4], v[0, 0]), {}),
        "k must be (S, d_k) = (S, 7), got (11, 4): check W_k's output width",
    ),
    (
        lambda q, k, v, to: ((q[None], k[None, ..., :4], v[None]), {}),
        "k must be (..., S, d_k) = (1, 2, 3, S, 7), got (1, 2, 3, 11, 4): check W_k's output width",
    ),
    (
        lambda q, k, v, to: ((q[0, 0, 0], k, v), {}),
        "q must be (..., T, d_k), got (7,): one query is a sequence of one, q[None, :]",
    ),
    (
        lambda q, k, v, to: ((q[..., :0], k[..., :0], v), {}),
        "d_k must be at least 1, got q = (2, 3, 5, 0): check W_q's output width",
    ),
    (
        lambda q, k, v, to: ((to([1, 2]), k, v), {}),
        "q must be a float array, got int64: convert it first",
    ),
    (
        lambda q, k, v, to: (([[1.0]], k, v), {}),
        "q must be a float array, got list: convert it first",
    ),
    (
        lambda q, k, v, to: ((q, k, to(np.float32(v))), {}),
        "v must be float64 as q is, got float32: convert it",
    ),
    (
        lambda q, k, v, to: ((q, k, v), {"mask": to(np.ones((5, 11), int))}),
        "mask must be a bool array, got int64: "
        "True = may attend, so write mask == 1 where 1 means keep",
    ),
    *(
        (
            lambda q, k, v, to, dtype=dtype, least=least: (
                (q, k, v),
                {"mask": to(np.full((5, 11), least, dtype))},
            ),
            f"mask must be a bool array, got {dtype}: True = may attend: "
            "pass 0 and -inf as bias=, or as mask == 0, and 0 and 1 as mask == 1",
        )
        for dtype, least in (("float64", -np.inf), ("float32", 0), ("float16", -np.inf))
    ),
    (
        lambda q, k, v, to: ((q, k, v), {"mask": to(np.ones((2, 11), bool))}),
        "mask must broadcast to (B, H, T, S) = (2, 3, 5, 11), got (2, 11): "
        "a padding mask is (B, 1, 1, S), a causal one (1, 1, T, S)",
    ),
    (
        lambda q, k, v, to: ((q[0], k[0], v[0]), {"bias": to(np.ones((1, 1, 5, 11)))}),
        "bias must broadcast to (B, T, S) = (3, 5, 11), got (1, 1, 5, 11): "
        "drop the leading axes of bias",
    ),
    (
        lambda q, k, v, to: ((k, q, q), {"causal": True}),
        "T must be at most S = 5, got 11: the queries are the last T of the S positions",
    ),
]


@pytest.mark.parametrize(("room", "to"), ROOMS)
@pytest.mark.parametrize(("spoil", "words"), REFUSED, ids=[words[:40] for _, words in REFUSED])
def test_attention_refuses(spoil, words, room, to):
    arrays, options = spoil(*map(to, qkv()), to)
    with pytest.raises(ValueError) as error:  # noqa: PT011 (the whole text is compared below)
        room.scaled_dot_product_attention(*arrays, **options)
    assert str(error.value) == f"scaled_dot_product_attention: {words}"


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_both_ways_out_of_a_float_mask_give_what_it_means(room, to):
    """What the refusal says to write is right, for 0 and −∞ and for 1 and 0."""
    q, k, v = map(to, qkv())
    allowed = to(np.random.default_rng(0).random((5, 11)) > 0.4)
    expected = room.scaled_dot_product_attention(q, k, v, mask=allowed)[0]
    added = to(np.where(np.asarray(allowed), 0, -np.inf))
    close(room.scaled_dot_product_attention(q, k, v, bias=added)[0], expected)
    close(room.scaled_dot_product_attention(q, k, v, mask=added == 0)[0], expected)
    close(room.scaled_dot_product_attention(q, k, v, mask=(allowed * 1.0) == 1)[0], expected)


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_softmax_and_additive_attention_refuse(room, to):
    q, k, v = map(to, qkv())
    w_q, w_k, w_s = (to(np.ones(shape)) for shape in ((7, 17), (7, 17), (17,)))
    calls = {
        "softmax: axis must be one of the 2 of x = (3, 4), got 2: keys are -1": lambda: (
            room.softmax(to(np.ones((3, 4))), axis=2)
        ),
        "softmax: x must be a float array, got int64: convert it first": lambda: room.softmax(
            to([1, 2])
        ),
        "additive_attention: w_q must be (d_q, d_a) = (7, d_a), got (17,): "
        "its rows are the width of q": lambda: room.additive_attention(q, k, v, w_s, w_k, w_s),
        "additive_attention: w_k must be (d_k, d_a) = (7, 17), got (7, 16): "
        "w_q and w_k share their output width": lambda: room.additive_attention(
            q, k, v, w_q, w_k[:, 1:], w_s
        ),
        "additive_attention: w_s must be (d_a,) = (17,), got (7, 17): "
        "w_s is one vector as wide as w_q's output": lambda: room.additive_attention(
            q, k, v, w_q, w_k, w_k
        ),
    }
    for words, call in calls.items():
        with pytest.raises(ValueError) as error:  # noqa: PT011 (compared below)
            call()
        assert str(error.value) == words


def test_backward_refuses_a_gradient_that_is_not_the_outputs():
    q, k, v = qkv()
    attend, backward = qn.scaled_dot_product_attention, qn.scaled_dot_product_attention_backward
    out, weights = attend(q, k, v)
    words = r"dout must be \(B, H, T, d_v\) = \(2, 3, 5, 13\), got \(2, 3, 5, 7\)"
    with pytest.raises(ValueError, match=words):
        backward(q, q, k, v)
    with pytest.raises(ValueError, match=r"weights must be \(B, H, T, S\) = \(2, 3, 5, 11\)"):
        backward(out, q, k, v, weights=weights[0])
    with pytest.raises(ValueError, match=r"dout must be \(2, 3, 5, 11\), got"):
        qn.softmax_backward(out, weights)
