"""Whole models on a GPU: the numbers of the CPU, autocast, compilation, decoding with a cache."""

import numpy as np
import pytest
import torch

import qkv.torch as qt
from tests.helpers.models import CASES, MODELS, T, build, config_of
from tests.helpers.rooms import close
from tests.helpers.tolerances import TOLERANCE

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")


def twins(case, model, **own):
    """The same model on the CPU and on the GPU, and ids that it takes."""
    config = config_of(case, model)
    there = build(qt, config, model, device="cuda", **own)
    here = build(qt, config, model, **own)
    here.load_state_dict(there.state_dict())
    rng = np.random.default_rng(0)
    sizes = (config.vocab_size, config.target_vocabulary)
    ids = [torch.from_numpy(rng.integers(1, n, (2, T + 2))) for n in sizes]
    return here, there, ids if model == "encoder-decoder" else ids[:1]


def cuda(ids):
    return [x.cuda() for x in ids]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("case", CASES)
def test_the_numbers_of_the_cpu(case, model):
    here, there, ids = twins(case, model, dtype=torch.float64)
    expected, found = here(*ids), there(*cuda(ids))
    close(found.detach().cpu(), expected.detach())
    dout = torch.randn(expected.shape, dtype=torch.float64)
    expected.backward(dout)
    found.backward(dout.cuda())
    for (name, one), (_, other) in zip(
        here.named_parameters(), there.named_parameters(), strict=True
    ):
        assert (one.grad is None) == (other.grad is None), name
        if one.grad is not None:
            close(other.grad.cpu(), one.grad)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("case", ["as in the paper", "as models are today", "falling scores"])
def test_autocast(case, dtype):
    here, there, ids = twins(case, "decoder-only")
    with torch.autocast("cuda", dtype):
        found = there(*cuda(ids))
    found.float().sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in there.parameters() if p.grad is not None)
    expected = here(*ids).detach()
    # Each of a dozen roundings in a row adds its own.
    worst = (found.float().cpu().detach() - expected).abs().max() / expected.abs().max()
    assert worst < 4 * TOLERANCE["bfloat16"]


@pytest.mark.parametrize("case", ["as in the paper", "as models are today"])
def test_compiled_with_its_own_kernels(case):
    torch.compiler.reset()
    here, there, ids = twins(case, "decoder-only")
    compiled = torch.compile(there, fullgraph=True)
    found = compiled(*cuda(ids))
    expected = here(*ids).detach()
    worst = (found.cpu().detach() - expected).abs().max() / expected.abs().max()
    assert worst < 1e-3  # products of float32 may use TF32's 11 bits


@pytest.mark.parametrize("case", ["as in the paper", "two vocabularies", "as models are today"])
def test_decoding_with_a_cache(case):
    here, there, (source, _) = twins(case, "encoder-decoder", dtype=torch.float64)
    prefixes = torch.ones(2, 1, dtype=torch.long)
    told = {}
    for name, model, ids, start in (
        ("here", here, source, prefixes),
        ("there", there, source.cuda(), prefixes.cuda()),
    ):
        step = model.eval().start_decoding(ids)
        tokens, scores = qt.beam_search(step, start, eos_id=2, max_new_tokens=9, beam_size=4)
        told[name] = tokens.cpu(), scores.cpu()
    assert torch.equal(told["here"][0], told["there"][0])
    close(told["there"][1], told["here"][1])


def test_layers_draw_on_the_device():
    rng = torch.Generator("cuda").manual_seed(3)
    layer = qt.MultiHeadAttention(12, 3, rng=rng, device="cuda")
    drop = qt.Dropout(0.5, rng=rng)
    out, weights = layer(drop(torch.randn(2, T, 12, device="cuda")), need_weights=True)
    assert out.is_cuda
    assert weights.is_cuda
