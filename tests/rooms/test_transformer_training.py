"""Two hundred steps of the paper's training in both rooms: the same loss at each, to 1e-10."""

import numpy as np
import pytest
import torch

import qkv.numpy as qn
import qkv.torch as qt
from qkv.config import TransformerConfig
from tests.helpers.layers import copy_parameters
from tests.helpers.models import SMALL
from tests.helpers.rooms import close

STEPS = 200
WARMUP = 200  # with 60 the rate is high enough to turn last digits into other paths
BEGIN, END = 1, 2
LOSS = {"label_smoothing": 0.1, "ignore_index": 0}
ADAM = {"betas": (0.9, 0.98), "eps": 1e-9}  # section 5.3


def batches():
    """Texts of three to six of twelve words, and the same backwards; padded, with a beginning."""
    rng = np.random.default_rng(0)
    for _ in range(STEPS):
        source = np.zeros((8, 6), int)
        target = np.zeros((8, 8), int)
        for row, answer in zip(source, target, strict=True):
            words = rng.integers(3, 15, rng.integers(3, 7))
            row[: len(words)] = words
            answer[: len(words) + 2] = [BEGIN, *words[::-1], END]
        yield source, target[:, :-1], target[:, 1:]


@pytest.mark.parametrize(
    "more",
    [
        {},
        {
            "tie_word_embeddings": "none",
            "norm_first": True,
            "norm": "rms",
            "activation": "swiglu",
            "positions": "rotary",
            "n_kv_heads": 1,
            "bias": False,
        },
    ],
    ids=["as in the paper", "as models are today"],
)
def test_both_rooms_learn_the_same_at_each_step(more):
    config = TransformerConfig(**{**SMALL, "d_ff": 24, "n_layers": 1, **more})
    ours = qn.Transformer(config, rng=np.random.default_rng(1), dtype=np.float64)
    theirs = qt.Transformer(config, dtype=torch.float64)
    copy_parameters(ours, theirs)
    ours_adam, theirs_adam = qn.Adam(ours, **ADAM), qt.Adam(theirs, **ADAM)
    losses = []
    for step, (source, target, wanted) in enumerate(batches(), start=1):
        rate = qn.noam_schedule(step, config.d_model, WARMUP)
        ours.zero_grad()
        logits = ours(source, target)
        loss = qn.cross_entropy(logits, wanted, **LOSS)
        ours.backward(qn.cross_entropy_backward(1.0, logits, wanted, **LOSS))
        norm = qn.clip_grad_norm(ours, 1.0)
        ours_adam.step(rate)

        theirs.zero_grad()
        expected_logits = theirs(torch.tensor(source), torch.tensor(target))
        expected = qt.cross_entropy(expected_logits, torch.tensor(wanted), **LOSS)
        expected.backward()
        expected_norm = qt.clip_grad_norm(theirs, 1.0)
        theirs_adam.step(rate)

        close(loss, expected.detach())
        close(norm, expected_norm)
        losses.append(loss)
    assert np.mean(losses[-20:]) < 0.75 * np.mean(losses[:20])
