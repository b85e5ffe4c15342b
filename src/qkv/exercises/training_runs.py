"""The exercise of the chapter on training that diagnoses four runs from their curves."""

from __future__ import annotations

from collections.abc import Mapping

from qkv.exercises.checks import exercise, reject

__all__ = ["DIAGNOSES", "PANELS", "diagnose"]

# What each panel of the figure shows, and the other diagnoses that are on offer.
PANELS = {"A": "few pairs", "B": "rate too high", "C": "healthy", "D": "leak"}
DIAGNOSES = (*sorted(PANELS.values()), "loss on padding", "rate too low")

HINTS = {
    ("A", "healthy"): "Compare the two curves of A at the end. Which of them is about new pairs?",
    ("A", "leak"): "With a leak both losses fall, since both read the answers. Do both fall in A?",
    ("A", "rate too high"): "Its training loss falls smoothly to 0. Would it at too high a rate?",
    ("B", "few pairs"): "A run that learns its pairs by heart has a training loss near 0.",
    ("B", "rate too low"): "Too low a rate is slow from step 1. How low is B after 40 steps?",
    ("B", "healthy"): "Where does B end, and does it write what the sentence says?",
    ("C", "leak"): "Which of C and D can translate? Read what they write.",
    ("C", "loss on padding"): "Padding lowers one of the two curves only. Do the curves of C part?",
    ("C", "rate too low"): "The loss of C is small at the end, on new pairs too.",
    (
        "D",
        "healthy",
    ): "Its losses are low. What does it write?",
    ("D", "few pairs"): "Such a run fails on new pairs. Look at the validation loss of D.",
    ("D", "loss on padding"): "Padding makes the training loss smaller, and not the other one.",
}


@exercise("training-3")
def diagnose(answer: object) -> str:
    """One diagnosis for each of the panels A to D."""
    reject(
        not isinstance(answer, Mapping) or {str(key).upper() for key in answer} != set(PANELS),
        "A diagnosis for each of A, B, C and D was asked for.",
        'Write a dictionary, such as {"A": "healthy", "B": …}.',
    )
    assert isinstance(answer, Mapping)  # for the type checker
    said = {str(key).upper(): str(value).strip().lower() for key, value in answer.items()}
    unknown = [name for name in said.values() if name not in DIAGNOSES]
    reject(
        unknown,
        f"{', '.join(unknown)!r} is none of the diagnoses.",
        f"They are {', '.join(DIAGNOSES)}.",
    )
    for panel, name in sorted(said.items()):
        hint = HINTS.get(
            (panel, name), f"In {panel}, look at each curve's end, and at how fast it got there."
        )
        reject(name != PANELS[panel], f"{panel} is not “{name}”.", hint)
    return "right. What D writes shows its worth: of its two losses, neither looks like a fault."
