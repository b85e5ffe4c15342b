"""Token embedding, and the output projection whose weights are tied to it."""

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from qkv.numpy.array_types import Floats, Ints
from qkv.numpy.checks import check_shapes, running
from qkv.numpy.layer import Layer
from qkv.numpy.linear import linear_formula
from qkv.shapes import check_range
from qkv.shapes.embedding import check_embedding, check_ids_in_vocabulary

__all__ = ["Embedding", "embedding", "embedding_backward"]


def embedding(ids: Ints, table: Floats, scale: float = 1.0) -> Floats:
    """Embedding lookup: table[ids] · scale.

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
    check_shapes("embedding", ids=(ids, "int ..."), table=(table, "vocab_size d_model"))
    check_ids_in_vocabulary("embedding", ids, table.shape[0])
    check_range("embedding", "a number above 0", scale=scale)
    return embedding_formula(ids, table, float(scale))


def embedding_formula(ids: Ints, table: Floats, scale: float) -> Floats:
    """table[ids] · scale, which the layer calls."""
    return table[ids] * scale  # (..., d_model)


def embedding_backward(dout: Floats, ids: Ints, table: Floats, scale: float = 1.0) -> Floats:
    """Backward of the embedding lookup: each row sums the gradients of where its token stood.

    Args:
        dout: (..., d_model) gradient with respect to the output.
        ids, table, scale: as the forward took them.
    Returns:
        dtable: (vocab_size, d_model).
    Raises:
        ValueError: dout, ids or table do not fit.
    """
    call = "embedding_backward"
    check_shapes(call, ids=(ids, "int ..."), table=(table, "vocab_size d_model"))
    check_ids_in_vocabulary(call, ids, table.shape[0])
    check_shapes(call, dout=(dout, (*ids.shape, table.shape[1])))
    check_range(call, "a number above 0", scale=scale)
    dtable = np.zeros_like(table)  # (vocab_size, d_model)
    rows, sums = _sum_by_token(dout, ids, float(scale))
    dtable[rows] = sums
    return dtable


def _sum_by_token(dout: Floats, ids: Ints, scale: float) -> tuple[Ints, Floats]:
    """The distinct tokens, and the sum of the gradients of each.

    Tokens are sorted first and equal ones added up in one go: `np.add.at`, which needs no sorting,
    took 3 to 18 times as long on batches of 2,000 to 4,000 tokens.
    """
    order = np.argsort(ids.reshape(-1), kind="stable")
    tokens = ids.reshape(-1)[order]  # (N,)
    starts = np.flatnonzero(np.diff(tokens, prepend=tokens[:1] - 1))  # where a new token begins
    gradients = dout.reshape(tokens.size, dout.shape[-1])[order]  # (N, d_model)
    return tokens[starts], np.add.reduceat(gradients, starts, axis=0) * scale  # (n,), (n, d_model)


class Embedding(Layer):
    """Token embedding; `project` is the output projection with tied weights.

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
        self.register_parameter("weight", table.astype(dtype))

    def __call__(self, ids: Ints) -> Floats:
        """ids: (...) -> (..., d_model)."""
        if not running.checked_call:
            check_shapes("Embedding", ids=(ids, "int ..."))
            check_ids_in_vocabulary("Embedding", ids, len(self.params["weight"]))
        self.save_for_backward("the layer itself", ids)
        return embedding_formula(ids, self.params["weight"], self.scale)

    def backward(self, dout: Floats) -> None:
        """dout: (..., d_model); adds to the gradient of the rows that were looked up."""
        ids = self._pop_saved_by("backward", "the layer itself")
        table = self.params["weight"]
        check_shapes("Embedding.backward", dout=(dout, (*ids.shape, table.shape[1])))
        rows, sums = _sum_by_token(dout, ids, self.scale)
        trainable = rows != self.pad_id
        # Each row stands here once, so that this addition loses none.
        self.grads["weight"][rows[trainable]] += sums[trainable]

    def project(self, x: Floats) -> Floats:
        """Output projection with tied weights, which scores every token: x tableᵀ.

        x: (..., d_model) -> (..., vocab_size).
        """
        if not running.checked_call:
            weight = (self.params["weight"], "vocab_size d_model")
            check_shapes("Embedding.project", weight=weight, x=(x, "... d_model"))
        self.save_for_backward("project", x)
        return linear_formula(x, self.params["weight"].T, None)  # (..., vocab_size)

    def project_backward(self, dout: Floats) -> Floats:
        """dout: (..., vocab_size) -> dx: (..., d_model); adds to the gradient of the table."""
        x = self._pop_saved_by("project_backward", "project")
        table = self.params["weight"]
        shape = (*x.shape[:-1], table.shape[0])
        check_shapes("Embedding.project_backward", dout=(dout, shape))
        scores, vectors = dout.reshape(-1, len(table)), x.reshape(-1, x.shape[-1])
        dtable = scores.T @ vectors  # (vocab_size, d_model)
        if self.pad_id is not None:
            dtable[self.pad_id] = 0
        self.grads["weight"] += dtable
        return dout @ table  # (..., d_model)

    def _pop_saved_by(self, backward: str, wanted: str) -> Any:
        """Pop what the latest call has saved, if it was a call of what is wanted."""
        called, saved = self.pop_saved()
        if called != wanted:
            raise ValueError(
                f"Embedding.{backward}: the latest call without a backward was of {called}, got "
                f"one for {wanted}: go back in the opposite order of the calls"
            )
        return saved
