"""The exercises of the chapter on embeddings: the check of each answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np

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

Pair = tuple[str, str]
Array = np.ndarray[Any, Any]


def as_merges_and_word(answer: object) -> tuple[Pair, Pair, str]:
    """Two pairs of pieces and a word, in one list or the pairs in their own, or `WrongAnswer`."""
    parts = list(answer) if isinstance(answer, list | tuple) else []
    if len(parts) == 2 and isinstance(parts[0], list | tuple) and len(parts[0]) == 2:
        parts = [*parts[0], parts[1]]
    reject(
        len(parts) != 3 or not isinstance(parts[2], str),
        "Two merges and a word were asked for.",
        'Write a list of three, such as [("a", "l"), ("al", "l"), "word"].',
    )
    word = parts[2].strip().removeprefix("▁")
    reject(
        not word.isalpha(),
        "The third part is not one word.",
        "Write the word that is to be added, in plain letters.",
    )
    reject(
        word != word.lower(),
        "The word has a capital letter.",
        "N is another character than n, so ▁ + N is another pair. Write small letters.",
    )
    return _as_pair(parts[0]), _as_pair(parts[1]), word


def _as_pair(part: object) -> Pair:
    pieces = part.replace("+", " ").split() if isinstance(part, str) else part
    if not isinstance(pieces, list | tuple) or len(pieces) != 2:
        raise WrongAnswer("A merge joins two pieces.", 'Write each as a pair, such as ("a", "l").')
    return str(pieces[0]).strip(), str(pieces[1]).strip()


def as_words_and_probabilities(
    answer: Any, vocabulary: Sequence[str], k: int
) -> tuple[list[str], Array]:
    """k words of the vocabulary and k numbers, from a list of pairs, or `WrongAnswer`."""
    pairs = list(answer.items()) if isinstance(answer, Mapping) else _as_list(answer)
    reject(
        len(pairs) != k,
        gettext("For k = {k} your function returns {count} things.").format(k=k, count=len(pairs)),
        "Return a list of k pairs: [(word, probability), …].",
    )
    reject(
        any(isinstance(pair, str) or np.size(np.array(pair, object)) != 2 for pair in pairs),
        "Each entry has to be a pair.",
        "First the word, then its probability.",
    )
    words = [str(word) for word, _ in pairs]
    unknown = [word for word in words if word not in vocabulary]
    reject(
        unknown,
        gettext("{words} is no word of the vocabulary.").format(words=unknown[:1]),
        "First the word itself, not its id; then the probability.",
    )
    return words, np.array([as_number(probability) for _, probability in pairs])


def _as_list(answer: Any) -> list[Any]:
    if isinstance(answer, str) or not hasattr(answer, "__iter__"):
        raise WrongAnswer(
            "Your function has to return a list.", "One pair for each of the k words."
        )
    return list(answer)


MERGED = (
    "tall tall taller tallest small smaller",
    "cat",  # no pair occurs twice
    "test test tall wide",  # here each mistake below gives other merges
    "new new newer lower low",
)
WORDS = ("the", "a", "Eiffel", "miniature", "tower")


@exercise("embedding-1")
def product_by_hand(answer: object) -> str:
    """U with the rows "tower" and "half the, half Eiffel"."""
    reject(
        is_close(as_array(answer), [[2, 0], [0.5, 2]]),
        "These are the two vectors.",
        "By what is the table multiplied to give them? That matrix is asked for.",
    )
    got = as_array(
        answer, shape=(2, 5), hint="One row for each vector, one column for each word of the table."
    ).astype(float)
    table = np.array([[0, 1], [0, -1], [1, 3], [-3, -1], [2, 0]])
    right = np.array([[0, 0, 0, 0, 1], [0.5, 0, 0.5, 0, 0]])
    reject_each(
        got,
        (right[::-1], "The two rows are exchanged.", "First *tower*, then the point between."),
        (
            [[0, 0, 0, 0, 1], [1, 0, 1, 0, 0]],
            "The second row adds the two vectors.",
            "Where does a point lie that is the sum, and where the point halfway?",
        ),
        (
            [[0, 0, 0, 0, 4], [0.5, 0, 0.5, 0, 0]],
            "The id stands where a 1 belongs.",
            "By what is the row of *tower* multiplied?",
        ),
    )
    reject(
        not is_close(got, right) and is_close(got @ table, right @ table),
        "The product is right, but other words are in it.",
        "Use *tower* alone, then *the* and *Eiffel* alone.",
    )
    reject(
        not is_close(got[0], right[0]),
        "The first row does not give the vector of *tower* alone.",
        "Which id has *tower*? Count the columns from 0.",
    )
    reject(
        not is_close(got[1], right[1]),
        "The second row does not give the point halfway.",
        "Two words have a share in it. Which columns are theirs, and what do the shares sum to?",
    )
    return "right: with a single 1 a product is a lookup, with shares it is a mix."


@exercise("embedding-2")
def first_merges(answer: object) -> str:
    """The first two merges of "new new newer lower low", and a word after which ▁ + n is first."""
    first, second, word = as_merges_and_word(answer)
    reject(
        first == ("n", "e"),
        "n + e stands there as often as another pair that comes before it.",
        "Which of the equal pairs begins with the token that has the smallest number?",
    )
    reject(
        first == ("▁", "n"),
        "▁ + n is as frequent as two other pairs.",
        "Number the sorted characters. Where does ▁ stand?",
    )
    reject(
        first in (("l", "o"), ("o", "w"), ("w", "e"), ("e", "r")),
        "The first pair is not the most frequent one.",
        "Count the pair n + e for comparison.",
    )
    reject(first != ("e", "w"), "The first merge is another.", "Write down each pair's count.")
    reject(
        second in (("n", "e"), ("w", "e"), ("e", "w")),
        "The second pair no longer stands there that often.",
        "Write the five words again after the first merge, then count.",
    )
    reject(
        second == ("▁", "n"),
        "The second merge: ▁ + n is as frequent as another pair.",
        "▁ has a larger number than every letter.",
    )
    reject(
        second != ("n", "ew"),
        "The second merge is another.",
        "After the first merge, which token stands before the new one?",
    )
    reject(
        word[0] != "n",
        gettext("{word!r} does not make ▁ + n more frequent.").format(word=word),
        "The merges are right. Where does ▁ stand in a word?",
    )
    text = ["new", "new", "newer", "lower", "low", word]
    counts = Counter(pair for each in text for pair in pairwise("▁" + each))
    most = max(counts.values())
    reject(
        counts["▁", "n"] < most,
        gettext("With {word!r}, another pair occurs {most} times and ▁ + n only {count}.").format(
            word=word, most=most, count=counts["▁", "n"]
        ),
        "The merges are right. How does a word raise the count of ▁ + n, and of nothing else?",
    )
    reject(
        sum(count == most for count in counts.values()) > 1,
        gettext(
            "With {word!r}, ▁ + n is still as frequent as another pair, and loses the tie."
        ).format(word=word),
        "The merges are right. Which other pairs does your word hold?",
    )
    return "right: count again after every merge; a tie is decided by the rule, not by the text."


@exercise("embedding-3", Letters("ABCDE"))
def tells_apart(letters: str) -> str:
    """What makes the last vectors of "the Eiffel tower" and "a miniature tower" differ: C, E."""
    reject_choice(
        letters,
        "CE",
        "Follow the last token of both sentences: its id, the row that it reads, what comes after.",
        (
            "ABCE",
            "You took a better table for one that tells the towers apart.",
            "Which row do both sentences read at the end, after training or with more numbers?",
        ),
    )
    return "right: either the id differs, or something after the lookup reads the neighbours."


@exercise("embedding-4")
def fault(answer: object) -> str:
    """The line that numbers the words anew, and whose rows it gives: 6, Eiffel a miniature."""
    parts = list(answer) if isinstance(answer, list | tuple) else []
    reject(
        any(isinstance(part, set | frozenset) for part in parts),
        "A set has no order.",
        "The rows come back in an order: write the words in a list, or in one string.",
    )
    names = {word.lower(): word for word in WORDS}
    said = " ".join(map(str, np.ravel(np.array(parts[1:], object))))
    chosen = [names.get(word.lower(), "") for word in said.replace(",", " ").split()]
    reject(
        len(chosen) != 3,
        "A line and three words were asked for.",
        'Write the number of the line, then the words: (1, "a the a").',
    )
    reject(
        "" in chosen,
        "These are not words of the training text.",
        "Whose rows of the table come back? Write the words themselves, not their ids.",
    )
    line = as_number(parts[0])
    reject(
        chosen == ["a", "miniature", "tower"],
        "These rows would be right, and then there were no fault.",
        "Follow *tower*: which id does it get in this sentence, and which had it in training?",
    )
    rows = ["Eiffel", "a", "miniature"]
    reject(
        line == 6 and chosen != rows and set(chosen) == set(rows),
        "The line is right, and these rows come back, but in another order.",
        "Take the words of the sentence one by one: which id does each get, and whose row is that?",
    )
    reject(
        line != 6 and chosen == rows,
        "These rows come back, but not by that line.",
        "Which line gives the words of the sentence other numbers than the table has?",
    )
    reject_choice(
        (line, chosen),
        (6, rows),
        "Write both vocabularies with their numbers: that of the table, and that of the sentence.",
    )
    return (
        "right: ids mean something only together with the vocabulary that the table was made for."
    )


@exercise("embedding-5")
def learn(answer: object) -> str:
    """`f(text)` gives the merges of byte-pair encoding, until no pair occurs twice."""
    function = as_function(answer)
    for text in MERGED:
        right = _merges(text)
        got = as_merges(function(text))
        if got == right:
            continue
        reject_each_of(
            got,
            (
                _merges(text, mark=""),
                "The words have no ▁.",
                "Put ▁ before the first character of each word, before you count.",
            ),
            (
                _merges(text, once=True),
                "Each word was counted once, however often it stands in the text.",
                "A word that stands there twice brings its pairs twice.",
            ),
            (
                _merges(text, joined=True),
                "Pairs join two words.",
                "Count inside each word: ▁ may only be the first of a token.",
            ),
            (
                _merges(text, tie=lambda pair, _: 0),
                "The merges are frequent, but ties go to the pair that comes first in the text.",
                "The numbers of the two tokens decide, of the first token before the second.",
            ),
            (
                _merges(text, tie=lambda pair, _: pair),
                "The merges are frequent, but ties go by the alphabet.",
                "A merged token has the next number: it comes after all characters, ▁ too.",
            ),
        )
        reject(
            got[: len(right)] == right and len(got) > len(right),
            gettext("For {text!r} you merge pairs that occur only once.").format(text=text),
            "Look at the largest count before you merge: when is it too late?",
        )
        reject(
            got == right[: len(got)],
            gettext("For {text!r} you stop after {count} merges.").format(
                text=text, count=len(got)
            ),
            "Some pair still occurs twice: count once more after the last merge.",
        )
        reject(
            True,
            gettext("For {text!r} these are not the merges.").format(text=text),
            "Print the counts before each merge, and compare them with a count by hand.",
        )
    return "right: count, choose, merge, and stop when no pair occurs twice."


@exercise("embedding-6")
def table_gradient(answer: object) -> str:
    """`f(ids, dout, V)` adds the gradient of each position to the row that was looked up."""
    function = as_function(answer)
    # (B, T), then V and d_model: in each case no two axes have one length.
    cases = (([[3, 0, 5], [3, 3, 6]], 9, 4), ([[1], [4], [1], [1]], 6, 5))
    for (sentences, V, d_model), dtype in product(cases, (np.float64, np.float32)):
        ids = np.array(sentences)
        flat = ids.ravel()
        rows = 2.0 ** np.arange(ids.size * d_model).reshape(-1, d_model) / 16 + 0.25
        rows = rows.astype(dtype)  # exact in float32
        expected, last, first = np.zeros((3, V, d_model))
        np.add.at(expected, flat, rows)
        last[flat], first[flat[::-1]] = rows, rows[::-1]
        got = np.asarray(function(ids.copy(), rows.reshape(*ids.shape, d_model).copy(), V))
        reject(
            got.shape != (V, d_model),
            gettext("For {tokens} tokens and d_model = {d_model} the shape is {shape}.").format(
                tokens=V, d_model=d_model, shape=got.shape
            ),
            "A gradient has the shape of what it is the gradient of.",
        )
        mean = expected / np.maximum(np.bincount(flat, minlength=V), 1)[:, None]
        reject_each(
            got,
            (last, "Only the last of the three equal ids counts.", "What does += do with a list?"),
            (first, "Only the first of the three equal ids counts.", "Which positions are left?"),
            (
                mean,
                "The gradients of equal ids are averaged.",
                "One row moves; three outputs move.",
            ),
            (np.zeros((V, d_model)), "No gradient arrives.", "Does the loop change the result?"),
        )
        reject(
            is_close(got, np.trunc(got)),
            "Your gradients are whole numbers; these were not.",
            "Which type has the array that you begin with?",
        )
        reject(
            not is_close(got, expected),
            "Some rows are wrong.",
            "Write down to which positions each row went, and what each of them brings back.",
        )
    return "right: a row collects from every position at which it was used."


@exercise("embedding-7")
def likeliest(answer: object) -> str:
    """`f(x, table, vocabulary, k)` gives the k most likely words with their probabilities."""
    function = as_function(answer)
    vocabulary = ["up", "left", "down", "right", "here", "there"]
    rng = np.random.default_rng(3)
    wide = np.array([[0, 1.0, 2400, -4000, 2401, -800]]).T  # logits for x = 1
    cases = [(rng.normal(size=(6, 5)), rng.normal(size=5), k) for k in (3, 2)]
    cases += [(table.astype(np.float32), x.astype(np.float32), 1) for table, x, _ in cases[:1]]
    cases += [(sign * wide, np.ones(1), k) for sign, k in ((1, 2), (-1, 1), (1, 5), (-1, 5))]
    for table, x, k in cases:
        logits = (table @ x).astype(float)
        p = np.exp(logits - logits.max())
        p /= p.sum()
        order = np.argsort(-logits)  # not of p: many of these are 0
        with np.errstate(all="ignore"):
            got = function(x.copy(), table.copy(), list(vocabulary), k)
        words, shares = as_words_and_probabilities(got, vocabulary, k)
        reject(
            not np.isfinite(shares).all(),
            gettext(
                "With logits from {lowest:.0f} to {highest:.0f}, your probabilities are no numbers."
            ).format(lowest=logits.min(), highest=logits.max()),
            "What may be subtracted from all logits, so that p does not change?",
        )
        best = [vocabulary[i] for i in order[:k]]
        reject(
            words == [vocabulary[i] for i in order[::-1][:k]],
            "These are the least likely words.",
            "In which direction does argsort sort?",
        )
        reject(
            k > 1 and words == best[::-1] and table.shape[1] > 1,
            "These are the right words, the most likely last.",
            "Turn the list around.",
        )
        reject(
            words != best and table.shape[1] == 1,
            gettext("The order is wrong, with logits from {lowest:.0f} to {highest:.0f}.").format(
                lowest=logits.min(), highest=logits.max()
            ),
            "Several probabilities are 0 or equal for the computer. What still tells them apart?",
        )
        reject(
            words != best,
            "These are not the most likely words.",
            "Take the dot product of x with each row; the largest ones decide.",
        )
        top = logits[order[:k]]
        with np.errstate(over="ignore"):
            powers = np.exp(top)
        reject_each(
            shares,
            (top, "These are the logits, not probabilities.", "Where is the softmax?"),
            (powers, "This is not divided by the sum.", "What do all six sum to?"),
            (top / logits.sum(), "No exponential.", "Logits can be below 0; e^logit not."),
            tolerance=1e-4,
        )
        among = p[order[:k]] / p[order[:k]].sum()
        reject(
            is_close(shares, among, 1e-4) and not is_close(among, p[order[:k]], 1e-4),
            gettext("Your {k} probabilities sum to 1.").format(k=k),
            "The other words have a share too: softmax first, then choose.",
        )
        reject(
            not is_close(shares, p[order[:k]], 1e-4),
            "The words are right, their probabilities are not.",
            "Exponentiate all logits, divide by their sum, then take the largest.",
        )
    return "right: dot products, softmax over all words, the largest first."


@exercise("embedding-8", Letters("ABCD"))
def evidence(letters: str) -> str:
    """What proves that the merges were learned from the test text as well: B and D."""
    reject_choice(
        letters,
        "BD",
        "Try to explain each by merges that were learned from the training text alone.",
        (
            "ABCD",
            "You took all of it for proof.",
            "What does a BPE with every character of its text do with another text?",
        ),
    )
    return "right: A and C can also be seen when the training text alone was used."


@exercise("embedding-9")
def text_to_vectors(answer: object) -> str:
    """`f(sentences, vocabulary, table)` gives the vectors of a batch, padded: (B, T, d_model)."""
    function = as_function(answer)
    rng = np.random.default_rng(7)
    known = ["the", "<unk>", "cat", "sat", "<pad>", "mat", "on"]
    capital = ["Eiffel", "cat", "sat", "<pad>", "the", "<unk>"]
    batches = (
        (["the cat sat on the mat", "cat", "the old cat sat"], known),
        (["cat sat the dog", "Eiffel incomprehensibilities"], capital),
    )
    for dtype, (sentences, vocabulary) in zip((np.float64, np.float32), batches, strict=True):
        table: Array = rng.normal(size=(len(vocabulary), 5)).astype(dtype)
        ids = _padded(sentences, vocabulary)
        expected = table[ids]  # (B, T, d_model)
        result = function(list(sentences), list(vocabulary), table.copy())
        try:
            got = np.asarray(result)
        except ValueError:  # ragged
            got = np.asarray(None)
        reject(
            got.dtype.kind not in "biuf",
            "Your function returns no array of numbers.",
            "Do all sentences have the same number of vectors?",
        )
        reject(
            is_close(got, ids),
            "These are the ids.",
            "One step is missing: the rows of the table.",
        )
        reject(
            got.shape != expected.shape,
            gettext("The shape is {shape}; asked for is (B, T, d_model) = {right}.").format(
                shape=got.shape, right=expected.shape
            ),
            "T is the number of words of the longest sentence, known or not.",
        )
        filler = np.where((ids == vocabulary.index("<pad>"))[..., None], 0, expected)
        reject_each(
            got,
            (
                table[_padded(sentences, vocabulary, at_end=False)],
                "The padding stands before the words.",
                "On which side is a short sentence filled up?",
            ),
            (
                filler,
                "The padding has the vector 0.",
                "`<pad>` has a row in the table, like every other token.",
            ),
        )
        kept = [" ".join(w for w in one.split() if w in vocabulary) for one in sentences]
        reject(
            is_close(got, table[_padded(kept, vocabulary)]),
            "Words that are unknown have disappeared.",
            "They take a place in the sentence, and the row of a special token.",
        )
        unknown = ids == vocabulary.index("<unk>")
        reject(
            not is_close(got[unknown], expected[unknown])
            and is_close(got[~unknown], expected[~unknown]),
            "Everything is right but what is unknown.",
            "A word that is not in the vocabulary takes the row of `<unk>`, wherever that stands.",
        )
        reject(
            not is_close(got, expected),
            "Some vectors are wrong.",
            "Print the ids of one sentence, and compare them with the vocabulary by hand.",
        )
    return "right: split, ids, unknown words, padding, rows."


def _padded(sentences: Sequence[str], vocabulary: Sequence[str], at_end: bool = True) -> Array:
    """(B, T): the ids of the sentences, brought to one length with `<pad>`."""
    rows = [sentence.split() for sentence in sentences]
    longest = max(map(len, rows))
    fill = [["<pad>"] * (longest - len(row)) for row in rows]
    full = [row + more if at_end else more + row for row, more in zip(rows, fill, strict=True)]
    return np.array(
        [[vocabulary.index(w if w in vocabulary else "<unk>") for w in row] for row in full]
    )


def as_merges(answer: Any) -> list[Pair]:
    """A list of pairs of pieces, or `WrongAnswer`."""
    if isinstance(answer, str) or not hasattr(answer, "__iter__"):
        raise WrongAnswer("Your function has to return a list.", "Append each pair to a list.")
    parts = list(answer)
    reject(
        any(isinstance(part, list | tuple) and len(part) != 2 for part in parts),
        "Your function returns more than pairs.",
        "Return the list of merges alone, each a pair of tokens.",
    )
    return [_as_pair(part) for part in parts]


def reject_each_of(got: list[Pair], *mistakes: tuple[list[Pair], str, str]) -> None:
    """Raise `WrongAnswer` at the first list of merges that the reader has given."""
    for wrong, mistake, hint in mistakes:
        reject(got == wrong, mistake, hint)


def _merges(
    text: str,
    mark: str = "▁",
    once: bool = False,
    joined: bool = False,
    tie: Callable[[Pair, list[str]], Any] | None = None,
) -> list[Pair]:
    """The merges of a text until no pair occurs twice; the options are mistakes."""
    tokens = list(dict.fromkeys(text.split())) if once else text.split()
    words = [[*mark, *word] for word in tokens]
    words = [[piece for word in words for piece in word]] if joined else words
    pieces = sorted({piece for word in words for piece in word})
    merges: list[Pair] = []
    tie = tie or (lambda pair, pieces: (pieces.index(pair[0]), pieces.index(pair[1])))
    while True:
        counts = Counter(pair for word in words for pair in pairwise(word))
        if max(counts.values(), default=0) < 2:
            return merges
        best = max(counts.values())
        tied = [pair for pair in counts if counts[pair] == best]
        pair = min(tied, key=lambda pair: tie(pair, pieces))
        words = [_merged(word, pair) for word in words]
        merges.append(pair)
        pieces.append("".join(pair))


def _merged(word: Sequence[str], pair: Pair) -> list[str]:
    out = list(word[:1])
    for piece in word[1:]:
        if (out[-1], piece) == pair:
            out[-1] += piece
        else:
            out.append(piece)
    return out
