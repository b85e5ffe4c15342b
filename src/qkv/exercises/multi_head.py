"""The exercises of the chapter on multi-head attention: the check of each answer."""

from __future__ import annotations

import itertools
import math
from typing import Any, TypeAlias

import numpy as np

from qkv.exercises.checks import (
    TWO_DECIMALS,
    as_array,
    as_function,
    as_number,
    exercise,
    is_close,
    reject,
    reject_each,
)
from qkv.language import gettext
from qkv.numpy import merge_heads, softmax, split_heads

Array: TypeAlias = np.ndarray[Any, Any]
GIB = 2**30
NEAR = {np.float64: 1e-5, np.float32: 1e-3}  # a layer may compute in float32 what is float64


@exercise("multi_head-1")
def join_and_mix(answer: object) -> str:
    """Two heads give 6 and 7; W_O = [[1, 1], [2, −1]]."""
    row = as_array(answer, (2,), "W_O has two columns: one number each.")
    reject_each(
        row,
        ([6, 7], "That is step 4: the two heads, joined.", "One matrix is left."),
        ([7, 6], "These are the two heads, in another order.", "Head 1 comes first; then W_O."),
        (
            [13, 5],
            "W_O was multiplied from the other side, or transposed.",
            "joined @ W_O: column 1 of W_O makes the first number.",
        ),
        (
            [6.5, 6.5],
            "The heads were averaged.",
            "Heads are joined side by side; W_O decides how they are mixed.",
        ),
        (
            [6, 0],
            "Head 1 has read the values of head 2, and head 2 those of head 1.",
            "Each head has values of its own.",
        ),
        tolerance=1e-3,
    )
    reject(
        not is_close(row, [20, -1], 1e-3),
        "Not these two.",
        "First one number a head: weights times values, added up. Then joined @ W_O.",
    )
    return "right: each number of the output can use both heads."


@exercise("multi_head-2")
def count_parameters(answer: object) -> str:
    """Parameters of 12 and of 24 heads of width 64 at d_model = 768."""
    first, second = as_array(answer, (2,), "First 12 heads, then 24.").tolist()
    with_12 = 4 * 768 * 768
    reject(
        first == 3 * 768 * 768,
        "One matrix is missing.",
        "Three project. Which one mixes the heads afterwards?",
    )
    reject(
        first == 12 * with_12,
        "Each head was counted at full width.",
        "A head projects to 64 numbers, not to 768.",
    )
    reject(first == with_12 + 4 * 768, "Biases are counted.", "The question leaves them out.")
    reject(
        first == 4 * 768 * 64,
        "That is one head.",
        "There are 12 of them, side by side.",
    )
    reject(first != with_12, "Not the first.", "How wide are the queries of all 12 heads together?")
    reject(
        second == with_12,
        "The second would be right if d_k fell to 32.",
        "Here d_k stays 64. How wide are 24 such heads together?",
    )
    reject(
        second == 3 * 768 * 24 * 64 + 768 * 768,
        "W_O is counted as before.",
        "It takes the joined heads back to d_model. How wide are they joined?",
    )
    reject(second != 2 * with_12, "Not the second.", "Each of the four has a side of 24 · 64.")
    return "right: what counts is the width of all heads together."


@exercise("multi_head-3")
def tied_rows(answer: object) -> str:
    """Two rows of weights on dogs, chase, cats, here: different, each equal on the two nouns."""
    rows = as_array(answer, (2, 4), "Two rows, one a head, of four weights each.").astype(float)
    reject(
        not is_close(rows.sum(1), [1, 1], 2 * TWO_DECIMALS) or (rows < 0).any(),
        "These are not rows of weights.",
        "What softmax gives is 0 or more, and each row sums to 1.",
    )
    reject(
        np.abs(rows[0] - rows[1]).max() < 1e-3,
        "The two rows are the same.",
        "She says that her rows differ. Give two that do.",
    )
    tied = np.abs(rows[:, 0] - rows[:, 2]) < 1e-9
    reject(
        not tied.any(),
        "With these rows the outputs of the two sentences differ.",
        "Write the output of one head for both sentences. When are the two sums equal?",
    )
    reject(
        not tied.all(),
        "One head still tells the sentences apart.",
        "It is enough that one of the two heads can. Neither may.",
    )
    reject(
        not is_close(rows[:, 1], [0.2, 0.2], TWO_DECIMALS),
        "These rows refute her, but *chase* should have 0.2 in both.",
        "Share out the other 0.8 among the three nouns.",
    )
    return "right. Two rows may differ in what does not matter: look inside each row."


