"""The stored model with an induction head: what it does, and the tools that take it apart."""

import numpy as np
import pytest

import qkv.numpy as qn
from qkv.bridge import load_state_dict
from qkv.experiments import stored_result
from qkv.pretrained.induction import (
    LETTERS,
    MODEL,
    accuracy,
    encode,
    head_scores,
    induction_model,
    loss,
    repeated_blocks,
    without_head,
    without_layer,
)
from tests.helpers.rooms import close

IDS = repeated_blocks(np.random.default_rng(7), 64, 12)
FIGURES = stored_result("families_induction").figures


def test_a_block_is_written_twice_and_holds_no_letter_twice():
    assert IDS.shape == (64, 24)
    assert (IDS[:, :12] == IDS[:, 12:]).all()
    assert {len(set(row)) for row in IDS.tolist()} == {12}
    assert IDS.min() == 0
    assert IDS.max() == len(LETTERS) - 1


def test_letters_are_their_places_in_the_alphabet():
    assert encode("BAZ").tolist() == [[1, 0, 25]]
    with pytest.raises(ValueError, match="substring not found"):
        encode("a")


def test_the_model_is_the_one_that_was_measured():
    """On other blocks; float16 in a file of at most 150 kB."""
    model = induction_model()
    assert abs(accuracy(model, IDS) - FIGURES["models"][0]["accuracy"][0]) < 0.02
    assert abs(loss(model, IDS) - FIGURES["models"][0]["loss"][0]) < 0.05
    for name, scores in head_scores(model, IDS).items():
        np.testing.assert_allclose(scores, FIGURES["heads"][0][name], atol=0.05)
    assert {value.dtype for value in load_state_dict(MODEL).values()} == {np.dtype("float16")}
    assert MODEL.stat().st_size < 150_000


def test_accuracy_and_loss_are_of_the_second_block_without_its_first_letter():
    model = induction_model()
    logits = model(IDS)
    right = [logits[b, t].argmax() == IDS[b, t + 1] for b in range(len(IDS)) for t in range(12, 23)]
    assert accuracy(model, IDS) == round(np.mean(right), 4)
    terms = -qn.log_softmax(logits)[np.arange(64)[:, None], np.arange(12, 23), IDS[:, 13:]]
    assert loss(model, IDS) == pytest.approx(terms.mean(), abs=1e-4)


def test_the_scores_are_weights_on_the_two_places():
    maps = {}
    model = induction_model()
    model(IDS, attention_maps=maps)
    scores = head_scores(model, IDS)
    for layer, weights in enumerate(maps.values()):
        for head in (0, 1):
            before = np.mean([weights[:, head, t, t - 1].mean() for t in range(12, 23)])
            after = np.mean([weights[:, head, t, t - 12 + 1].mean() for t in range(12, 23)])
            assert scores["previous"][layer][head] == pytest.approx(before, abs=1e-3)
            assert scores["induction"][layer][head] == pytest.approx(after, abs=1e-3)


def test_a_head_that_is_off_writes_nothing_and_comes_back():
    model = induction_model()
    whole = model(IDS)
    attention = model.decoder.layers[0].self_attention
    x = np.random.default_rng(0).standard_normal((2, 5, 32)).astype(np.float32)
    context = {}
    attention.w_o, w_o = (lambda c: context.setdefault("of all heads", c)), attention.w_o
    attention(x)
    attention.w_o = w_o
    context["of all heads"][..., 16:] = 0
    with without_head(model, 0, 1):
        close(attention(x, need_weights=False)[0], w_o(context["of all heads"]), "float32")
    close(model(IDS), whole)


def test_a_head_by_its_mean_writes_the_same_into_every_token():
    """On the texts of the mean, what its layer adds keeps its mean over all tokens."""
    model = induction_model()
    attention = model.decoder.layers[0].self_attention
    written = {}

    def added(name):
        original = type(attention).__call__

        def record(self, x, **options):
            out = original(self, x, **options)
            if self is attention:
                written[name] = out[0]
            return out

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(attention), "__call__", record)
            model(IDS)

    added("whole")
    with without_head(model, 0, 0, mean_over=IDS):
        added("mean")
    assert abs(written["whole"] - written["mean"]).max() > 0.1
    close(written["whole"].mean((0, 1)), written["mean"].mean((0, 1)), "float32")


def test_without_a_layer_the_other_remains():
    model = induction_model()
    layers = list(model.decoder.layers)
    with without_layer(model, 0):
        assert model.decoder.layers == layers[1:]
        assert accuracy(model, IDS) < 0.2
    assert model.decoder.layers == layers
