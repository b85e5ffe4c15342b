"""The exercises of "From text to vectors": right answers pass; each mistake meets its own hint."""

from collections import Counter
from itertools import pairwise

import numpy as np

from qkv.text import train_bpe
from tests.helpers.exercises import ExerciseAnswers


def softmax(z):
    e = np.exp(z - z.max())
    return e / e.sum()


def likeliest(x, table, vocabulary, k, share=softmax, sign=-1):
    logits = table @ x
    p = share(logits)
    return [(vocabulary[i], p[i]) for i in np.argsort(sign * logits)[:k]]


def with_share(share):
    return lambda *given: likeliest(*given, share=share)


def shifted_by(value):
    """A softmax that subtracts another number than the largest."""

    def share(z):
        e = np.exp(z - value(z))
        return e / e.sum()

    return with_share(share)


def ordered_by_p(x, table, vocabulary, k):
    p = softmax(table @ x)
    return [(vocabulary[i], p[i]) for i in np.argsort(-p)[:k]]


def clipped(x, table, vocabulary, k):
    return ordered_by_p(np.ones(1), np.clip(table @ x, -500, 500)[:, None], vocabulary, k)


def overflows(z):
    return np.exp(z) / np.exp(z).sum()


def among_k(x, table, vocabulary, k):
    words, logits = zip(*likeliest(x, table, vocabulary, k, share=lambda z: z), strict=True)
    return list(zip(words, softmax(np.array(logits)), strict=True))


def gradient(ids, dout, vocab_size, dtype=float):
    dtable = np.zeros((vocab_size, dout.shape[-1]), dtype)
    for i, row in zip(ids.ravel(), dout.reshape(-1, dout.shape[-1]), strict=True):
        dtable[i] = dtable[i] + row
    return dtable


def assigned(ids, dout, vocab_size):
    dtable = np.zeros((vocab_size, dout.shape[-1]))
    dtable[ids] += dout
    return dtable


def first_only(ids, dout, vocab_size):
    dtable = np.zeros((vocab_size, dout.shape[-1]))
    dtable[ids.ravel()[::-1]] = dout.reshape(-1, dout.shape[-1])[::-1]
    return dtable


def of_two_by_two(ids, dout, vocab_size):
    dtable = np.zeros((vocab_size, dout.shape[-1]))
    for b in range(2):
        for t in range(2):
            dtable[ids[b, t]] += dout[b, t]
    return dtable


def up_to_the_largest_id(ids, dout, vocab_size):
    return gradient(ids, dout, ids.max() + 1)


def of_two_by_three(ids, dout, vocab_size):
    dtable = np.zeros((vocab_size, dout.shape[-1]))
    for b in range(2):
        for t in range(3):
            dtable[ids[b, t]] += dout[b, t]
    return dtable


def of_width_four(ids, dout, vocab_size):
    dtable = np.zeros((vocab_size, 4))
    np.add.at(dtable, ids, dout)
    return dtable


def of_width_two(ids, dout, vocab_size):
    dtable = np.zeros((vocab_size, 2))
    np.add.at(dtable, ids, dout)
    return dtable


def text_to_vectors(sentences, vocabulary, table, fill=None, unknown="<unk>", at_end=True):
    rows = [s.split() for s in sentences]
    longest = max(map(len, rows))
    pad = vocabulary.index("<pad>") if fill is None else fill
    ids = np.full((len(rows), longest), pad)
    for row, words in zip(ids, rows, strict=True):
        known = [vocabulary.index(w if w in vocabulary else unknown) for w in words]
        row[slice(len(known)) if at_end else slice(longest - len(known), None)] = known
    return table[ids]


def variant(**options):
    return lambda *given: text_to_vectors(*given, **options)


def in_small_letters(sentences, vocabulary, table):
    return text_to_vectors([s.lower() for s in sentences], vocabulary, table)


def as_long_as_the_longest_text(sentences, vocabulary, table):
    T = len(max(sentences, key=len).split())
    return text_to_vectors(sentences, vocabulary, table)[:, :T]


