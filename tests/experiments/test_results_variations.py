"""How variants are compared, and the pairs in which the order of words decides."""

from qkv.corpus import sentences
from qkv.experiments.results_variations import SMALL, VARIANTS, order_pairs, wins
from qkv.experiments.small_translator import SIZES

PAIRS = sentences()


def test_wins_by_hand():
    """0.5 is above 0.4 and equal to 0.5, 0.3 is above neither."""
    assert wins([0.5, 0.3], [0.4, 0.5]) == 1.5
    assert wins([0.4, 0.5], [0.5, 0.3]) == 2.5


def test_order_pairs_have_a_twin_of_the_same_words():
    texts = {
        "The child helps the student": True,
        "The student helps the child": True,
        "The cat sat on the mat": False,
    }
    pairs = [pair for pair in PAIRS if " ".join(pair.source) in texts]
    assert len(pairs) == 3
    expected = {text for text, twin in texts.items() if twin}
    assert {" ".join(pair.source) for pair in order_pairs(pairs, PAIRS)} == expected


def test_a_sentence_without_its_twin_among_all_is_no_order_pair():
    alone = [pair for pair in PAIRS if " ".join(pair.source) == "The child helps the student"]
    assert order_pairs(alone, alone) == []


def test_every_variant_changes_one_thing_of_the_base():
    for name, (_, changes) in VARIANTS.items():
        assert not changes.items() & SIZES.items(), name
        assert (changes == {}) == (name == "base")
    heads = [changes for _, changes in VARIANTS.values() if "n_heads" in changes]
    widths = {changes["n_heads"] * changes["d_k"] for changes in heads}
    assert widths == {SIZES["n_heads"] * SIZES["d_k"]}  # heads are varied at constant width
    assert set(SMALL) <= set(VARIANTS)
