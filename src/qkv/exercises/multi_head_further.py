"""The exercises behind the core of the chapter on multi-head attention."""

from __future__ import annotations

import numpy as np

from qkv.exercises.checks import as_array, as_number, exercise, is_close, reject

GIB = 2**30


@exercise("multi_head-5")
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


@exercise("multi_head-6")
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