@exercise("multi_head-4")
def whole_layer(answer: object) -> str:
    """`attend(x, memory, W_Q, W_K, W_V, W_O, n_heads, mask)`, the mask (B, S)."""
    function = as_function(answer)
    for sizes, dtype in itertools.product(
        ((2, 3, 5, 2, 3), (3, 4, 2, 4, 2), (2, 5, 5, 1, 4), (1, 2, 6, 3, 2), (4, 4, 4, 4, 3)),
        (np.float64, np.float32),
    ):
        x, memory, weights, mask = _drawn(*sizes, dtype)
        inputs = (x, memory, *weights, sizes[3])
        got = _read(function(*inputs, mask), x.shape, sizes)
        right = _multi_head(*inputs, mask[:, None, None])
        if is_close(got, right, NEAR[dtype]):
            continue
        _reject_faults(got, inputs, mask[:, None, None])
        reject(
            is_close(got, _multi_head(*inputs, np.array(True)), 1e-3),
            "The mask is not used.",
            "Scores of padding become −∞ before softmax.",
        )
        reject(
            is_close(got, _multi_head(*inputs, ~mask[:, None, None]), 1e-3),
            "The mask is inverted.",
            "True = allowed. Which scores become −∞?",
        )
        reject(
            is_close(got, _multi_head(x, x, *inputs[2:], np.array(True)), 1e-3),
            "Keys and values are made of x.",
            "They come from `memory`.",
        )
        reject(
            sizes[0] == sizes[3] and is_close(got, _multi_head(*inputs, mask[:, None]), 1e-3),
            "The padding of sentence h is blocked in head h.",
            "Scores are (B, H, T, S). Which axes has the mask, seen from the right?",
        )
        reject(
            is_close(got, right, 1e-3),
            "Nearly right: the numbers differ by less than 0.001.",
            "Is a blocked key's score −∞, and is every factor exact?",
        )
        reject(
            len(memory) > 1 and is_close(got[0], right[0], 1e-3),
            "The first sentence is right, another one is not.",
            "Give each sentence of a batch another padding, and another number of heads than B.",
        )
        _reject_rest(sizes, dtype)
    return "right: a whole layer, with a mask, for any number of sentences and heads."


@exercise("multi_head-5")
def mended_layer(answer: object) -> str:
    """The causal layer whose heads were merged without a swap, mended."""
    function = as_function(answer)
    for sizes, dtype in itertools.product(
        ((1, 4, 4, 2, 3), (2, 5, 5, 3, 2), (3, 3, 3, 3, 3), (2, 4, 4, 1, 2)),
        (np.float64, np.float32),
    ):
        x, _, weights, _ = _drawn(*sizes, dtype)
        inputs, causal = (x, x, *weights, sizes[3]), np.tri(sizes[1], dtype=bool)
        got = _read(function(x, *weights, sizes[3]), x.shape, sizes)
        if is_close(got, _multi_head(*inputs, causal), NEAR[dtype]):
            continue
        reject(
            is_close(got, _multi_head(*inputs, causal, fault="merge"), 1e-3),
            "The fault is still there.",
            "Put the position of its word into each row, and follow the numbers line by line.",
        )
        reject(
            is_close(got, _multi_head(*inputs, np.array(True)), 1e-3),
            "No key is blocked any more.",
            "The mask was right: leave it.",
        )
        _reject_faults(got, inputs, causal)
        _reject_rest(sizes, dtype)
    return "right: undo the split in reverse, swap first and reshape then."