def unknown_is_1(sentences, vocabulary, table):
    return text_to_vectors(sentences, vocabulary, table, unknown=vocabulary[1])


def in_lists(sentences, vocabulary, table):
    number = {token: i for i, token in enumerate(vocabulary)}
    longest = max(len(s.split()) for s in sentences)
    out = []
    for s in sentences:
        words = s.split() + ["<pad>"] * (longest - len(s.split()))
        out.append([table[number.get(w, number["<unk>"])].tolist() for w in words])
    return out


def by_one_hot(sentences, vocabulary, table):
    ids = text_to_vectors(sentences, vocabulary, np.arange(len(vocabulary)))
    return np.eye(len(vocabulary))[ids] @ table


def zeros_for_padding(sentences, vocabulary, table):
    table[vocabulary.index("<pad>")] = 0
    return text_to_vectors(sentences, vocabulary, table)


def unknown_left_out(sentences, vocabulary, table):
    kept = [" ".join(w for w in s.split() if w in vocabulary) for s in sentences]
    return text_to_vectors(kept, vocabulary, table)


def vocabulary_anew(sentences, vocabulary, table):
    return text_to_vectors(sentences, sorted(vocabulary), table)


def smaller_numbers(pair, pieces):
    return [pieces.index(piece) for piece in pair]


def larger_number(pair, pieces):
    return [-pieces.index(piece) for piece in pair]


def merged(word, pair):
    out = word[:1]
    for piece in word[1:]:
        if (out[-1], piece) == pair:
            out[-1] += piece
        else:
            out.append(piece)
    return out


def learn(text, least=2, mark="▁", tie=smaller_numbers):
    words = [[*mark, *word] for word in text.split()]
    pieces, merges = sorted({piece for word in words for piece in word}), []
    while True:
        counts = Counter(pair for word in words for pair in pairwise(word))
        most = max(counts.values()) if least == 0 else max(counts.values(), default=0)
        if most < max(least, 1):
            return merges
        tied = [pair for pair in counts if counts[pair] == most]
        pair = min(tied, key=lambda pair: tie(pair, pieces))
        words = [merged(word, pair) for word in words]
        merges.append(pair)
        pieces.append("".join(pair))


def by_the_package(text):
    return train_bpe([text], vocab_size=1000).merges


def without_recounting(text):
    words = [["▁", *word] for word in text.split()]
    counts = Counter(pair for word in words for pair in pairwise(word))
    return [pair for pair, count in counts.most_common() if count > 1]


