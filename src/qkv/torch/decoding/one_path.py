"""One token after another, none taken back: the likeliest, or one that is drawn."""

from collections.abc import Callable

import torch
from torch import Tensor

from qkv.shapes import check_draws, check_prefixes, check_temperature, check_top_k, check_top_p
from qkv.torch.attention.softmax import softmax
from qkv.torch.decoding.filters import keep_top_k, keep_top_p
from qkv.torch.decoding.steps import Step, keeps_cache, next_scores

__all__ = ["greedy", "sample"]


@torch.no_grad()
def greedy(
    step: Step,
    prefixes: Tensor,
    *,
    eos_id: int | None,
    max_new_tokens: int,
    pad_id: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Take the likeliest token again and again; of equals, the lowest id.

    Args:
        step: from prefixes to log-probabilities, see `steps`; called with B rows.
        prefixes: (B, t) integers, what each sentence begins with.
        eos_id: the token that ends; None for none.
        max_new_tokens: the most tokens after the prefix.
        pad_id: fills what is short; None means eos_id, or 0.
    Returns:
        (B, T) tokens, prefix and end among them, and (B,) sums of their log-probabilities.
    Raises:
        ValueError: an argument is out of its range, the step returns what is not (N, V)
            log-probabilities, or all tokens are impossible.
    """
    check_prefixes("greedy", prefixes, eos_id, max_new_tokens, pad_id)
    return _follow(
        "greedy",
        step,
        prefixes,
        lambda scores, _: scores.argmax(-1),
        eos_id,
        max_new_tokens,
        pad_id,
    )


@torch.no_grad()
def sample(
    step: Step,
    prefixes: Tensor,
    *,
    eos_id: int | None,
    max_new_tokens: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    rng: torch.Generator | None = None,
    draws: Tensor | None = None,
    pad_id: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Draw each token from softmax(log p / temperature), cut by top-k and then by top-p.

    One uniform number is drawn for each sentence at each step, ended or not, so that a seed gives
    the same tokens with a cache and without.

    Args:
        step, prefixes, eos_id, max_new_tokens, pad_id: as for `greedy`.
        temperature: above 0; below 1 sharpens, above 1 flattens.
        top_k, top_p: as `keep_top_k` and `keep_top_p` take them; None keeps all.
        rng: draws; None is torch's own generator.
        draws: (B, max_new_tokens) numbers in [0, 1) to take instead, a row for each sentence: then
            what it gets is the same in any batch and in either room.
    Returns:
        (B, T) tokens, and (B,) sums of the step's own log-probabilities.
    Raises:
        ValueError: as `greedy`, or temperature, top_k or top_p is out of its range.
    """
    check_prefixes("sample", prefixes, eos_id, max_new_tokens, pad_id)
    check_temperature("sample", temperature)
    if top_k is not None:
        check_top_k("sample", top_k)
    if top_p is not None:
        check_top_p("sample", top_p)
    if draws is not None:
        check_draws("sample", draws, len(prefixes), max_new_tokens)
    device = prefixes.device if rng is None else rng.device
    columns = None if draws is None else iter(draws.T)

    def choose(scores: Tensor, rows: Tensor) -> Tensor:
        # less the highest, so that no temperature however low sends all to −∞
        scores = (scores - scores.amax(-1, keepdim=True)) / float(temperature)
        scores = scores if top_k is None else keep_top_k(scores, top_k)
        scores = scores if top_p is None else keep_top_p(scores, top_p)
        mass = softmax(scores).cumsum(-1)  # (N, V)
        total = mass[:, -1:]  # (N, 1), 1 but for rounding
        if columns is None:
            drawn = torch.rand(len(prefixes), generator=rng, dtype=mass.dtype, device=device)
        else:
            drawn = next(columns)  # (B,)
        drawn = drawn.to(mass)[rows, None] * total  # (N, 1)
        found = (mass > drawn) | (mass == total)  # (N, V)
        return found.int().argmax(-1)  # the first: never one of mass 0

    return _follow("sample", step, prefixes, choose, eos_id, max_new_tokens, pad_id)


def _follow(
    call: str,
    step: Step,
    prefixes: Tensor,
    choose: Callable[[Tensor, Tensor], Tensor],
    eos_id: int | None,
    max_new_tokens: int,
    pad_id: int | None,
) -> tuple[Tensor, Tensor]:
    """Go on with what `choose` takes of (N, V), for the rows (N,) of the batch, until all end."""
    pad = (eos_id or 0) if pad_id is None else pad_id
    B, tokens = len(prefixes), prefixes
    going = torch.ones(B, dtype=torch.bool, device=tokens.device)
    rows = torch.arange(B, device=tokens.device)  # the sentences that the step sees, N of them
    parents = None
    sums = torch.zeros(B, dtype=torch.float32, device=tokens.device)
    for _ in range(max_new_tokens):
        scores = next_scores(call, step, tokens[rows], parents, eos_id, going[rows])  # (N, V)
        words = choose(scores, rows)  # (N,)
        gains = scores.new_zeros(B)
        gains[rows] = scores.gather(1, words[:, None])[:, 0]
        sums = torch.where(going, sums + gains, sums)
        new = tokens.new_full((B,), pad)
        new[rows] = words.to(tokens.dtype).masked_fill(~going[rows], pad)
        tokens = torch.cat([tokens, new[:, None]], 1)  # (B, t + 1)
        if eos_id is not None:
            going &= new != eos_id
        if not going.any():
            break
        parents = going[rows].nonzero()[:, 0] if keeps_cache(step) else rows
        rows = rows[parents]
    return tokens, sums
