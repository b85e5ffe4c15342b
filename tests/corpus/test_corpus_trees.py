"""Constituency trees of the grammar: their shape, their text, and how two of them are compared."""

from collections import Counter

import pytest

from qkv.corpus import (
    Tree,
    TreeScores,
    constituency_tree,
    linearize,
    parse_brackets,
    score_trees,
    sentences,
)
from qkv.corpus.trees import labelled_brackets
from tests.helpers.tolerances import TOLERANCE

PAIRS = sentences()
BY_TEXT = {" ".join(pair.source): pair for pair in PAIRS}
MAT = "(S (NP the cat )NP (VP sat (PP on (NP the mat )NP )PP )VP )S"


@pytest.mark.parametrize(
    "tree",
    [
        "(S (NP They )NP (VP danced )VP )S",
        "(S (NP The cat )NP (VP sat (PP on (NP the mat )NP )PP )VP )S",
        "(S (NP We )NP (VP hug (NP the tired friend )NP (PP in (NP the garden )NP )PP )VP )S",
        "(S (NP He )NP (VP will (VP be (ADJP kind )ADJP )VP )VP )S",
        "(S (NP He )NP (VP will not (VP be (ADJP kind )ADJP )VP )VP )S",
        "(S (NP He )NP (VP was not (ADJP kind )ADJP )VP )S",
        "(S (NP The child )NP (VP does not (VP eat (NP the rice )NP (SBAR because (S (NP it )NP "
        "(VP is (ADJP cold )ADJP )VP )S )SBAR )VP )VP )S",
        "(S (NP The dog )NP (VP did not (VP swim (PP in (NP the river )NP )PP (SBAR because "
        "(S (NP it )NP (VP was (ADJP tired )ADJP )VP )S )SBAR )VP )VP )S",
    ],
)
def test_the_trees_of_the_constructions(tree):
    sentence = " ".join(word for word in tree.split() if word[0] not in "()")
    assert linearize(constituency_tree(BY_TEXT[sentence])) == tree


def test_every_tree_spans_its_sentence_and_is_read_back():
    for pair in PAIRS:
        tree = constituency_tree(pair)
        assert tree.words == pair.source
        assert parse_brackets(linearize(tree)) == tree


def test_the_grammar_has_eighty_trees_without_their_words():
    assert len({linearize(constituency_tree(pair), words=False) for pair in PAIRS}) == 80


def test_words_can_be_left_out():
    shape = "(S (NP XX XX )NP (VP XX (PP XX (NP XX XX )NP )PP )VP )S"
    assert linearize(parse_brackets(MAT), words=False) == shape


@pytest.mark.parametrize(
    "text",
    [
        "",
        "cat",
        "(NP the cat",
        "(NP the cat )VP",
        "(NP the cat )NP )S",
        "(NP )NP",
        "(NP the )NP (VP sat )VP",
        "(NP the )NP cat",
        "( the )",
    ],
)
def test_what_is_no_tree_is_refused(text):
    with pytest.raises(ValueError, match="parse_brackets: "):
        parse_brackets(text)


def test_constituents_are_counted_by_label_and_place():
    assert labelled_brackets(parse_brackets(MAT)) == Counter(
        {
            ("S", 0, 6): 1,
            ("NP", 0, 2): 1,
            ("VP", 2, 6): 1,
            ("PP", 3, 6): 1,
            ("NP", 4, 6): 1,
        }
    )


def test_a_constituent_that_stands_twice_counts_twice():
    tree = parse_brackets("(NP (NP cats )NP )NP")
    assert labelled_brackets(tree) == {("NP", 0, 1): 2}


def test_scores_by_hand():
    """Of 5 constituents written, 4 are right, in place of 5; and a text that is no tree."""
    wrong_label = MAT.replace("PP", "SBAR")
    one = score_trees([wrong_label], [parse_brackets(MAT)])
    assert one == TreeScores(1.0, 1.0, 4 / 5, 4 / 5, 4 / 5, 0.0)
    two = score_trees([wrong_label, "(S"], [parse_brackets(MAT)] * 2)
    assert two.well_formed == two.same_length == 0.5
    assert (two.precision, two.recall) == (4 / 5, 4 / 10)
    assert two.f1 == pytest.approx(2 * 0.8 * 0.4 / (0.8 + 0.4), abs=TOLERANCE["float64"])


def test_a_word_too_many_moves_all_that_follows():
    """The subject is right; S, VP, PP and the second NP end one word too late."""
    scores = score_trees([MAT.replace("the mat", "the mat mat")], [parse_brackets(MAT)])
    assert scores.well_formed == 1
    assert scores.same_length == 0
    assert scores.f1 == 1 / 5


def test_the_words_are_not_compared():
    tree = parse_brackets(MAT)
    assert score_trees([linearize(tree, words=False)], [tree]).exact == 1


def test_the_order_of_unary_constituents_counts_for_the_whole_tree_alone():
    scores = score_trees(["(VP (NP it )NP )VP"], [Tree("NP", (Tree("VP", ("it",)),))])
    assert (scores.f1, scores.exact) == (1, 0)


def test_texts_of_which_none_is_a_tree_score_nothing():
    assert score_trees(["cat"], [parse_brackets(MAT)]) == TreeScores(0, 0, 0, 0, 0, 0)


@pytest.mark.parametrize(("outputs", "references"), [([], []), (["a"], [])])
def test_a_score_of_nothing_is_refused(outputs, references):
    with pytest.raises(ValueError, match="score_trees: outputs and references must be as many"):
        score_trees(outputs, references)
