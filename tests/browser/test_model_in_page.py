"""The translator in the page says what the NumPy room says: 500 sentences that were held back."""

from __future__ import annotations

import math

import numpy as np
import pytest

import qkv.numpy as qn
from qkv.pretrained import pretrained
from qkv.text import EOS, SOS
from tests.browser.conftest import LARGE, Watch
from tests.browser.model_page import NumPyRoom, ask, served, write_page
from tools.train_pretrained import held_back

# Logits and scores are sums of many float32 products, added in another order on either side.
CLOSE = 1e-4
TIE = 1e-5  # numbers nearer to one another may change places by rounding
SAMPLING = [
    {},
    {"temperature": 1.5},
    {"temperature": 1.2, "topK": 5},
    {"temperature": 2.0, "topP": 0.9},
    {"temperature": 3.0, "topK": 50, "topP": 0.95},
]
OPTIONS = [
    {"positions": {"encoder": False}},
    {"positions": {"decoder": False}},
    {"positions": {"encoder": False, "decoder": False}},
    {"switchedOff": {"decoder.layers.0.cross_attention": [1]}},
    {"switchedOff": {"encoder.layers.0.self_attention": [0, 1]}},
    {
        "switchedOff": {
            "encoder.layers.1.self_attention": [0],
            "decoder.layers.0.self_attention": [1],
        }
    },
]
BEAM_4 = {"beamSize": 4}
SEARCHES = [
    {"beamSize": 1},
    {"beamSize": 2, "lengthPenalty": 0},
    {"beamSize": 3, "earlyStopping": True},
    {"beamSize": 5, "lengthPenalty": 2, "earlyStopping": "never"},
    {"beamSize": 4, "lengthPenalty": 0.6, "lengthFormula": "gnmt"},
]


@pytest.fixture(scope="module")
def room():
    return NumPyRoom(pretrained())


@pytest.fixture(scope="module", params=["file", "http"])
def page(request, browser, tmp_path_factory):
    file = write_page(tmp_path_factory.mktemp("model"))
    with served(file.parent) as server:
        home = file.parent.as_uri() if request.param == "file" else server
        context, watch = browser.new_context(**LARGE), Watch(home)
        context.on("page", watch.follow)
        page = context.new_page()
        page.goto(f"{home}/{file.name}")
        yield page
        context.close()
        watch.check()


