"""What the kernels share: which block a program works on, its rows, its scores.

The arrays are contiguous, and their leading axes are one: q is (N, T, d_k) with N = B·H, a mask
(N, S). A block holds R queries and C keys. Rows are WIDTH numbers wide on chip, the next power of
two, with zeros behind the d_k or d_v that count.

Scores are in units of log 2: exp(s) = 2^(s · log₂ e), and a GPU has an instruction for 2^x. So
`factor`, by which products are multiplied, is scale · log₂ e.
"""

from __future__ import annotations

import triton
import triton.language as tl

__all__ = ["hide", "load_rows", "place", "scores_of", "store_rows"]


@triton.jit
def place(n_rows: tl.tensor, ROWS: tl.constexpr) -> tuple[tl.tensor, tl.tensor]:
    """Which of the N this program works on, and the first row of its block there."""
    n_blocks = tl.cdiv(n_rows, ROWS)
    n = (tl.program_id(0) // n_blocks).to(tl.int64)  # N · T · d_k can outgrow int32
    return n, tl.program_id(0) % n_blocks * ROWS


@triton.jit
def load_rows(
    x: tl.tensor, rows: tl.tensor, n_rows: tl.tensor, D: tl.constexpr, WIDTH: tl.constexpr
) -> tl.tensor:
    """These rows of a matrix (n_rows, D), as (rows, WIDTH); zeros beyond its edges."""
    columns = tl.arange(0, WIDTH)
    inside = (rows < n_rows)[:, None] & (columns < D)[None, :]
    return tl.load(x + rows[:, None] * D + columns[None, :], inside, other=0.0)


@triton.jit
def store_rows(
    x: tl.tensor,
    values: tl.tensor,
    rows: tl.tensor,
    n_rows: tl.tensor,
    D: tl.constexpr,
    WIDTH: tl.constexpr,
) -> None:
    """Write these rows of a matrix (n_rows, D), but nothing beyond its edges."""
    columns = tl.arange(0, WIDTH)
    inside = (rows < n_rows)[:, None] & (columns < D)[None, :]
    tl.store(x + rows[:, None] * D + columns[None, :], values.to(x.dtype.element_ty), inside)


@triton.jit
def scores_of(a: tl.tensor, b: tl.tensor) -> tl.tensor:
    """The product a bᵀ in float32; of float32 in full, which a GPU otherwise cuts to 11 bits."""
    return tl.dot(a, tl.trans(b), input_precision="ieee")


@triton.jit
def hide(
    scores: tl.tensor,
    mask: tl.tensor,
    rows: tl.tensor,
    cols: tl.tensor,
    T: tl.tensor,
    S: tl.tensor,
    CAUSAL: tl.constexpr,
) -> tl.tensor:
    """Set scores to −∞ where query `rows` may not attend to key `cols`; they broadcast."""
    visible = cols < S
    if mask is not None:
        visible = visible & tl.load(mask + cols, visible, other=0).to(tl.int1)
    if CAUSAL:
        visible = visible & (cols <= rows + S - T)
    return tl.where(visible, scores, float("-inf"))
