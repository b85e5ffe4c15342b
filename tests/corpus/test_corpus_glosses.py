"""Glosses of the grammar's Korean words."""

import pytest

from qkv.corpus import glosses, sentences
from qkv.pretrained import pretrained

PASSED_OVER = {"it", "did", "does", "do", "will", "am", "are", "were"}


def test_every_korean_word_has_english_words_that_it_is_aligned_with():
    written = {word for pair in sentences() for word in pair.target}
    assert set(glosses()) == written == set(pretrained().target.tokens[4:])
    missing = {word: set() for word in written}  # what no alignment has shown yet
    for word, gloss in glosses().items():
        missing[word] = set(gloss.replace(" / ", " ").split())
        assert missing[word]
    for pair in sentences():
        for i, j in pair.alignment:
            missing[pair.target[i]] -= {pair.source[j], pair.source[j].lower()}
    assert not any(missing.values())


def test_what_a_word_says_in_all_sentences_is_its_gloss():
    shared = {}
    for pair in sentences():
        for i, korean in enumerate(pair.target):
            words = {pair.source[j].lower() for k, j in pair.alignment if k == i} - PASSED_OVER
            shared[korean] = shared.get(korean, words) & words
    for korean, words in shared.items():
        assert words <= set(glosses()[korean].lower().split()), korean


@pytest.mark.parametrize(
    ("korean", "english"),
    [
        ("고양이가", "cat"),
        ("길이", "street"),  # aligned with "it" too
        ("넓어서", "because wide"),  # of "is wide" and of "was wide"
        ("피곤했다", "was tired"),  # of "were tired" too
        ("시장에서", "in market"),
        ("나는", "I"),
        ("것이다", "will"),
        ("갈", "go"),  # of "will go"
        ("않았다", "not"),  # of "did not"
        ("달린다", "runs"),  # of "run" too
        ("산다", "buys / lives"),  # two verbs
    ],
)
def test_a_gloss(korean, english):
    assert glosses()[korean] == english