def sentences(count):
    """Sentences that training never saw, spread evenly over all of them."""
    pairs = held_back("combination")
    return [" ".join(pairs[n * len(pairs) // count].source) for n in range(count)]


def asked_of(texts, options, searches):
    rng = np.random.default_rng(18)
    return [
        {
            "text": text,
            "options": options[n % len(options)],
            "search": searches[n % len(searches)],
            "sampling": {"uniforms": rng.random(16).tolist(), **SAMPLING[n % len(SAMPLING)]},
        }
        for n, text in enumerate(texts)
    ]


@pytest.fixture(scope="module")
def answered(page):
    """500 sentences, then 50 of them with heads or positions off and other searches; answered."""
    texts = sentences(500)
    asked = asked_of(texts, [{}], [BEAM_4]) + asked_of(texts[::10], OPTIONS, SEARCHES)
    return list(zip(asked, ask(page, asked), strict=True))


@pytest.fixture
def each(answered, room):
    """Goes through what was asked and answered, with the room changed as the page was."""

    def one_by_one():
        for asked, answer in answered:
            with room.changed(asked["options"]):
                yield asked, answer

    return one_by_one


def test_ids_and_greedy_tokens_are_the_rooms(each, room):
    for asked, answer in each():
        ids = room.translator.source.encode(asked["text"], eos=True).tolist()
        assert answer["ids"] == ids
        tokens, total = room.greedy(ids)
        assert answer["tokens"] == tokens, asked
        assert answer["sum"] == pytest.approx(total, abs=CLOSE)
        assert answer["translation"] == room.translator.target.decode(tokens)


def test_logits_and_the_weights_of_every_head_are_the_rooms(each, room):
    for asked, answer in each():
        expected = room.numbers(answer["ids"], answer["tokens"])
        np.testing.assert_allclose(answer["numbers"], expected, rtol=0, atol=CLOSE, err_msg=asked)


def test_beam_search_finds_the_same_hypotheses(each, room):
    for asked, answer in each():
        hypotheses, _ = room.beam(answer["ids"], asked["search"])
        found = answer["beam"]["hypotheses"]
        scores = [score for _, score in hypotheses]
        assert [one["score"] for one in found] == pytest.approx(scores, abs=CLOSE)
        if min(-np.diff(scores), default=1) > TIE:
            assert [one["tokens"] for one in found] == [tokens for tokens, _ in hypotheses], asked


def test_the_tree_of_beam_search_is_the_rooms(each, room):
    tied = 0
    for asked, answer in each():
        _, looked_at = room.beam(answer["ids"], asked["search"])
        tree = answer["beam"]["tree"]
        V, before = len(room.translator.target.tokens), [0.0]
        for length, (step, seen) in enumerate(zip(tree, looked_at, strict=True), 1):
            sums, places, beams = seen
            if min(-np.diff(sums)) < TIE:
                tied += 1
                break
            assert [one["sum"] for one in step] == pytest.approx(sums, abs=CLOSE)
            assert [one["beam"] * V + one["token"] for one in step] == places, asked
            for one in step:
                assert before[one["beam"]] + one["logProb"] == pytest.approx(one["sum"], abs=CLOSE)
            for rank, one in enumerate(step):
                ends = one["token"] == EOS or length == room.translator.max_len
                finished = ends and rank < asked["search"]["beamSize"]
                assert (one["fate"] == "finished") == finished
            kept = [one for one in step if one["fate"] == "kept"]
            assert [(one["beam"], one["token"]) for one in kept] == list(
                zip(beams.parents, beams.tokens, strict=True)
            )
            before = [one["sum"] for one in kept]
    assert tied <= 10  # of 550: else this would hold little


def test_samples_from_the_same_uniforms_are_the_rooms(each, room):
    on_a_boundary = 0
    for asked, answer in each():
        tokens = room.sample(answer["ids"], asked["sampling"])
        if answer["sampled"] != tokens:
            on_a_boundary += 1
            distance = boundary_distance(room, asked, answer, tokens)
            assert distance < TIE, (asked, distance)
    assert on_a_boundary <= 2


def boundary_distance(room, asked, answer, tokens):
    """How far the uniform of the first other token is from the nearest end of a token's share."""
    pairs = zip(answer["sampled"], tokens, strict=False)
    place = next(n for n, (ours, theirs) in enumerate(pairs) if ours != theirs)
    state = room.model.start_decoding(np.array([answer["ids"]]))
    scores = qn.log_softmax(state.extend(np.array([[SOS, *tokens[:place]]]))[:, -1])
    sampling = asked["sampling"]
    scores = (scores - scores.max()) / sampling.get("temperature", 1.0)
    if "topK" in sampling:
        scores = qn.top_k_filtering(scores, sampling["topK"])
    if "topP" in sampling:
        scores = qn.top_p_filtering(scores, sampling["topP"])
    shares = qn.softmax(scores.astype(np.float64)).cumsum()
    return abs(shares - sampling["uniforms"][place]).min()


def test_what_is_compared_is_worth_comparing(answered):
    """Sentences of all lengths, several words sampled, heads that matter."""
    plain, changed = answered[:500], answered[500:]
    assert len({asked["text"] for asked, _ in plain}) == 500
    assert {len(answer["ids"]) for _, answer in plain} >= set(range(4, 12))
    assert sum(answer["sampled"] != answer["tokens"] for _, answer in plain) > 100
    of_text = {asked["text"]: answer["tokens"] for asked, answer in plain}
    assert sum(of_text[asked["text"]] != answer["tokens"] for asked, answer in changed) >= 10
    assert all(math.isfinite(answer["sum"]) for _, answer in answered)
