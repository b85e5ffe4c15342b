"""The explorer of "BERT, GPT, T5": every grid point, and the rules that its masks keep."""

import itertools

import numpy as np
import pytest

from qkv.explore.families import FAMILIES, GAP, SENTENCES, masks
from qkv.explore.framework.frames import Frames

GPT, BERT, PREFIX = FAMILIES
PREFIXES = (1, 2, 3, 4, 5)
GRID = list(itertools.product(FAMILIES, PREFIXES, SENTENCES))


def allowed_of(family, prefix=3, sentence=SENTENCES[0]):
    return np.asarray(masks(family=family, prefix=prefix, sentence=sentence)["mask"].values) > 0


def rows_of(family, prefix, sentence=SENTENCES[0]):
    return masks(family=family, prefix=prefix, sentence=sentence)["rows"].rows


@pytest.mark.parametrize(("family", "prefix", "sentence"), GRID)
def test_no_row_that_is_asked_sees_its_answer(family, prefix, sentence):
    """The answer stands one place to the right, or has been replaced by [MASK]."""
    allowed = allowed_of(family, prefix, sentence)
    reads = [token for token, *_ in rows_of(family, prefix, sentence)]
    for i, (token, answer, _, counts) in enumerate(rows_of(family, prefix, sentence)):
        assert (answer == "–") == (counts == "no")
        if counts == "no":
            continue
        if family == BERT:
            assert token == GAP
        elif i + 1 < len(reads):
            assert answer == reads[i + 1]
            assert not allowed[i, i + 1]
        else:
            assert answer == "<eos>"


@pytest.mark.parametrize("prefix", PREFIXES)
def test_masks_are_those_of_their_names(prefix):
    key, query = np.arange(6)[None, :], np.arange(6)[:, None]
    np.testing.assert_array_equal(allowed_of(GPT, prefix), key <= query)
    assert allowed_of(BERT, prefix).all()
    np.testing.assert_array_equal(allowed_of(PREFIX, prefix), (key <= query) | (key < prefix))


@pytest.mark.parametrize("prefix", PREFIXES)
def test_questions_and_counts(prefix):
    shown = {
        family: masks(family=family, prefix=prefix, sentence=SENTENCES[0]) for family in FAMILIES
    }
    assert [shown[family]["answers"] for family in FAMILIES] == [
        "6 of 6",
        "1 of 6",
        f"{7 - prefix} of 6",
    ]
    assert shown[GPT]["question"] == shown[PREFIX]["question"]
    words = SENTENCES[0].split()
    given = " ".join(["<sos>", *words[: prefix - 1]])
    assert shown[GPT]["question"] == f"{words[prefix - 1]} from: {given}"
    assert GAP in shown[BERT]["question"]


def test_frames_are_small():
    packed = Frames()
    for family, prefix, sentence in GRID:
        packed.add(masks(family=family, prefix=prefix, sentence=sentence))
    assert len(packed.data) < 100_000
