"""The exercises behind the core of the chapter on the whole Transformer."""

from __future__ import annotations

from qkv.exercises.checks import as_array, as_number, exercise, is_close, reject, reject_each

__all__ = ["sizes_without_error", "smallest_vocabulary"]


@exercise("transformer-5")
def sizes_without_error(answer: object) -> str:
    """(S, T) at which scores q @ k raise no error in any attention, with d_k = 8: (8, 8)."""
    sizes = as_array(answer)
    reject(
        sizes.shape != (2,),
        "Two numbers were asked for.",
        "Write S and T as a pair, such as (6, 7).",
    )
    reject_each(
        sizes,
        ([6, 7], "These are the sizes that raise an error.", "Which two axes does q @ k pair up?"),
        ([32, 32], "That is d_model.", "Queries and keys of one head: how wide are they?"),
        ([4, 4], "That is the number of heads.", "How wide is one head?"),
    )
    source, target = sizes.tolist()
    reject(
        source != 8,
        "The encoder's attention still raises an error.",
        "q is (S, d_k) there, and so is k. When can q @ k be computed?",
    )
    reject(
        target != 8,
        "The decoder's self-attention still raises an error.",
        "It has T queries and T keys.",
    )
    return "right: (8, 8). One test with S = T = d_k would have missed this bug."


@exercise("transformer-6")
def smallest_vocabulary(answer: object) -> str:
    """Smallest V at which the base model, without biases, rounds to 65 million: 39,841."""
    got = as_number(answer)
    reject_each(
        got,
        (39_840, "One too few.", "64,500,000 must be reached."),
        (40_818, "That reaches 65.0 million.", "From which number on is a count rounded to 65?"),
        (40_817, "That reaches 65.0 million.", "From which number on is a count rounded to 65?"),
        (19_921, "The table was counted twice.", "Both languages and the output share one table."),
        (13_281, "The table was counted three times.", "It is stored once."),
    )
    reject(0 < abs(got - 39_841) < 20, "Close.", "Divide exactly, then round up.")
    reject(
        not is_close(got, 39_841.0),
        "Not this number.",
        "Take away what does not depend on V. How much does one more word cost?",
    )
    return "right: (64,500,000 − 44,101,632) / 512, rounded up."
