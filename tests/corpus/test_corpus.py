"""The grammar: sentences known by heart, alignment, what holds for every pair."""

from collections import Counter
from dataclasses import replace

import pytest

from qkv.corpus import sentences, with_particle
from qkv.corpus.clause import QUALITIES, VERBS, Features, render
from qkv.corpus.nouns import GROUPS, NOUNS


@pytest.fixture(scope="module")
def pairs():
    return sentences()


KNOWN = {
    "The cat sat on the mat": ("고양이가 매트 위에 앉았다", "0-1 1-5 2-3 3-2"),
    "I ate the rice": ("나는 밥을 먹었다", "0-0 1-3 2-1"),
    "The bear eats the fish": ("곰이 생선을 먹는다", "0-1 1-4 2-2"),
    "They do not go to the school": ("그들은 학교에 가지 않는다", "0-0 1-4 1-6 2-3 3-1 3-2"),
    "The child will sleep": ("아이가 잘 것이다", "0-1 1-2 1-3 2-2"),
    "The teacher did not sleep in the room": (
        "선생님은 방에서 자지 않았다",
        "0-1 1-5 1-7 2-4 3-2 3-3",
    ),
    "The farmer will not sell the milk": (
        "농부는 우유를 팔지 않을 것이다",
        "0-1 1-6 2-4 3-2 3-3 4-2",
    ),
    "The doctor was not tired": ("의사는 피곤하지 않았다", "0-1 1-4 2-2 2-3"),
    "The cat is not small": ("고양이는 작지 않다", "0-1 1-4 2-2 2-3"),
    "She does not sing the song": ("그녀는 노래를 부르지 않는다", "0-0 1-5 2-3 3-1 3-2"),
    "We are happy": ("우리는 행복하다", "0-0 1-1 1-2"),
    "The water will be cold": ("물은 차가울 것이다", "0-1 1-2 1-3 1-4 2-2"),
    "The dog did not cross the street because it was tired": (
        "개는 피곤해서 길을 건너지 않았다",
        "0-1 0-8 1-7 1-9 1-10 2-6 3-4 4-2 4-3",
    ),
    "The dog did not cross the street because it was wide": (
        "길이 넓어서 개는 길을 건너지 않았다",
        "0-6 0-8 1-7 1-9 1-10 2-1 3-6 4-4 5-2 5-3",
    ),
    "The cat sat on the mat because it was warm": (
        "매트가 따뜻해서 고양이는 매트 위에 앉았다",
        "0-5 0-7 1-6 1-8 1-9 2-1 3-5 4-3 5-2",
    ),
    "The cat will drink the milk because it is thirsty": (
        "고양이는 목말라서 우유를 마실 것이다",
        "0-1 0-7 1-6 1-8 1-9 2-5 3-2 3-3 4-2",
    ),
}


@pytest.mark.parametrize("source", KNOWN)
def test_sentences_known_by_heart(pairs, source):
    target, alignment = KNOWN[source]
    pair = next(pair for pair in pairs if " ".join(pair.source) == source)
    assert " ".join(pair.target) == target
    assert " ".join(f"{i}-{j}" for i, j in sorted(pair.alignment)) == alignment


def test_adjectives_and_places_stand_before_what_they_belong_to():
    made = Features("child", "eat", "past", False, "apple", "under", "tree", "big", "place")
    pair = render(made)
    assert " ".join(pair.source) == "The child ate the apple under the big tree"
    assert " ".join(pair.target) == "아이가 큰 나무 아래에서 사과를 먹었다"
    assert sorted(pair.alignment) == [(0, 1), (1, 7), (2, 8), (3, 5), (4, 4), (5, 2)]
    assert pair.features == made


def test_the_documented_sizes(pairs):
    assert len(pairs) == 34_367
    assert len({pair.source for pair in pairs}) == len({pair.target for pair in pairs}) == 34_367
    assert len({word for pair in pairs for word in pair.source}) == 225
    assert len({word for pair in pairs for word in pair.target}) == 521
    assert {len(pair.source) for pair in pairs} == set(range(2, 13))
    assert {len(pair.target) for pair in pairs} == set(range(2, 9))


