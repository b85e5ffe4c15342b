"""What attention for long texts refuses: patterns, projections, features, and masks."""

from collections.abc import Iterable

from qkv.shapes.core import Array, axes_of, broadcast, check_floats, check_shape, listed, shown
from qkv.shapes.scalars import number, whole


def check_positions(call: str, positions: Iterable[int], S: int) -> tuple[int, ...]:
    """The positions as plain numbers; refuse what is no sequence of positions of the text."""
    found = []
    for position in positions if isinstance(positions, Iterable) else [None]:
        place = whole(position)
        if place is None:
            raise ValueError(
                f"{call}: positions must be whole numbers, got {positions!r}: one is written (0,)"
            )
        if not 0 <= place < S:
            raise ValueError(
                f"{call}: positions must lie in [0, {S}), got {place}: count from the first key"
            )
        found.append(place)
    return tuple(found)


def check_key_mask(call: str, q: Array, k: Array, mask: Array | None, mend: str) -> None:
    """Refuse a mask that hides a key from some queries and not from others."""
    sizes = (*q.shape[:-2], 1, k.shape[-2])
    if mask is not None and broadcast(mask.shape, sizes) != sizes:
        names = listed((*axes_of(q), "1", "S"))
        raise ValueError(
            f"{call}: mask must broadcast to {names} = {listed(sizes)}, "
            f"got {listed(mask.shape)}: {mend}"
        )


def check_projections(call: str, k: Array, e: Array, f: Array) -> None:
    """Refuse projections of the sequence axis that do not fit the keys and one another."""
    check_floats(call, k=k, e=e, f=f)
    S = k.shape[-2]
    check_shape(call, "e", e, ("S", "r"), (S, "r"), "its rows are the S positions of k")
    r = e.shape[1]
    if r == 0:
        raise ValueError(f"{call}: r must be at least 1, got e = {listed(e.shape)}: project to one")
    check_shape(call, "f", f, ("S", "r"), (S, r), "e and f make r rows of S positions")


def check_features(call: str, q: Array, features: Array, scale: float | None) -> None:
    """Refuse directions that are not as wide as the queries, and a scale that has no root."""
    check_floats(call, q=q, features=features)
    d_k = q.shape[-1]
    mend = "draw them with draw_features(d_k, n_features)"
    check_shape(call, "features", features, ("d_k", "n_features"), (d_k, "n_features"), mend)
    if features.shape[1] == 0:
        came = listed(features.shape)
        raise ValueError(f"{call}: n_features must be at least 1, got features = {came}: {mend}")
    root = 1.0 if scale is None else number(scale)
    if root is None or not root > 0:
        raise ValueError(
            f"{call}: scale must be above 0, got {shown(scale)}: its root scales queries and keys"
        )


def check_kept_blocks(
    call: str, q: Array, v: Array, out: Array | None, peak: Array | None, total: Array | None
) -> None:
    """Refuse an output, peaks or totals that are not of this forward call."""
    names, mend = axes_of(q), "pass the forward's own"
    check_floats(call, q=q, out=out)
    check_floats(call, peak=peak, total=total)  # in half precision they are wider than q
    if out is not None:
        sizes = (*q.shape[:-1], v.shape[-1])
        check_shape(call, "out", out, (*names, "T", "d_v"), sizes, mend)
    for name, x in (("peak", peak), ("total", total)):
        if x is not None:
            check_shape(call, name, x, (*names, "T"), tuple(q.shape[:-1]), mend)
