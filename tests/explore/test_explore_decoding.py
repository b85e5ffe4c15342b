"""The explorers of "Decoding": the tree is that of the package's search, the bars what is drawn."""

import itertools
import json

import numpy as np
import pytest

import qkv.numpy as qn
from qkv.explore.decoding import (
    LIMIT,
    PENALTIES,
    SENTENCES,
    STEP,
    TEMPERATURES,
    TOP_K,
    TOP_P,
    WIDTHS,
    ambiguous_logits,
    beam,
    distribution,
    sampling,
)
from qkv.explore.framework.frames import Frames
from qkv.pretrained import pretrained

SEARCHES = list(itertools.product(SENTENCES, WIDTHS, PENALTIES))


def path(nodes, i):
    return [] if nodes[i].parent < 0 else [*path(nodes, nodes[i].parent), nodes[i].label]


@pytest.mark.parametrize(("sentence", "width", "penalty"), SEARCHES)
def test_the_first_finished_sentence_is_the_translation_of_the_package(sentence, width, penalty):
    panels = beam(sentence=sentence, width=width, penalty=penalty)
    options = {"beam_size": width, "length_penalty": penalty, "max_new_tokens": LIMIT}
    expected = pretrained(step=STEP).translate(sentence, "beam", **options)
    assert panels["translation"].removesuffix(" …") == expected
    assert len(panels["hypotheses"].rows) <= width


@pytest.mark.parametrize(("sentence", "width", "penalty"), SEARCHES)
def test_the_tree_has_all_that_go_on_and_the_best_that_is_dropped(sentence, width, penalty):
    nodes = beam(sentence=sentence, width=width, penalty=penalty)["tree"].nodes
    steps = {}
    for i, node in enumerate(nodes[1:], 1):
        assert nodes[node.parent].state in ("kept", None)
        assert node.value <= nodes[node.parent].value
        steps.setdefault(len(path(nodes, i)), []).append(node)
    for depth, row in steps.items():
        values = [node.value for node in row]
        assert values == sorted(values, reverse=True)
        states = [node.state for node in row]
        if depth == max(steps):
            assert len(row) == width
            assert set(states) <= {"finished", None}
            continue
        assert states.count("kept") == width
        assert states.count("pruned") == 1
        assert None not in states
        dropped = row[states.index("pruned")]
        assert dropped.label == "<eos>" or states[-1] == "pruned"


def test_a_search_of_the_package_calls_for_the_beams_that_the_tree_keeps():
    for sentence, width, penalty in SEARCHES:
        nodes = beam(sentence=sentence, width=width, penalty=penalty)["tree"].nodes
        kept = {tuple(path(nodes, i)) for i, node in enumerate(nodes) if node.state == "kept"}
        parents = {tuple(path(nodes, node.parent)) for node in nodes[1:]}
        assert parents <= kept | {("<sos>",), ()}


def test_a_finished_path_has_the_sum_that_the_table_gives():
    for sentence, width, penalty in SEARCHES:
        panels = beam(sentence=sentence, width=width, penalty=penalty)
        nodes = panels["tree"].nodes
        finished = {
            " ".join(word for word in path(nodes, i) if word != "<eos>"): node.value
            for i, node in enumerate(nodes)
            if node.state == "finished"
        }
        for text, tokens, *signed in panels["hypotheses"].rows:
            total, score = (number.replace("−", "-") for number in signed)
            assert finished[text.removesuffix(" …")] == pytest.approx(float(total), abs=0.011)
            assert float(score) == pytest.approx(float(total) / int(tokens) ** penalty, abs=0.011)


def test_what_the_chapter_says_of_the_start_and_of_the_penalty():
    doctor, park = SENTENCES[:2]
    first = beam(sentence=doctor, width=1, penalty=1.0)
    assert set(first["translation"].split()[1:-1]) == {"의사가"}
    assert (
        beam(sentence=doctor, width=2, penalty=1.0)["translation"] == "선생님이 의사를 만날 것이다"
    )
    found = [beam(sentence=park, width=2, penalty=penalty)["translation"] for penalty in PENALTIES]
    short, right = "학생이 공원에서 웃었다", "학생이 넓은 공원에서 웃었다"
    assert found == [short, short, right, right]


@pytest.mark.parametrize(("temperature", "top_k", "top_p"), [(0.7, 10, 0.8), (1.5, 525, 0.5)])
def test_the_bars_are_what_the_package_draws_from(temperature, top_k, top_p):
    """A step that knows one distribution, sampled often, has the frequencies of the bars."""
    logits = ambiguous_logits()
    p = distribution(logits, temperature, top_k, top_p)
    n = 20_000
    drawn, _ = qn.sample(
        lambda prefixes: np.tile(qn.log_softmax(logits), (len(prefixes), 1)),
        np.zeros((n, 1), int),
        eos_id=None,
        max_new_tokens=1,
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        rng=np.random.default_rng(0),
    )
    counts = np.bincount(drawn[:, 1], minlength=len(p))
    assert not counts[p == 0].any()
    np.testing.assert_allclose(counts / n, p, atol=0.015)


@pytest.mark.parametrize(
    ("temperature", "top_k", "top_p"), list(itertools.product(TEMPERATURES, TOP_K, TOP_P))
)
def test_sampling_panels(temperature, top_k, top_p):
    panels = sampling(temperature=temperature, top_k=top_k, top_p=top_p)
    assert np.sum(panels["probability"].values) == pytest.approx(1, abs=1e-3)
    assert 1 <= int(panels["words"]) <= top_k


def test_frames_are_small():
    grids = (
        (beam, {"sentence": SENTENCES, "width": WIDTHS, "penalty": PENALTIES}),
        (sampling, {"temperature": TEMPERATURES, "top_k": TOP_K, "top_p": TOP_P}),
    )
    for fn, grid in grids:
        frames = Frames()
        for values in itertools.product(*grid.values()):
            frames.add(fn(**dict(zip(grid, values, strict=True))))
        assert len(frames.data) + len(json.dumps(frames.specs)) < 150_000
