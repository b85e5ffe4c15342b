"""The exercises of the chapter on the whole Transformer: the check of each answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import qkv.numpy as qn
from qkv.exercises.checks import (
    WrongAnswer,
    as_array,
    as_function,
    as_number,
    exercise,
    is_close,
    reject,
    reject_choice,
    reject_each,
)
from qkv.exercises.choices import Letters
from qkv.language import gettext


@exercise("transformer-1")
def shapes_by_hand(answer: object) -> str:
    """Memory, one head's queries, weights, logits: S 9, T 6, d_model 48, H 4, V 423."""
    parts = list(answer) if isinstance(answer, list | tuple | np.ndarray) else []
    reject(
        len(parts) != 4 or any(isinstance(part, int) for part in parts),
        "Four shapes were asked for.",
        "Write them as a list of four tuples, such as [(2, 3), (4, 5), (6, 7, 8), (9, 10)].",
    )
    memory, queries, weights, logits = (tuple(as_array(part).ravel().tolist()) for part in parts)
    sizes = zip((memory, queries, weights, logits), (3, 3, 4, 3), strict=True)
    reject(
        any(shape[:1] == (1,) and len(shape) == n for shape, n in sizes),
        "These shapes have an axis for the batch.",
        "Leave out the axis of length 1.",
    )
    reject(memory == (48, 9), "In this book a token is a row.", "Put the tokens on the first axis.")
    reject(memory == (6, 48), "That is the decoder's length.", "How many tokens does it read?")
    reject(memory == (9, 12), "That is one head.", "The heads are joined before the layer ends.")
    reject(memory != (9, 48), "The first shape is wrong.", "What goes in equals what comes out.")
    reject(
        queries in ((9, 12), (9, 48)),
        "The second shape has the source's length.",
        "Which half asks in cross-attention?",
    )
    reject(
        queries == (6, 48), "The second shape is that of all heads.", "Four heads share d_model."
    )
    reject(queries == (4, 6, 12), "The second shape holds four heads.", "One head is asked.")
    reject(queries != (6, 12), "The second shape is wrong.", "A row for each token that asks.")
    reject(
        weights == (4, 9, 6),
        "Rows and columns of the third shape are exchanged.",
        "Whose tokens ask, and whose answer? A query is a row.",
    )
    reject(
        weights in ((4, 9, 9), (4, 6, 6)),
        "The third shape is that of a self-attention.",
        "Cross-attention has its queries from one text and its keys from another.",
    )
    reject(weights == (6, 9), "The third shape is that of one head.", "There are four heads.")
    reject(
        weights == (3, 4, 6, 9), "The third shape holds three layers.", "One attention is asked."
    )
    reject(weights != (4, 6, 9), "The third shape is wrong.", "Heads, then queries, then keys.")
    reject(
        logits in ((1, 423), (423,)),
        "The fourth shape is one row.",
        "How many tokens has the decoder read, and which of them get a prediction?",
    )
    reject(logits == (9, 423), "The source gets no logits.", "Which half predicts?")
    reject(logits == (6, 48), "That is before the last linear layer.", "One logit for each what?")
    reject(logits != (6, 423), "The fourth shape is wrong.", "A row of logits for each token read.")
    return "right. The number of layers appears in none of the four."


@exercise("transformer-2")
def count_by_hand(answer: object) -> str:
    """Parameters of a decoder layer: d_model 4, d_ff 10, no biases in attention: 246."""
    got = as_number(answer)
    reject_each(
        got,
        (278, "The attentions have no biases here.", "Which lines of the count are left out?"),
        (174, "That is an encoder layer.", "How many attentions has a decoder layer?"),
        (222, "The norms are missing.", "γ and β of each norm are learnt too."),
        (238, "One norm is missing.", "Each of the sub-layers has a norm of its own."),
        (182, "One attention is missing.", "Which two texts does a decoder layer read?"),
        (230, "Two norms are missing.", "Each of the sub-layers has a norm of its own."),
        (234, "Each norm has more than that.", "γ and β have d_model numbers each."),
        (
            232,
            "The feed-forward biases are missing.",
            "Each of its matrices has some.",
        ),
        (208, "Only matrices are counted.", "Which biases are there? γ and β are learnt too."),
        (374, "The matrices were counted once for each head.", "What is the width of a head?"),
        (64, "That is one attention.", "Count the other sub-layers and the norms as well."),
        (128, "That is two attentions.", "Count the feed-forward part and the norms as well."),
        (152, "The feed-forward part is missing.", "It has two matrices and two biases."),
    )
    reject(
        not is_close(got, 246.0),
        "Not this number.",
        "Count one attention, the feed-forward part and one norm. Then how many there are of each.",
    )
    return "right: 2 · 64 + 94 + 3 · 8."