RIGHT = {
    "embedding-1": [[0, 0, 0, 0, 1], [0.5, 0, 0.5, 0, 0]],
    "embedding-2": [("e", "w"), ("n", "ew"), "no"],
    "embedding-3": "CE",
    "embedding-4": (6, "Eiffel a miniature"),
    "embedding-5": learn,
    "embedding-6": gradient,
    "embedding-7": likeliest,
    "embedding-8": "BD",
    "embedding-9": text_to_vectors,
}
WRONG = {
    "embedding-1": {
        "exchanged": [[0.5, 0, 0.5, 0, 0], [0, 0, 0, 0, 1]],
        "sum": [[0, 0, 0, 0, 1], [1, 0, 1, 0, 0]],
        "id": [[0, 0, 0, 0, 4], [0.5, 0, 0.5, 0, 0]],
        "counted from 1": [[0, 0, 0, 1, 0], [0.5, 0, 0.5, 0, 0]],
        "another word": [[0, 0, 0, 0, 1], [0.5, 0.5, 0, 0, 0]],
        "other words, same product": [[0, 0, 0, 0, 1], [1, 0.5, 0.5, 0, 0]],
        "columns": np.array([[0, 0, 0, 0, 1], [0.5, 0, 0.5, 0, 0]]).T,
        "the vectors": [[2, 0], [0.5, 2]],
    },
    "embedding-2": {
        "tie in reading order": [("n", "e"), ("ne", "w"), "no"],
        "tie with the mark of a word": [("▁", "n"), ("▁n", "e"), "no"],
        "not the most frequent": [("l", "o"), ("lo", "w"), "no"],
        "no count after the merge": [("e", "w"), ("n", "e"), "no"],
        "second tie": [("e", "w"), ("▁", "n"), "no"],
        "another second": [("e", "w"), ("ew", "er"), "no"],
        "another first": [("x", "y"), ("e", "w"), "no"],
        "no word": [("e", "w"), ("n", "ew")],
        "three pieces": [("n", "e", "w"), ("e", "w"), "no"],
        "two words": [("e", "w"), ("n", "ew"), "no one"],
        "a word that does not begin so": [("e", "w"), ("n", "ew"), "only"],
        "a word that raises another pair too": [("e", "w"), ("n", "ew"), "next"],
        "a word that raises another pair more": [("e", "w"), ("n", "ew"), "newnew"],
    },
    "embedding-3": {
        "more training": "ACE",
        "longer rows": "BCE",
        "another order": "CDE",
        "no C": "E",
        "no E": "c",
        "numbers": 35,
    },
    "embedding-4": {
        "the line that makes the vocabulary of the table": (2, "Eiffel a miniature"),
        "what it should return": (6, "a miniature tower"),
        "ids": (6, [0, 1, 2]),
        "the line alone": 6,
    },
    "embedding-5": {
        "no limit": lambda text: learn(text, least=1),
        "too early": lambda text: learn(text, least=3),
        "no mark": lambda text: learn(text, mark=""),
        "each word once": lambda text: learn(" ".join(dict.fromkeys(text.split()))),
        "across words": lambda text: learn("▁".join(text.split())),
        "the first in the text": lambda text: learn(text, tie=lambda pair, pieces: 0),
        "by the alphabet": lambda text: learn(text, tie=lambda pair, pieces: pair),
        "the larger number": lambda text: learn(text, tie=larger_number),
        "tokens": lambda text: ["".join(pair) for pair in learn(text)],
        "merges and tokens": lambda text: (learn(text), learn(text), []),
        "one string": str,
        "raises": lambda text: learn(text, least=0),
    },
    "embedding-6": {
        "assignment": assigned,
        "the first": first_only,
        "mean": lambda i, d, V: (
            gradient(i, d, V) / np.maximum(np.bincount(i.ravel(), minlength=V), 1)[:, None]
        ),
        "nothing": lambda i, d, V: np.zeros((V, d.shape[-1])),
        "whole numbers": lambda i, d, V: gradient(i, d, V, int),
        "the positions": lambda i, d, V: d,
        "other": lambda i, d, V: gradient(i, d, V) + 1,
    },
    "embedding-7": {
        "least likely": lambda *given: likeliest(*given, sign=1),
        "most likely last": lambda *given: likeliest(*given)[::-1],
        "first": lambda x, table, vocabulary, k: [(word, 0.5) for word in vocabulary[:k]],
        "logit": with_share(lambda z: z),
        "exponential": with_share(np.exp),
        "no exponential": with_share(lambda z: z / z.sum()),
        "softmax of the k": among_k,
        "overflow": with_share(overflows),
        "one": with_share(np.ones_like),
        "the id": lambda x, table, vocabulary, k: [(i, 0.5) for i in range(k)],
        "the words alone": lambda *given: [word for word, _ in likeliest(*given)],
        "all words": lambda x, table, vocabulary, k: likeliest(x, table, vocabulary, 6),
        "one word": lambda *given: likeliest(*given)[0][0],
        "raises": lambda x, table, vocabulary, k: table @ x @ x,
    },
    "embedding-8": {
        "no unknown word": "ABD",
        "fewer tokens": "BCD",
        "no B": "D",
        "no D": "b",
        "numbers": 24,
    },
    "embedding-9": {
        "padding in front": variant(at_end=False),
        "padding is 0": zeros_for_padding,
        "ids": lambda s, v, t: text_to_vectors(s, v, np.arange(len(v))),
        "unknown left out": unknown_left_out,
        "unknown is padding": variant(unknown="<pad>"),
        "another numbering": vocabulary_anew,
        "ragged": lambda s, v, t: [text_to_vectors([one], v, t)[0] for one in s],
        "raises": lambda s, v, t: table,  # noqa: F821
    },
}


