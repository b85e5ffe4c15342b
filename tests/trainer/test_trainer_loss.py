"""TranslationLoss is that of model and cross-entropy, in parts that fit a cache."""

import doctest
from dataclasses import replace

import numpy as np
import pytest
import torch

import qkv.torch as qt
from qkv.text import PAD, collate
from qkv.trainer import TranslationLoss, batch_tensors, linear_cross_entropy
from qkv.trainer import fused_linear_cross_entropy as module
from tests.helpers.models import CASES, config_of
from tests.helpers.rooms import close
from tests.helpers.tolerances import TOLERANCE

CPU = torch.device("cpu")


def pairs(config, seed=0):
    rng = np.random.default_rng(seed)
    sizes = config.vocab_size, config.target_vocabulary
    return [tuple(rng.integers(4, size, rng.integers(2, 7)) for size in sizes) for _ in range(5)]


def gradients(model):
    return {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}


@pytest.mark.parametrize(("smoothing", "size"), [(0.0, 1), (0.1, 40), (0.1, 10**6)])
@pytest.mark.parametrize("case", CASES)
def test_loss_and_gradients_are_those_of_the_model_and_cross_entropy(
    monkeypatch, case, smoothing, size
):
    monkeypatch.setitem(module.SCORES, "cpu", size)
    config = config_of(case, pad_id=0)
    model = qt.Transformer(config, dtype=torch.float64)
    batch = collate(pairs(config), range(5))
    source, target_in, target_out = map(
        torch.from_numpy, (batch.source, batch.target_in, batch.target_out)
    )
    words = int((batch.target_out != PAD).sum())
    assert words < target_out.numel()
    expected = qt.cross_entropy(
        model(source, target_in), target_out, label_smoothing=smoothing, ignore_index=PAD
    )
    (expected * 1.7).backward()
    wanted = gradients(model)
    for fused in (True, False):
        model.zero_grad()
        loss = TranslationLoss(model, smoothing, fused).train()(*batch_tensors(batch, CPU))
        (loss * (1.7 / words)).backward()
        close(loss.detach() / words, expected.detach())
        found = gradients(model)
        assert found.keys() == wanted.keys()
        for name, gradient in found.items():
            close(gradient, wanted[name])


def test_its_example_runs_as_printed():
    done = doctest.testmod(module)
    assert done.attempted > 3
    assert done.failed == 0


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_large_scores_do_not_swallow_the_logarithm(smoothing):
    """Seven equal scores of 2³⁰: the loss is log 7."""
    x, weight = torch.full((3, 1), 2.0**30), torch.ones(7, 1)
    words = torch.tensor([0, 3, 6])
    loss = linear_cross_entropy(x, weight, None, words, smoothing)
    expected = torch.nn.functional.cross_entropy(x @ weight.T, words, reduction="sum")
    close(loss, expected, "float32")


def test_in_evaluation_nothing_is_smoothed_and_nothing_kept():
    config = config_of("as in the paper", dropout=0.3)
    model = qt.Transformer(config, dtype=torch.float64).eval()
    batch = collate(pairs(config), range(5))
    with torch.no_grad():
        loss = TranslationLoss(model, 0.1).eval()(*batch_tensors(batch, CPU))
    source, target_in, target_out = map(
        torch.from_numpy, (batch.source, batch.target_in, batch.target_out)
    )
    expected = qt.cross_entropy(model(source, target_in), target_out, ignore_index=PAD)
    close(loss, expected.detach() * int((batch.target_out != PAD).sum()))
    assert not loss.requires_grad


def test_scores_far_apart_stay_finite():
    x = torch.tensor([[1e4, 0.0], [0.0, 1e4]], dtype=torch.float64, requires_grad=True)
    weight = torch.eye(2, dtype=torch.float64, requires_grad=True)
    loss = linear_cross_entropy(x, weight, None, torch.tensor([1, 1]), 0.1)
    loss.backward()
    close(loss.detach(), 0.95 * 1e4 + 0.05 * 1e4)
    close(x.grad, [[0.95, -0.95], [-0.05, 0.05]])


def test_autocast_narrows_the_products_alone():
    rng = torch.Generator().manual_seed(0)
    x, weight = (torch.randn(n, 16, generator=rng, requires_grad=True) for n in (9, 30))
    words = torch.arange(9)
    linear_cross_entropy(x, weight, None, words, 0.1).backward()
    wanted = [x.grad, weight.grad]
    x.grad = weight.grad = None
    with torch.autocast("cpu", torch.bfloat16):
        loss = linear_cross_entropy(x, weight, None, words, 0.1)
    loss.backward()
    assert loss.dtype == torch.float32
    for found, expected in zip((x.grad, weight.grad), wanted, strict=True):
        assert found.dtype == torch.float32
        worst = (found - expected).abs().max() / expected.abs().max()
        assert 1e-5 < worst < TOLERANCE["bfloat16"]


def test_it_compiles_whole_without_the_parts():
    config = config_of("as in the paper", n_layers=1)
    model = qt.Transformer(config)
    loss_module = TranslationLoss(model, 0.1, fused=False).train()
    batch = batch_tensors(collate(pairs(config), range(5)), CPU)
    expected = loss_module(*batch).detach()
    compiled = torch.compile(loss_module, backend="aot_eager", fullgraph=True)
    close(compiled(*batch).detach(), expected, "float32")


def test_it_compiles_for_every_length_with_dropout():
    """What a run with --compile does: lengths are symbols, and dropout draws for them."""
    config = replace(config_of("as in the paper", n_layers=1), dropout=0.5)
    model = qt.Transformer(config)
    loss_module = TranslationLoss(model, 0.1, fused=False).train()
    compiled = torch.compile(loss_module, backend="aot_eager", fullgraph=True, dynamic=True)
    for index in ([0, 1, 2], [3, 4]):
        batch = batch_tensors(collate(pairs(config), index), CPU)
        torch.manual_seed(0)
        first = float(compiled(*batch).detach())
        torch.manual_seed(0)
        assert float(compiled(*batch).detach()) == first
        torch.manual_seed(1)
        assert float(compiled(*batch).detach()) != first