@exercise("transformer-3", Letters("ABCDE"))
def evidence(letters: str) -> str:
    """The observations that refute "the decoder reads the encoder's last layer": B and D."""
    reject_choice(
        letters,
        "BD",
        "What does the claim forbid when the last layer is held, and what when it is destroyed?",
        (
            "AB",
            "You took every move of the logits for a refutation.",
            "Which layers had changed when they moved?",
        ),
    )
    return "right: hold the last layer and nothing may move; destroy it and something must."


Function = Callable[..., Any]


def _random_layer(rng: np.random.Generator) -> tuple[Function, Function, Function, list[Function]]:
    """Causal self-attention, cross-attention, feed-forward and three norms, no two alike."""
    layer = qn.DecoderLayer(8, 2, 12, norm_first=True, rng=rng, dtype=np.float64)
    assert layer.cross_attention is not None
    cross_attention = layer.cross_attention
    names = ("self_attention_add_norm", "cross_attention_add_norm", "feed_forward_add_norm")
    norms = [getattr(layer, name).norm for name in names]
    for norm in norms:
        for array in norm.params.values():
            array[...] = rng.normal(size=8)

    def attend(x: Any) -> Any:
        return layer.self_attention(x, causal=True)[0]

    def cross(x: Any, m: Any) -> Any:
        return cross_attention(x, m)[0]

    return attend, cross, layer.feed_forward, norms


@exercise("transformer-4")
def pre_norm_layer(answer: object) -> str:
    """`f(Y, M, attend, cross, ffn, norms)`: a decoder layer with pre-norm, (B, T, d_model)."""
    function, rng = as_function(answer), np.random.default_rng(4)
    attend, cross_attention, ffn, norms = _random_layer(rng)
    queries: list[int] = []  # how many rows each call of `cross` has asked for

    def cross(x: Any, m: Any) -> Any:
        queries.append(x.shape[1])
        return cross_attention(x, m)

    parts = attend, cross, ffn, norms
    one, two, three = norms
    for B, T, S in ((2, 5, 7), (3, 1, 4), (1, 6, 6)):
        Y, M = rng.normal(size=(B, T, 8)), rng.normal(size=(B, S, 8))
        try:
            got = np.asarray(function(Y.copy(), M.copy(), attend, cross, ffn, list(norms)))
        except WrongAnswer:
            reject(
                queries == [S],
                "`cross` was given the memory as its first argument.",
                "Which rows ask in cross-attention?",
            )
            raise
        A = Y + attend(one(Y))
        C = A + cross(two(A), M)
        if is_close(got, C + ffn(three(C))):
            continue
        reject(
            got.shape != Y.shape,
            gettext("The result has shape {shape}, not {expected}.").format(
                shape=got.shape, expected=Y.shape
            ),
            "How many rows does the decoder read?",
        )
        _name_layer(got, Y, M, parts)
        raise WrongAnswer(
            "This is no pre-norm decoder layer.",
            "Write three lines: each adds a sub-layer of a normalised input to that input.",
        )
    return "right. The running sum is never normed, so Y passes through all three sums."


