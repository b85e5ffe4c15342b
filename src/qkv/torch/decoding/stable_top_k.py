"""Stable top-k: the k largest of each row, of equals the first, the same in both rooms."""

from torch import Tensor

__all__ = ["stable_top_k", "stable_top_k_mask"]


def stable_top_k_mask(x: Tensor, k: int) -> Tensor:
    """Where the k largest of each row of (N, M) stand; of equals, the first."""
    threshold = x.topk(k).values[:, -1:]  # (N, 1), the k-th largest
    mask = x >= threshold  # (N, M)
    if mask.sum() > k * len(x):  # more equal to the threshold than there is room for: rare
        above, equal = x > threshold, x == threshold
        room = k - above.sum(-1, keepdim=True)  # (N, 1)
        mask = above | (equal & (equal.cumsum(-1) <= room))
    return mask


def stable_top_k(x: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k largest of each row of (N, M), falling, and their indices; of equals, the first."""
    values, indices = x.topk(min(4 * k, x.shape[1]))  # (N, 4k), falling, equals in any order
    if not (values[:, k - 1] > values[:, -1]).all():  # equals of the k-th may be missing: rare
        indices = stable_top_k_mask(x, k).nonzero()[:, 1].reshape(len(x), k)  # (N, k)
    indices = indices.sort(dim=1).values
    values = x.gather(1, indices)
    order = values.argsort(dim=1, descending=True, stable=True)[:, :k]
    return values.gather(1, order), indices.gather(1, order)
