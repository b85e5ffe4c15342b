"""Sampling: each token drawn at random, by temperature, top-k and top-p."""

import torch
from torch import Tensor

from qkv.shapes import check_count, check_range
from qkv.shapes.decoding import check_search
from qkv.torch.attention.softmax import softmax
from qkv.torch.checks import check_shapes
from qkv.torch.decoding.generation_loop import generate
from qkv.torch.decoding.step_function import StepFunction
from qkv.torch.decoding.top_k_top_p import top_k_filtering, top_p_filtering

__all__ = ["sample"]


@torch.no_grad()
def sample(
    step: StepFunction,
    prefixes: Tensor,
    *,
    eos_id: int | None,
    max_new_tokens: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    rng: torch.Generator | None = None,
    uniforms: Tensor | None = None,
    pad_id: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Sample each token from softmax(log p / temperature), cut by top-k and then by top-p.

    As `qkv.numpy.sample`, with:
        rng: draws the numbers; None is torch's own generator.
    """
    check_shapes("sample", prefixes=(prefixes, "int B+ t+"))
    check_search("sample", eos_id, max_new_tokens, pad_id)
    check_range("sample", "a finite number above 0", temperature=temperature)
    if top_k is not None:
        check_count("sample", top_k=top_k)
    if top_p is not None:
        check_range("sample", "a number in (0, 1]", top_p=top_p)
    if uniforms is not None:
        B = len(prefixes)
        expected = (uniforms, "B max_new_tokens")
        check_shapes("sample", B=B, max_new_tokens=max_new_tokens, uniforms=expected)
    device = prefixes.device if rng is None else rng.device
    columns = None if uniforms is None else iter(uniforms.T)

    def draw_token(scores: Tensor, rows: Tensor) -> Tensor:
        # less the highest, so that no temperature however low sends all to −∞; below ε², where the
        # highest alone is left, one could be 0 in the scores' own dtype
        lowest = torch.finfo(scores.dtype).eps ** 2
        scores = (scores - scores.amax(-1, keepdim=True)) / max(float(temperature), lowest)
        scores = scores if top_k is None else top_k_filtering(scores, top_k)
        scores = scores if top_p is None else top_p_filtering(scores, top_p)
        cumulative = softmax(scores).cumsum(-1)  # (N, V)
        total = cumulative[:, -1:]  # (N, 1), 1 but for rounding
        if columns is None:
            uniform = torch.rand(
                len(prefixes), generator=rng, dtype=cumulative.dtype, device=device
            )
        else:
            uniform = next(columns)  # (B,)
        uniform = uniform.to(cumulative)[rows, None] * total  # (N, 1)
        reached = (cumulative > uniform) | (cumulative == total)  # (N, V)
        return reached.int().argmax(-1)  # the first: never one of mass 0

    return generate("sample", step, prefixes, draw_token, eos_id, max_new_tokens, pad_id)
