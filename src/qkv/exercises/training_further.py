"""The exercises of the chapter on training that stand behind its core: the check of each answer."""

from __future__ import annotations

from qkv.exercises.checks import as_array, as_number, exercise, is_close, reject, reject_each

__all__ = ["half_the_peak", "same_smoothing"]


@exercise("training-5")
def half_the_peak(answer: object) -> str:
    """The two steps at which Noam's rate is half of its peak, warm-up 4000: 2000 and 16000."""
    got = as_array(answer).ravel().astype(float)
    reject(
        got.size != 2,
        "Two steps were asked for.",
        "One stands before the peak, and one after it.",
    )
    early, late = sorted(got)
    reject_each(
        late,
        (8000, "The later step is wrong.", "After the peak the rate falls with the root."),
        (6000, "The rate does not fall in a line.", "It falls as 1 / √step."),
        (5657, "At this step it is 0.84 of the peak.", "1 / √step has to become half as large."),
    )
    reject(
        is_close(early, 1000.0),
        "The earlier step is wrong.",
        "Before the peak the rate rises in a line, from 0.",
    )
    reject(
        not is_close(got[got.argsort()], [2000.0, 16000.0]),
        "Not these steps.",
        "Which of the two terms of the minimum holds before the peak, and which after it?",
    )
    return "right: a line up to the peak, then 1 / √step. Neither d_model nor the factor matters."


@exercise("training-6")
def same_smoothing(answer: object) -> str:
    """ε of PyTorch's convention that equals ε = 0.1 spread over the V − 1 = 4 wrong words."""
    got = as_number(answer)
    reject_each(
        got,
        (0.1, "With 0.1 the right word would get 0.92.", "Write down q of a wrong word for both."),
        (0.08, "V and V − 1 are exchanged.", "PyTorch spreads ε over more words, so it needs …?"),
        (0.025, "That is the share of one wrong word.", "PyTorch's ε is the sum of V such shares."),
        (0.02, "That is ε / V.", "Set q of a wrong word equal in both conventions."),
        (0.5, "That is V times 0.1.", "How much does one wrong word get, of ε = 0.1?"),
        tolerance=1e-4,
    )
    reject(
        not is_close(got, 0.125, 1e-4),
        "Not this number.",
        "A wrong word gets 0.1 / 4 in one convention, and ε / 5 in the other.",
    )
    return "right: 0.1 · V / (V − 1). With V = 37,000 the two differ by less than 0.00001."