def _name_layer(got: Any, Y: Any, M: Any, parts: Any) -> None:
    attend, cross, ffn, (one, two, three) = parts
    A = Y + attend(one(Y))
    C = A + cross(two(A), M)
    post = two(one(Y + attend(Y)) + cross(one(Y + attend(Y)), M))
    kept = one(Y) + attend(one(Y))
    kept = two(kept) + cross(two(kept), M)
    bare = cross(two(attend(one(Y))), M)
    normed = A + cross(two(A), two(M))
    from_y = Y + cross(two(A), M)
    first = Y + attend(Y)
    first = first + cross(first, M)
    no_cross = A + ffn(two(A)), A + ffn(three(A))
    after = Y + one(attend(Y))
    after = after + two(cross(after, M))
    bare_queries = A + cross(A, M)
    bare_end = C + ffn(C)
    bare_start = Y + attend(Y)
    bare_start = bare_start + cross(two(bare_start), M)
    before = Y + cross(one(Y), M)
    before = before + attend(two(before))
    shared = Y + attend(one(Y))
    shared = shared + cross(one(shared), M)
    backwards = Y + attend(three(Y))
    backwards = backwards + cross(two(backwards), M)
    reject_each(
        got,
        (three(post + ffn(post)), "That is post-norm.", "Where does the norm stand in pre-norm?"),
        (
            three(kept) + ffn(three(kept)),
            "The sums keep normalised rows.",
            "In pre-norm, what is added to the sub-layer's result?",
        ),
        (
            ffn(three(bare)),
            "The residual connections are missing.",
            "Each sub-layer's result is added to its input.",
        ),
        (
            normed + ffn(three(normed)),
            "The memory was normalised again.",
            "Which argument of `cross` gets the norm?",
        ),
        (
            from_y + ffn(three(from_y)),
            "The second sum starts from Y again.",
            "What was the first sub-layer's result added to, and where does that go?",
        ),
        (
            after + three(ffn(after)),
            "The norms stand after the sub-layers.",
            "In pre-norm, what does a sub-layer read?",
        ),
        (
            ffn(three(C)),
            "The last residual connection is missing.",
            "What is the feed-forward network's result added to?",
        ),
        (
            bare_start + ffn(three(bare_start)),
            "The first norm is missing.",
            "What does self-attention read?",
        ),
        (
            before + ffn(three(before)),
            "Cross-attention comes first here.",
            "What must be collected before the source is asked?",
        ),
        (
            shared + ffn(one(shared)),
            "One norm is used three times.",
            "Each sub-layer has a norm of its own.",
        ),
        (
            bare_queries + ffn(three(bare_queries)),
            "The second norm is missing.",
            "What does cross-attention make its queries of?",
        ),
        (bare_end, "The third norm is missing.", "What does the feed-forward network read?"),
        (first + ffn(first), "No norm is used.", "There are three norms, one for each sub-layer."),
        (no_cross[0], "The memory is not read.", "A decoder layer has three sub-layers."),
        (no_cross[1], "The memory is not read.", "A decoder layer has three sub-layers."),
        (
            backwards + ffn(one(backwards)),
            "The norms are used in another order.",
            "norms[0] belongs to the first sub-layer.",
        ),
        (three(C + ffn(three(C))), "There is one norm too many.", "Does the layer end in a norm?"),
    )


@exercise("transformer-5", Letters("ABCDEF"))
def tests_that_notice(letters: str) -> str:
    """The tests that notice that decoder layer i reads encoder layer i: C and F."""
    reject_choice(
        letters,
        "CF",
        "Which encoder layer does each decoder layer read here, and which should it read?"
        " Go through each test with its number of layers.",
        (
            "ABC",
            "You took every comparison of sizes or of logits for a test that notices.",
            "How many layers has each model, and does the fault change a shape?",
        ),
    )
    return "right. With one layer in each half the first encoder layer is the last."


@exercise("transformer-6", Letters("ABCDEF"))
def proofs_of_a_leak(letters: str) -> str:
    """The losses that prove that the answer is in the input: C and D."""
    reject_choice(
        letters,
        "CD",
        "For each line: how low can the loss be if the model does not read the answer itself?"
        " What else tells it something: the source, the number of words, its training?",
    )
    return "right. Words that nothing else can tell, drawn evenly from all V: only these are proof."


@exercise("transformer-7")
def sizes_without_error(answer: object) -> str:
    """(S, T, d_k) at which bug C raises an error, B and G do not: S = T, and d_k another."""
    source, target, d_k = as_array(
        answer, (3,), "Write S, T and d_k as a triple, such as (6, 7, 8)."
    ).tolist()
    reject(
        min(source, target, d_k) < 2 or any(n % 1 for n in (source, target, d_k)),
        "These are no sizes of at least 2.",
        "Give whole numbers; a size of 1 is broadcast.",
    )
    reject(
        (source, target, d_k) == (6, 7, 8),
        "These are the sizes at which all three raise an error.",
        "Which two lengths meet in B, and which in G?",
    )
    reject(
        source != target and d_k not in (source, target),
        "B and G still raise an error.",
        "G adds S rows to T rows. When does that fit?",
    )
    reject(
        source != target,
        "B still raises an error.",
        "A T × T mask meets T × S scores.",
    )
    reject(d_k == source, "Here C raises no error either.", "When can q @ k be computed?")
    return "right: with S = T two bugs pass unseen. One more size in common, and C does too."