ALSO_RIGHT = {
    "merges of the package": ("embedding-5", by_the_package),
    "merges in lists": ("embedding-5", lambda text: [[*pair] for pair in learn(text)]),
    "merges with a space": ("embedding-5", lambda text: [" ".join(pair) for pair in learn(text)]),
    "written with a plus": ("embedding-2", ["e + w", "n + ew", "not"]),
    "tuples": ("embedding-2", (("e", "w"), ("n", "ew"), "nut")),
    "merges, then a word": ("embedding-2", ([("e", "w"), ("n", "ew")], "night")),
    "a word with its mark": ("embedding-2", ["e w", "n ew", "▁now"]),
    "words in a dictionary": ("embedding-7", lambda *given: dict(likeliest(*given))),
    "words in a zip": ("embedding-7", lambda *given: zip(*zip(*likeliest(*given)))),  # noqa: B905
    "words in lists": ("embedding-7", lambda *given: [[*pair] for pair in likeliest(*given)]),
    "a product": (
        "embedding-6",
        lambda i, d, V: np.eye(V)[i.ravel()].T @ d.reshape(-1, d.shape[-1]),
    ),
    "float32 gradients": ("embedding-6", lambda i, d, V: gradient(i, d, V).astype("float32")),
    "vectors in lists": ("embedding-9", in_lists),
    "vectors by a product": ("embedding-9", by_one_hot),
    "words in a list": ("embedding-4", [6, ["Eiffel", "a", "miniature"]]),
    "words one by one, with commas": ("embedding-4", (6.0, "eiffel,", "a,", "miniature")),
}

ALSO_WRONG = {
    "counted once": ("embedding-5", without_recounting),
    "eight merges": ("embedding-5", lambda text: learn(text)[:7]),
    "a set of words": ("embedding-4", (6, {"Eiffel", "a", "miniature"})),
    "the right rows, another line": ("embedding-4", (8, "Eiffel a miniature")),
    "the right rows in another order": ("embedding-4", (6, "miniature Eiffel a")),
    "the first logit is subtracted": ("embedding-7", shifted_by(lambda z: z[0])),
    "the last logit is subtracted": ("embedding-7", shifted_by(lambda z: z[-1])),
    "the mean is subtracted": ("embedding-7", shifted_by(np.mean)),
    "the median is subtracted": ("embedding-7", shifted_by(np.median)),
    "the smallest is subtracted": ("embedding-7", shifted_by(np.min)),
    "the largest size is subtracted": ("embedding-7", shifted_by(lambda z: np.abs(z).max())),
    "in the order of p": ("embedding-7", ordered_by_p),
    "clipped": ("embedding-7", clipped),
    "two sentences of two": ("embedding-6", of_two_by_two),
    "two sentences of three": ("embedding-6", of_two_by_three),
    "no rows after the largest id": ("embedding-6", up_to_the_largest_id),
    "four numbers a row": ("embedding-6", of_width_four),
    "a capital": ("embedding-2", [("e", "w"), ("n", "ew"), "No"]),
    "no capitals": ("embedding-9", in_small_letters),
    "the sentence with the most characters": ("embedding-9", as_long_as_the_longest_text),
    "unknown is token 1": ("embedding-9", unknown_is_1),
    "two numbers a row": ("embedding-6", of_width_two),
    "padding is token 0": ("embedding-9", variant(fill=0)),
    "the line of the ids": ("embedding-4", (7, "Eiffel a miniature")),
    "the right line, other rows": ("embedding-4", (6, "Eiffel the a")),
}


class TestAnswers(ExerciseAnswers):
    right, also_right, wrong, also_wrong = RIGHT, ALSO_RIGHT, WRONG, ALSO_WRONG
