"""Check the token ids of a model's call, and what stands beside them, once for all layers."""

from typing import Any

from torch import Tensor

from qkv.shapes.embedding import check_max_len
from qkv.torch.embedding import Embedding, check_in_table
from qkv.torch.transformer.decoder import Decoder
from qkv.torch.transformer.encoder import Encoder
from qkv.torch.transformer.positional_encoding import PositionalEncoding

__all__ = ["check_stack", "check_tokens"]


def check_tokens(
    call: str,
    name: str,
    ids: Tensor,
    embedding: Embedding,
    inputs: PositionalEncoding,
    start: int = 0,
) -> None:
    """Refuse ids that stand for no row of the table, and texts longer than the positions learned.

    As `qkv.numpy.transformer.check_tokens.check_tokens`, with:
        embedding, inputs: of the model; a module of another class in its place is not asked.
    """
    if isinstance(embedding, Embedding):
        check_in_table(call, ids, embedding.weight, name)
    if isinstance(inputs, PositionalEncoding) and inputs.config.positions == "learned":
        check_max_len(call, ids.shape[1], start, len(inputs.positions.weight))


def check_stack(
    call: str,
    stack: Encoder | Decoder,
    ids: Tensor,
    embedding: Embedding,
    *memory: Any,
    **options: Any,
) -> None:
    """Refuse masks, a memory and caches that the layers of a stack cannot use beside these ids.

    As `qkv.numpy.transformer.check_tokens.check_stack`.
    """
    if isinstance(embedding, Embedding):
        shape = (*ids.shape, embedding.embedding_dim)  # (B, T, d_model)
        x = embedding.weight[:1].expand(shape)  # in the place of the vectors, and without memory
        stack._check_inputs(call, x, *memory, **options)