@exercise("multi_head-6")
def switched_off(answer: object) -> str:
    """`dense`, of 1 to 36, with which head 2 of two heads of width 3 writes nothing."""
    w_o = as_array(answer, shape=(6, 6)).astype(float)
    dense = np.arange(1.0, 37).reshape(6, 6)
    reject(
        is_close(w_o, dense), "`dense` is unchanged.", "Which of its numbers does head 2 multiply?"
    )
    reject(not w_o.any(), "Now head 1 is off too.", "Leave the part that head 1 is multiplied by.")
    reject(
        is_close(w_o[:, 3:], np.zeros((6, 3))) and bool(w_o[3:].any()),
        "The last columns are zero, and head 2 still writes into the first.",
        "joined @ W_O: which rows are multiplied by the numbers of head 2?",
    )
    reject(
        is_close(w_o[:3], np.zeros((3, 6))),
        "This switches off head 1.",
        "Head 2 fills the last three columns of what is joined.",
    )
    reject(
        not is_close(w_o[3:], np.zeros((3, 6)), 1e-12),
        "Head 2 still writes.",
        "Which numbers of W_O are multiplied by columns 3 to 5 of what is joined?",
    )
    reject(
        not is_close(w_o, np.vstack([dense[:3], np.zeros((3, 6))])),
        "Head 2 is off, but what head 1 adds has changed.",
        "Copy `dense`, and leave the numbers that head 1 is multiplied by.",
    )
    return "right: rows 3 to 5 of W_O are all that head 2 can write with."


@exercise("multi_head-7")
def cache_bytes(answer: object) -> str:
    """GiB of 32 layers, 8 heads of keys and values, d_k = d_v = 128, 32768 tokens, float16."""
    got = as_number(answer)
    right = 32 * 2 * 8 * 128 * 32768 * 2 / GIB  # 4
    reject(
        is_close(got, right * 4, 1e-2),
        "That is with 32 heads of keys and values.",
        "The 32 are heads of queries. Which heads are kept?",
    )
    reject(
        is_close(got, right / 2, 1e-2),
        "A factor 2 is missing.",
        "Keys and values are kept, and a float16 number takes two bytes.",
    )
    reject(
        is_close(got, right / 4, 1e-2),
        "A factor 4 is missing.",
        "Keys and values are kept, and a float16 number takes two bytes.",
    )
    reject(
        is_close(got, right * 2, 1e-2),
        "A factor 2 too many.",
        "Keys and values: 2. Bytes of a float16 number: 2. And nothing else.",
    )
    reject(
        is_close(got, right * 8, 1e-2),
        "That is with 32 heads of keys and values, and a factor 2 too many.",
        "Which heads are kept? And how many bytes has a float16 number?",
    )
    reject(is_close(got, right / 32, 1e-2), "That is one layer.", "There are 32 layers.")
    reject(is_close(got, right * GIB, 1e-2), "That is in bytes.", "Divide by 2 to the power 30.")
    reject(
        is_close(got, right * GIB / 1e9, 5e-3),
        "That is in units of 10 to the power 9 bytes, GB.",
        "A GiB has 2 to the power 30 bytes.",
    )
    reject(
        not is_close(got, right, 5e-3),
        "Not this number.",
        "Layers · 2 (keys and values) · heads · width · tokens · bytes of a number.",
    )
    return "right. With keys and values for all 32 heads it would be four times as much."


def _drawn(B: int, T: int, S: int, H: int, d: int, dtype: type) -> tuple[Any, ...]:
    """x, memory, four matrices, and a (B, S) mask with another padding in each sentence."""
    rng = np.random.default_rng(B + T + S)
    x: Array = rng.normal(size=(B, T, H * d)).astype(dtype)
    memory: Array = rng.normal(size=(B, S, H * d)).astype(dtype)
    weights = rng.normal(size=(4, H * d, H * d)).astype(dtype) / dtype(math.sqrt(H * d) / 2)
    lengths = S - np.arange(1, B + 1) % S
    return x, memory, weights, np.arange(S) < lengths[:, None]