def test_every_call_gives_the_same_pairs(pairs):
    assert sentences() == pairs


def test_every_word_but_the_article_is_aligned(pairs):
    for pair in pairs:
        articles = {j for j, word in enumerate(pair.source) if word in {"The", "the"}}
        assert {j for _, j in pair.alignment} == set(range(len(pair.source))) - articles
        assert {i for i, _ in pair.alignment} == set(range(len(pair.target)))


def test_aligned_words_belong_together(pairs):
    """Read back from the words alone: a noun's Korean word begins with the noun it stands for."""
    for pair in pairs:
        made = pair.features
        linked = {pair.source[j].lower(): set() for _, j in pair.alignment}
        for i, j in pair.alignment:
            linked[pair.source[j].lower()].add(pair.target[i])
        for noun in filter(None, (made.subject, made.object, made.place)):
            said_twice = made.reason and noun == getattr(made, made.reason_of) != made.subject
            assert len(linked[noun.lower()]) == 1 + bool(said_twice)
            assert all(word.startswith(NOUNS[noun].korean) for word in linked[noun.lower()])
        if made.reason:
            (word,) = linked["it"]
            assert word in linked[getattr(made, made.reason_of)]
            particle = "topic" if made.reason_of == "subject" else "subject"
            noun = NOUNS[getattr(made, made.reason_of)].korean
            assert word == with_particle(noun, particle)
            assert linked["because"] == linked[made.reason]
            (reason,) = linked["because"]
            assert pair.target.index(reason) == pair.target.index(word) + 1
        if made.adjective:
            assert linked[made.adjective] == {QUALITIES[made.adjective].korean.split()[0]}
        if made.negated:
            assert any(word.startswith("않") for word in linked["not"])
        if made.tense == "future":
            assert "것이다" in linked["will"]


def test_the_verb_ends_the_sentence_and_the_object_stands_before_it(pairs):
    for pair in pairs:
        assert pair.target[-1].endswith("다")
        if pair.features.object:
            thing = with_particle(NOUNS[pair.features.object].korean, "object")
            after = len(pair.target) - pair.target.index(thing) - 1
            assert after == 1 + pair.features.negated + (pair.features.tense == "future")


def test_a_reason_fits_one_of_the_two_nouns_and_no_person(pairs):
    """The adjective alone tells which; beside an event in words there is the same without it."""
    fits = {(pair.features.subject, pair.features.verb) for pair in pairs}
    events = {pair.features for pair in pairs}
    reasons = [pair.features for pair in pairs if pair.features.reason]
    people = {noun.english for group in ("people", "pronouns") for noun in GROUPS[group]}
    for made in reasons:
        assert replace(made, reason=None, reason_of=None) in events
        nouns = {role: getattr(made, role) for role in ("subject", "object", "place")}
        fitting = [role for role, noun in nouns.items() if (noun, made.reason) in fits]
        assert fitting == [made.reason_of]
        assert nouns[made.reason_of] not in people
    assert len(reasons) == 5_281
    roles = Counter(made.reason_of for made in reasons)
    assert roles == {"subject": 2_316, "object": 1_994, "place": 971}


def test_the_adjective_of_a_reason_decides_what_it_means(pairs):
    """There are many sentences that differ in the adjective alone, and in what *it* stands for."""
    meant = {}
    for pair in pairs:
        if pair.features.reason:
            meant.setdefault(pair.source[:-1], set()).add(pair.features.reason_of)
    assert sum(len(roles) == 2 for roles in meant.values()) > 300


def test_verbs_take_only_nouns_that_make_sense(pairs):
    taken = {(pair.features.verb, pair.features.object) for pair in pairs}
    assert ("eat", "rice") in taken
    assert ("eat", "stone") not in taken
    assert ("drink", "water") in taken
    assert ("drink", "bread") not in taken
    assert all(pair.features.subject != pair.features.object for pair in pairs)
    assert {pair.features.verb for pair in pairs} == {*VERBS, *QUALITIES}
