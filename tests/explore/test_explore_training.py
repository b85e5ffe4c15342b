"""The explorers of "Training": attention over the checkpoints, and the paper's rate."""

import itertools

import numpy as np
import pytest

from qkv.explore.training import NOAM, SENTENCES, attention_forming, noam
from qkv.numpy import cross_entropy
from qkv.pretrained import STEPS, pretrained
from qkv.text import SOS

GRID = [dict(zip(NOAM, values, strict=True)) for values in itertools.product(*NOAM.values())]


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


@pytest.mark.parametrize("options", GRID, ids=str)
def test_the_rate_rises_to_its_peak_and_falls_with_the_root(options):
    shown = noam(**options)
    x, y = np.asarray(shown["rate"].x), np.asarray(shown["rate"].ys["rate"]) / 1000
    peak = options["factor"] * (options["d_model"] * options["warmup"]) ** -0.5
    assert shown["peak"] == f"{peak:.5e} at step {options['warmup']:,}"
    rising = x <= options["warmup"]
    assert np.allclose(y[rising], peak * x[rising] / options["warmup"])
    assert np.allclose(y[~rising], peak * np.sqrt(options["warmup"] / x[~rising]))
    assert shown["rate"].mark == options["warmup"]


def test_the_papers_peak():
    assert noam(d_model=512, warmup=4000, factor=1.0)["peak"].startswith("6.98771e-04")
