"""Every word that an option may be works in both rooms: built, trained a step, decoded, searched.

A word that is added to `qkv.shapes.choices` is tried here at once, with nothing to write.
"""

import numpy as np
import pytest
import torch

import qkv.numpy as qn
import qkv.torch as qt
from qkv.shapes import choices
from tests.helpers.layers import same_gradients
from tests.helpers.models import MODELS, detached, tensors, texts, twins
from tests.helpers.rooms import close

OF_A_CONFIG = {
    "activation": choices.ACTIVATIONS,
    "norm": choices.NORMS,
    "norm_placement": choices.PLACEMENTS,
    "positions": choices.POSITIONS,
    "layout": choices.LAYOUTS,
    "tie": choices.TIES,
}
WORDS = [(option, word) for option, words in OF_A_CONFIG.items() for word in words]
LOSS = {"label_smoothing": 0.1, "ignore_index": 0}


def models_with(option, word, model):
    return twins("as in the paper", model, **{option: word, "max_len": 11, "d_k": 4})


def test_every_list_of_words_is_tried():
    lists = {name: x for name, x in vars(choices).items() if isinstance(x, tuple)}
    tried = {*OF_A_CONFIG.values(), choices.LENGTH_FORMULAS, choices.REDUCTIONS, tuple(MODELS)}
    assert set(lists.values()) - tried == {choices.APPROXIMATIONS}
    assert set(choices.APPROXIMATE.values()) == set(choices.APPROXIMATIONS)
    assert set(choices.APPROXIMATE) <= set(choices.ACTIVATIONS)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("option", "word"), WORDS)
def test_a_training_step_is_the_same_in_both_rooms(option, word, model):
    ours, theirs = models_with(option, word, model)
    inputs = texts(ours.config, model)
    targets = np.random.default_rng(2).integers(0, ours.config.target_vocabulary, inputs[-1].shape)
    logits = ours(*inputs)
    loss = qn.cross_entropy(logits, targets, **LOSS)
    ours.backward(qn.cross_entropy_backward(1.0, logits, targets, **LOSS))
    expected = qt.cross_entropy(theirs(*tensors(inputs)), torch.tensor(targets), **LOSS)
    expected.backward()
    close(loss, expected.detach())
    same_gradients(ours, theirs)
    for room, each in ((qn, ours), (qt, theirs)):
        room.clip_grad_norm(each, 1.0)
        room.Adam(each).step(1e-2)
    after = qn.cross_entropy(ours(*inputs), targets, **LOSS)
    assert after < loss
    with torch.no_grad():
        again = qt.cross_entropy(theirs(*tensors(inputs)), torch.tensor(targets), **LOSS)
    close(after, again, "float32")  # Adam makes steps of the last digits of a gradient of 0


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("option", "word"), WORDS)
def test_decoding_with_the_cache_gives_the_logits_of_the_whole_text(option, word, model):
    ours, theirs = models_with(option, word, model)
    *source, ids = texts(ours.config, model)
    expected = ours.eval()(*source, ids)
    for each, to in ((ours, np.asarray), (theirs.eval(), torch.tensor)):
        state = each.start_decoding(*map(to, source))
        steps = [
            np.asarray(detached(state.extend(to(ids[:, t : t + 1])))) for t in range(ids.shape[1])
        ]
        close(np.concatenate(steps, 1), expected)


@pytest.mark.parametrize("formula", choices.LENGTH_FORMULAS)
def test_a_length_formula_ranks_alike_in_both_rooms(formula):
    found = []
    for each, room, to in zip(
        twins("as in the paper"), (qn, qt), (np.asarray, torch.tensor), strict=True
    ):
        source, ids = texts(each.config)
        state = each.eval().start_decoding(to(source))
        options = {"eos_id": 3, "max_new_tokens": 5, "beam_size": 3, "length_formula": formula}
        found.append(room.beam_search(state, to(ids[:, :1]), **options))
    np.testing.assert_array_equal(*[np.asarray(tokens) for tokens, _ in found])
    close(*[detached(scores) for _, scores in found])


@pytest.mark.parametrize("reduction", choices.REDUCTIONS)
def test_a_reduction_and_its_backward_are_those_of_autograd(reduction):
    rng = np.random.default_rng(0)
    logits, targets = rng.standard_normal((2, 3, 5)), rng.integers(0, 5, (2, 3))
    options = {**LOSS, "reduction": reduction}
    theirs = torch.tensor(logits, requires_grad=True)
    expected = qt.cross_entropy(theirs, torch.tensor(targets), **options)
    dloss = rng.standard_normal(expected.shape)
    expected.backward(torch.tensor(dloss))
    close(qn.cross_entropy(logits, targets, **options), expected.detach())
    close(qn.cross_entropy_backward(dloss, logits, targets, **options), theirs.grad)
