"""The explorers of "Training": the learning rate, and attention over the checkpoints."""

import itertools

import numpy as np
import pytest

from qkv.experiments import stored_result
from qkv.explore.training import (
    NORMS,
    RATES,
    SENTENCES,
    WARMUPS,
    attention_forming,
    learning_rate,
)
from qkv.numpy import cross_entropy
from qkv.pretrained import STEPS, pretrained
from qkv.text import SOS

GRID = list(itertools.product(RATES, WARMUPS, NORMS))


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_frame_shows_what_the_checkpoint_writes_and_where_it_looks(sentence, step):
    shown, translator = attention_forming(sentence=sentence, step=step), pretrained(step=step)
    assert shown["writes"] == translator.translate(sentence)
    weights = shown["weights"]
    assert np.allclose(np.asarray(weights.values).sum(-1), 1, atol=1e-5)
    assert list(weights.columns) == [*sentence.split(), "<eos>"]
    assert list(weights.rows) == [*SENTENCES[sentence].split(), "<eos>"]
    target = translator.target.encode(SENTENCES[sentence], eos=True)
    source = translator.source.encode(sentence, eos=True)
    with translator.model.inference_mode() as model:
        logits = model(source[None], np.array([[SOS, *target[:-1]]]))
    expected = float(cross_entropy(logits[0], target))
    assert shown["loss"] == f"{expected:.2f}"
    assert -np.log(shown["probability"].values).mean() == pytest.approx(expected, rel=1e-4)


def test_the_model_that_ships_translates_each_sentence_as_the_explorer_expects():
    for sentence, translation in SENTENCES.items():
        assert attention_forming(sentence=sentence, step=STEPS[-1])["writes"] == translation


@pytest.mark.parametrize("choice", GRID, ids=str)
def test_a_frame_shows_the_stored_runs_of_its_choice(choice):
    rate, warmup, norm = choice
    shown = learning_rate(rate=rate, warmup=warmup, norm=norm)
    figures = stored_result("training_rates").figures
    stored = figures[norm[: norm.index("-")]]
    row, column = figures["warmups"].index(warmup), figures["rates"].index(rate)
    assert np.allclose(shown["curve"].ys["loss"], stored["training"][row][column])
    assert shown["curve"].x[-1] == figures["steps"]
    ends = stored["loss"][row][column]
    assert shown["end"] == f"{min(ends):.1f} to {max(ends):.1f} at rate {rate:g}"
    assert shown["ends"].ys["loss"][column] == pytest.approx(np.mean(ends))
    assert shown["ends"].mark == rate


def test_the_grid_is_what_was_measured():
    figures = stored_result("training_rates").figures
    assert (figures["rates"], figures["warmups"]) == (RATES, WARMUPS)


def test_a_number_off_the_grid_shows_the_nearest_run():
    typed = learning_rate(rate=0.008, warmup=80, norm="pre-norm")
    stored = learning_rate(rate=0.01, warmup=100, norm="pre-norm")
    assert typed["end"] == stored["end"]
    assert typed["ends"].mark == 0.01
