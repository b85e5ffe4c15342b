"""The test of order in the chapter on positions: the encoders on which an answer is tried."""

from __future__ import annotations

import numpy as np

from qkv.exercises.checks import as_function, exercise, reject
from qkv.exercises.positional_helpers import encoder, waves

FAINT = 1e-2  # the size of the faintest positions that have to be found


@exercise("positional-4")
def order_blind(answer: object) -> str:
    """`f(encode, x)` says whether outputs follow their tokens to any place; x is (B, T, d)."""
    function = as_function(answer)
    x = np.random.default_rng(9).normal(size=(3, 6, 8))
    rows = waves(6, 8)
    blind = bool(function(encoder(), x))
    sees = not bool(function(encoder(rows), x))
    reject(not blind and not sees, "True and False are swapped.", "True means: blind to order.")
    reject(
        not blind,
        "It calls attention without positions not blind.",
        "Outputs move with their tokens. Do you put both outputs into the same order before you "
        "compare, and do you allow for rounding?",
    )
    reject(
        not sees,
        "It calls a model with correct positions blind.",
        "x is (B, T, d). On which axis do the tokens stand, and does your test move them?",
    )
    reject(
        not function(encoder(waves(3, 8)[:, None]), x),
        "It calls the model with positions on the batch axis not blind.",
        "Each sentence gets one vector there. Do you compare a sentence with itself alone?",
    )
    reject(
        bool(function(encoder(slope=0.5), x)),
        "It misses a bias by distance.",
        "A reversed sentence keeps every distance. Which change of order does not?",
    )
    reject(
        bool(function(encoder(slope=0.5, circle=True), x)),
        "It misses a model that counts distances around a circle.",
        "Moving all tokens along by one keeps every distance on a circle. Try other orders too.",
    )
    for place in range(6):
        marked = np.zeros((6, 8))
        marked[place] = rows[3]
        reject(
            bool(function(encoder(marked), x)),
            f"It misses a model that marks position {place} alone.",
            "Does every token move to another place in your test?",
        )
    for sentence in range(3):
        reject(
            bool(function(encoder(rows, sentence=sentence), x)),
            f"It misses a model in which only sentence {sentence} has positions.",
            "The batch has several sentences. Do you compare all of them?",
        )
    reject(
        bool(function(encoder(rows, feature=True), x)),
        "It misses positions that move one number up and another down.",
        "What do a sum or an average show of that? Compare number by number.",
    )
    reject(
        bool(function(encoder(turn=True), x)),
        "It misses positions that rotate each output and keep its length.",
        "What does the length of a vector show of its direction? Compare number by number.",
    )
    for dtype in (np.float64, np.float32):
        name, y = np.dtype(dtype).name, x.astype(dtype)
        reject(
            not function(encoder(), y),
            f"In {name} it calls attention without positions not blind.",
            "Sums in another order round differently, by 1e-7 in float32. How much do you allow?",
        )
        reject(
            bool(function(encoder(FAINT * rows), y)),
            f"In {name} it misses positions of size {FAINT:g}.",
            "Small positions still move the outputs by far more than rounding. Mind the tolerance.",
        )
    return "right: it finds every position that was planted, and raises no false alarm."