def _multi_head(*inputs: Any, fault: str = "") -> Array:
    """Multi-head attention, or one with a fault.

    Args:
        inputs: x, memory, four matrices, n_heads, and a mask that broadcasts to (B, H, T, S).
    """
    x, memory, w_q, w_k, w_v, w_o, n_heads, mask = inputs

    def split(z: Array) -> Array:
        B, T, width = z.shape
        if fault in ("split", "both"):
            return z.reshape(B, n_heads, T, width // n_heads)
        if fault == "turns":
            return z.reshape(B, T, width // n_heads, n_heads).transpose(0, 3, 1, 2)
        return split_heads(z, n_heads)

    q, k, v = split(x @ w_q), split(memory @ w_k), split(memory @ w_v)
    width = x.shape[-1] if fault == "scale" else q.shape[-1]
    scores = q @ k.swapaxes(-1, -2) / (1 if fault == "no scale" else math.sqrt(width))
    weights = softmax(np.where(mask, scores, -np.inf))
    if fault == "mask after":
        weights = softmax(scores) * mask
    if fault == "mask times":
        weights = softmax(scores * mask)
    context = weights @ v
    merged = context.reshape(x.shape) if fault in ("merge", "both") else merge_heads(context)
    return merged if fault == "no W_O" else merged @ w_o


def _reject_faults(got: Array, inputs: tuple[Any, ...], mask: Array) -> None:
    for fault, mistake, hint in (
        (
            "split",
            "The width is split without a swap.",
            "Reshape to (B, T, H, d_k) first. Which two axes change places then?",
        ),
        (
            "both",
            "The width is split without a swap, and merged without one.",
            "Which words does head 1 see then? Compare with one head after the other.",
        ),
        (
            "mask after",
            "The mask comes after softmax: the rows no longer sum to 1.",
            "Which scores give a weight of 0?",
        ),
        (
            "mask times",
            "The scores are multiplied by the mask: a score of 0 still gets weight.",
            "Which score gives a weight of 0?",
        ),
        (
            "turns",
            "Each head has every H-th column.",
            "Head 1 has the first d_k columns. In which order are H and d_k reshaped?",
        ),
        (
            "merge",
            "The heads are merged without a swap.",
            "Which axis must stand beside d_v before the two become one?",
        ),
        (
            "scale",
            "The scores are divided by √d_model.",
            "How many products are added in one score?",
        ),
        ("no scale", "The scores are not divided.", "What does chapter 4 divide by?"),
        ("no W_O", "The heads are joined and not mixed.", "One of the five steps is missing."),
    ):
        reject(is_close(got, _multi_head(*inputs, mask, fault=fault), 1e-3), mistake, hint)


def _read(got: object, shape: tuple[int, ...], sizes: tuple[int, ...]) -> Array:
    """The result of a reader's layer, as an array of the shape that it should have."""
    array = as_array(got)
    reject(
        array.shape != shape,
        gettext("For (B, T, S, H, d_k) = {sizes} the shape is {got}.").format(
            sizes=sizes, got=array.shape
        ),
        gettext("It should be (B, T, d_model) = {shape}.").format(shape=shape),
    )
    reject(
        not np.isfinite(array).all(),
        "Some numbers are NaN or infinite.",
        "Is a row blocked as a whole, or 0 · ∞ computed?",
    )
    return array


def _reject_rest(sizes: tuple[int, ...], dtype: type) -> None:
    reject(
        True,
        gettext("With (B, T, S, H, d_k) = {sizes} in {dtype} the numbers differ.").format(
            sizes=sizes, dtype=np.dtype(dtype)
        ),
        "Compare with `Heads` above, or with one head after the other in a loop.",
    )
