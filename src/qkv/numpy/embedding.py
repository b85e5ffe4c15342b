"""From token ids to vectors, and back to a score for each token by the same table."""

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from qkv.numpy.attention.softmax import Floats
from qkv.numpy.layer import Layer
from qkv.numpy.positional import Ints
from qkv.shapes import (
    check_embedding,
    check_gradient_of,
    check_in_table,
    check_input,
    check_scale,
    check_table,
    check_tokens,
)

__all__ = ["Embedding", "embedding", "embedding_backward"]


def embedding(ids: Ints, table: Floats, scale: float = 1.0) -> Floats:
    """Look up each token's vector: table[ids] · scale.

    Args:
        ids: (...), ints in [0, vocab_size).
        table: (vocab_size, d_model).
        scale: multiplies them, a number above 0; √d_model in the paper.
    Returns:
        (..., d_model), typed like the table.
    Raises:
        ValueError: ids, table or scale do not fit; an id out of range is named with its place.
    Source: Vaswani et al. 2017, section 3.4.
    """
    check_tokens("embedding", ids)
    check_table("embedding", table)
    check_in_table("embedding", ids, table.shape[0])
    check_scale("embedding", scale)
    return table[ids] * float(scale)  # (..., d_model)


def embedding_backward(dout: Floats, ids: Ints, table: Floats, scale: float = 1.0) -> Floats:
    """The gradient of `embedding`: each row collects what came back wherever its token stood.

    Args:
        dout: (..., d_model) gradient with respect to the output.
        ids, table, scale: as the forward took them.
    Returns:
        dtable: (vocab_size, d_model).
    Raises:
        ValueError: dout, ids or table do not fit.
    """
    check_tokens("embedding_backward", ids)
    check_table("embedding_backward", table)
    check_in_table("embedding_backward", ids, table.shape[0])
    check_gradient_of("embedding_backward", dout, (*ids.shape, table.shape[1]))
    check_scale("embedding_backward", scale)
    dtable = np.zeros_like(table)  # (vocab_size, d_model)
    rows, sums = _collected(dout, ids, float(scale))
    dtable[rows] = sums
    return dtable


def _collected(dout: Floats, ids: Ints, scale: float) -> tuple[Ints, Floats]:
    """The tokens that stood anywhere, each once, and the sum of the gradients of each.

    Tokens are sorted first and equal ones added up in one go: `np.add.at`, which needs no sorting,
    took 3 to 18 times as long on batches of 2,000 to 4,000 tokens.
    """
    flat = ids.reshape(-1)  # (N,)
    order = np.argsort(flat, kind="stable")
    flat = flat[order]
    first = np.flatnonzero(np.diff(flat, prepend=flat[:1] - 1))  # where a new token begins
    upstream = dout.reshape(flat.size, dout.shape[-1])[order]  # (N, d_model)
    return flat[first], np.add.reduceat(upstream, first, axis=0) * scale  # (n,), (n, d_model)


class Embedding(Layer):
    """A table of token vectors; `project` scores each token by it, with the weights tied.

    Args:
        vocab_size: number of tokens.
        d_model: width of the vectors.
        pad_id: the token that fills short sentences up: its row is zero and gets no gradient, not
            from looking up and not from `project`. None has no such token.
        scale: multiplies the vectors; None means √d_model, so that rows of length about 1 give
            entries of about 1.
        rng: draws the table, N(0, 1/d_model); None is a generator of its own.
        dtype: of the table, and so of what the layer gives.
    Raises:
        ValueError: a size is no positive whole number, pad_id is no token, or scale no number.
    Source: Vaswani et al. 2017, section 3.4; tying: Press and Wolf 2017.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        pad_id: int | None = None,
        scale: float | None = None,
        *,
        rng: np.random.Generator | None = None,
        dtype: DTypeLike = np.float32,
    ) -> None:
        super().__init__()
        check_embedding(vocab_size, d_model, pad_id, scale)
        rng = rng or np.random.default_rng()
        self.pad_id = pad_id
        self.scale = math.sqrt(d_model) if scale is None else float(scale)
        table = rng.standard_normal((vocab_size, d_model)) / math.sqrt(d_model)
        if pad_id is not None:
            table[pad_id] = 0
        self.add("weight", table.astype(dtype))

    def __call__(self, ids: Ints) -> Floats:
        """ids: (...) -> (..., d_model)."""
        table = self.params["weight"]
        check_tokens("Embedding", ids)
        check_in_table("Embedding", ids, table.shape[0])
        self.save("the layer itself", ids)
        return table[ids] * self.scale  # (..., d_model)

    def backward(self, dout: Floats) -> None:
        """dout: (..., d_model); adds to the gradient of the rows that were looked up."""
        ids = self._latest("backward", "the layer itself")
        table = self.params["weight"]
        check_gradient_of("Embedding.backward", dout, (*ids.shape, table.shape[1]))
        rows, sums = _collected(dout, ids, self.scale)
        learning = rows != self.pad_id
        # Each row stands here once, so that this addition loses none.
        self.grads["weight"][rows[learning]] += sums[learning]

    def project(self, x: Floats) -> Floats:
        """Score every token by its likeness to a vector: x tableᵀ.

        x: (..., d_model) -> (..., vocab_size).
        """
        table = self.params["weight"]
        check_input("Embedding.project", x, "d_model", table.T)
        self.save("project", x)
        return x @ table.T  # (..., vocab_size)

    def project_backward(self, dout: Floats) -> Floats:
        """dout: (..., vocab_size) -> dx: (..., d_model); adds to the gradient of the table."""
        x = self._latest("project_backward", "project")
        table = self.params["weight"]
        shape = (*x.shape[:-1], table.shape[0])
        check_gradient_of("Embedding.project_backward", dout, shape)
        scores, vectors = dout.reshape(-1, len(table)), x.reshape(-1, x.shape[-1])
        dtable = scores.T @ vectors  # (vocab_size, d_model)
        if self.pad_id is not None:
            dtable[self.pad_id] = 0
        self.grads["weight"] += dtable
        return dout @ table  # (..., d_model)

    def _latest(self, backward: str, wanted: str) -> Any:
        """What the latest call kept, if it was of the wanted kind."""
        kind, kept = self.saved()
        if kind != wanted:
            raise ValueError(
                f"Embedding.{backward}: the latest call without a backward was of {kind}, got one "
                f"for {wanted}: go back in the opposite order of the calls"
            )
        return kept
