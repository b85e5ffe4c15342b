"""The exercises behind the core of the chapter on cost."""

from __future__ import annotations

from qkv.exercises.checks import as_letters, as_number, exercise, is_close, reject, reject_each

__all__ = ["batch_at_the_ridge", "what_a_faster_chip_helps"]


@exercise("cost-5")
def batch_at_the_ridge(answer: object) -> str:
    """2 B d² FLOPs at 120 · 10⁹ a second take as long as 4 d² bytes at 40 · 10⁹: B = 6."""
    batch = as_number(answer)
    reject_each(
        batch,
        (
            3,
            "That is the intensity of the ridge, in FLOPs a byte.",
            "How many FLOPs does a batch of B do with the four bytes of one weight?",
        ),
        (
            12,
            "One FLOP was counted for each weight and text.",
            "A multiplication and an addition.",
        ),
        (1.5, "The weights have two bytes there.", "A float32 number has four."),
        (24, "The bytes are those of float32 twice.", "Each weight is read once, four bytes."),
        (1 / 6, "That is upside down.", "More texts need more time to compute, not to read."),
    )
    reject(
        not is_close(batch, 6, 1e-3),
        "Not this batch.",
        "Write both times with B and d², and make them equal.",
    )
    return "right: below it the processor waits for the weights."


@exercise("cost-6")
def what_a_faster_chip_helps(answer: object) -> str:
    """Four times the peak, the same bandwidth: only B and E have 600 FLOPs a byte or more."""
    letters = as_letters(answer, "ABCDE")
    hints = {
        "A": "One text does two FLOPs with each weight of two bytes. What does it wait for?",
        "C": "One addition for six bytes. On which side of the ridge is that?",
        "D": "A batch shares the weights. Does it share the keys?",
    }
    for letter, hint in hints.items():
        reject(letter in letters, f"{letter} gains next to nothing.", hint)
    reject(letters != {"B", "E"}, "One is missing.", "Which do at least 600 FLOPs with each byte?")
    return "right: only what does 600 FLOPs a byte, twice the old ridge, becomes twice as fast."
