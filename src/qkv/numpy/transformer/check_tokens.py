"""Check the token ids of a model's call, and what stands beside them, once for all layers."""

from typing import Any

import numpy as np

from qkv.numpy.array_types import Ints
from qkv.numpy.embedding import Embedding
from qkv.numpy.transformer.decoder import Decoder
from qkv.numpy.transformer.encoder import Encoder
from qkv.numpy.transformer.positional_encoding import PositionalEncoding
from qkv.shapes.embedding import check_ids_in_vocabulary, check_max_len

__all__ = ["check_stack", "check_tokens"]


def check_tokens(
    call: str,
    name: str,
    ids: Ints,
    embedding: Embedding,
    inputs: PositionalEncoding,
    start: int = 0,
) -> None:
    """Refuse ids that stand for no row of the table, and texts longer than the positions learned.

    Args:
        name: what the call names its ids, (B, T).
        embedding, inputs: of the model; a function in its place is not asked.
        start: the position of the first token.
    """
    if isinstance(embedding, Embedding):
        check_ids_in_vocabulary(call, ids, len(embedding.params["weight"]), name)
    if isinstance(inputs, PositionalEncoding) and inputs.config.positions == "learned":
        check_max_len(call, ids.shape[1], start, len(inputs.positions.params["weight"]))


def check_stack(
    call: str,
    stack: Encoder | Decoder,
    ids: Ints,
    embedding: Embedding,
    *memory: Any,
    **options: Any,
) -> None:
    """Refuse masks, a memory and caches that the layers of a stack cannot use beside these ids.

    Args:
        stack: takes the vectors of the ids, (B, T, d_model), of which there are none as yet.
        options: as a call of the stack takes them.
    """
    if isinstance(embedding, Embedding):
        shape = (*ids.shape, embedding.params["weight"].shape[1])  # (B, T, d_model)
        x = np.broadcast_to(
            embedding.params["weight"][:1], shape
        )  # in the place of the vectors, and without memory
        stack._check_inputs(call, x, *memory, **options)
