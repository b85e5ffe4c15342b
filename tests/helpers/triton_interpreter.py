"""Triton's interpreter in a process of its own: it has to be chosen before Triton is imported."""

from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, nullcontext
from multiprocessing import get_context

import pytest
import torch


@contextmanager
def interpreter():
    """A function that calls another in that process: `call(attend, arrays, dout)`."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TRITON_INTERPRET", "1")
            pool.submit(abs, 0).result()  # starts the process
        yield lambda *given, **options: pool.submit(*given, **options).result()


def attend(arrays, dout, mask=None, dtype="float32", autocast=None, device="cpu", **options):
    """Output of the kernel and gradients of q, k and v as arrays: of the interpreter, or a GPU."""
    from qkv.torch.efficient import triton_attention

    inputs = [torch.tensor(x, dtype=getattr(torch, dtype), device=device) for x in arrays]
    inputs = [x.requires_grad_() for x in inputs]
    mask = None if mask is None else torch.tensor(mask, device=device)
    cast = torch.autocast(device, getattr(torch, autocast)) if autocast else nullcontext()
    with cast:
        out = triton_attention(*inputs, mask=mask, **options)
    upstream = torch.tensor(dout, dtype=out.dtype, device=device)
    gradients = torch.autograd.grad(out, inputs, upstream)
    return [x.detach().cpu().double().numpy() for x in (out, *gradients)]


def take_gradients_twice(arrays):
    """A gradient of the kernel's gradient."""
    from qkv.torch.efficient import triton_attention

    q, k, v = (torch.tensor(x, dtype=torch.float32, requires_grad=True) for x in arrays)
    (dq,) = torch.autograd.grad(triton_attention(q, k, v).sum(), q, create_graph=True)
    dq.sum().backward()
