"""The exercises of the chapter on decoding: the check of each answer."""

from __future__ import annotations

from qkv.exercises.checks import as_letters, exercise, reject
from qkv.exercises.decoding_further import flip_penalty, nucleus
from qkv.exercises.decoding_step import one_step

__all__ = ["flip_penalty", "kinds_of_error", "nucleus", "one_step", "proofs", "three_searches"]

GREEDY, BEAM, LIKELIEST = "i eat", "we sleep", "they swim"


@exercise("decoding-1")
def three_searches(answer: object) -> str:
    """The sentences of greedy decoding, of a beam of 2, and the likeliest of all."""
    parts = list(answer) if isinstance(answer, list | tuple) else []
    reject(
        len(parts) != 3 or not all(isinstance(part, str) for part in parts),
        "Three sentences were asked for.",
        'Write them as a list of strings, such as ["I swim", "I swim", "we eat"].',
    )
    greedy, beam, likeliest = (" ".join(str(part).lower().split()) for part in parts)
    reject(
        greedy != GREEDY,
        "The first sentence is not that of greedy decoding.",
        "Take the largest number of the first row, then the largest of the row that it leads to.",
    )
    reject(
        beam == GREEDY,
        "The second sentence is again that of greedy decoding.",
        "With two hypotheses, continue both of the words that were kept, and compare products.",
    )
    reject(
        beam == LIKELIEST,
        "Beam search with k = 2 never sees the second sentence.",
        "Which two words are left after the first step?",
    )
    reject(
        beam != BEAM,
        "The second sentence is not that of k = 2.",
        "Six sentences begin with a word that was kept. Multiply out all six.",
    )
    reject(
        likeliest == BEAM,
        "The third sentence is not the likeliest.",
        "Look at the sentences that begin with the word that the beam dropped.",
    )
    reject(
        likeliest != LIKELIEST,
        "The third sentence is not the likeliest of the seven.",
        "A second word that is certain costs nothing.",
    )
    return "right: 0.19, 0.195 and 0.2. A beam of 3 would find the third."


@exercise("decoding-2")
def kinds_of_error(answer: object) -> str:
    """Proven search errors: A, C, E, F. A perfect search is right in A and F."""
    parts = list(answer) if isinstance(answer, list | tuple) else []
    reject(
        len(parts) != 2,
        "Two strings of letters were asked for.",
        'Write first the search errors, then what a perfect search gets right: ["BD", "BDF"].',
    )
    search, perfect = (as_letters(part, "ABCDEF") for part in parts)
    reject(
        "D" in search,
        "In D nobody looked for a likelier sentence.",
        "A search error is proved by a sentence with a higher score. Is one known in D?",
    )
    reject(
        "B" in search,
        "In B the search found the likeliest sentence.",
        "Compare the first column with the third.",
    )
    reject(
        search == {"A", "F"},
        "Two search errors are missing.",
        "A likelier sentence that was missed need not be the right one.",
    )
    reject(
        search != set("ACEF"),
        "The first string is not complete.",
        "Compare the first column with the third, row by row.",
    )
    reject(
        perfect >= {"E"},
        "In E a perfect search returns another wrong sentence.",
        "Which sentence does a perfect search return? Look at the third column.",
    )
    reject(
        perfect != {"A", "F"},
        "The second string is wrong.",
        "In which rows is the likeliest sentence as likely as the right one?",
    )
    return "right. B and D are model errors; C and E are errors of both kinds."


@exercise("decoding-3")
def proofs(answer: object) -> str:
    """The results that prove a bug in a beam search: B, D, F."""
    letters = as_letters(answer, "ABCDEF")
    reject(
        "A" in letters,
        "A can happen in a program without a bug.",
        "The words that greedy decoding chose are one hypothesis. Must it stay in the beam?",
    )
    reject(
        "C" in letters,
        "C can happen in a program without a bug.",
        "With k = 8 other hypotheses are kept. What may those displace at a later step?",
    )
    reject(
        "E" in letters,
        "E can happen in a program without a bug.",
        "Exercise decoding-1 has such a sentence.",
    )
    reject(
        "B" not in letters,
        "One proof is missing.",
        "How many hypotheses are left at each step when k = 1?",
    )
    reject(
        "D" not in letters,
        "Another proof is missing.",
        "The score has a definition. By which other way can it be computed?",
    )
    reject(
        "F" not in letters,
        "One more proof is missing.",
        "How many beginnings of one token are there, and how many of them are dropped?",
    )
    return "right. A wider beam can be worse without a bug. A wrong score cannot."
