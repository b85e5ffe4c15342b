"""The automaton of all sentences: it accepts what it was made of and no more, and is minimal."""

import itertools

from qkv.corpus import sentences
from qkv.javascript.scripts import grammar
from qkv.javascript.sentence_automaton import sentence_automaton
from qkv.pretrained import pretrained


def accepted(automaton, words):
    """Every sentence of the automaton, as words."""
    found, open_ = set(), [((), len(automaton["end"]) - 1)]
    while open_:
        said, state = open_.pop()
        if automaton["end"][state]:
            found.add(said)
        ways = zip(automaton["words"][state], automaton["next"][state], strict=True)
        open_ += [((*said, words[word]), next_) for word, next_ in ways]
    return found


def test_it_accepts_its_sentences_and_no_others():
    words = ["a", "b", "c"]
    few = {("a",), ("a", "b"), ("b", "b"), ("c", "a", "b"), ("c", "b", "b")}
    automaton = sentence_automaton(few, words.index)
    assert accepted(automaton, words) == few
    assert all(k < n for n, ways in enumerate(automaton["next"]) for k in ways)


def test_states_that_go_on_alike_are_one():
    words = [f"w{n}" for n in range(3)]
    every = itertools.product(words, repeat=5)  # 243 sentences, and one state for each length
    automaton = sentence_automaton(every, words.index)
    assert automaton["end"] == [1, 0, 0, 0, 0, 0]
    assert automaton["next"][1:] == [[n] * 3 for n in range(5)]


def test_that_of_the_page_holds_the_grammar():
    tokens = pretrained().source.tokens
    expected = {pair.source for pair in sentences()}
    assert accepted(grammar(tokens), tokens) == expected
    assert len(expected) == 34_367
