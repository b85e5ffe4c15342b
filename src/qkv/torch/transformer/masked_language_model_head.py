"""Head of a masked language model: from hidden states to logits of the tokens behind the mask."""

from typing import Any

import torch
from torch import Tensor

from qkv.config import TransformerConfig
from qkv.shapes import check_choice
from qkv.shapes.choices import GELUS
from qkv.torch.checks import check_shapes, checked_by
from qkv.torch.embedding import Embedding
from qkv.torch.feed_forward.activations import ACTIVATIONS
from qkv.torch.layer import Layer
from qkv.torch.linear import Linear
from qkv.torch.transformer.build_from_config import make_model_norm, make_output

__all__ = ["MaskedLanguageModelHead"]


class MaskedLanguageModelHead(Layer):
    """Head of a masked language model: logits = norm(gelu(x W + b)) tableᵀ + output bias.

    As `qkv.numpy.transformer.masked_language_model_head.MaskedLanguageModelHead`, with:
        rng: draws the weights; None is torch's own generator.
        dtype, device: of the parameters.
    """

    def __init__(
        self,
        config: TransformerConfig,
        table: Embedding,
        *,
        rng: torch.Generator | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        super().__init__()
        check_choice("MaskedLanguageModelHead", "activation", config.activation, GELUS)
        factory_kwargs: dict[str, Any] = {"rng": rng, "dtype": dtype, "device": device}
        self.activation = config.activation
        self.dense = Linear(config.d_model, config.d_model, **factory_kwargs)
        self.norm = make_model_norm(config, **factory_kwargs)
        self.output = make_output(config, table, **factory_kwargs)

    def _check(self, x: Tensor) -> None:
        weight = (self.dense.weight, "d_model d_model")
        check_shapes("MaskedLanguageModelHead", weight=weight, x=(x, "... d_model"))

    @checked_by(_check)
    def forward(self, x: Tensor) -> Tensor:
        """x: (..., d_model) -> (..., V)."""
        hidden = ACTIVATIONS[self.activation](self.dense(x))  # (..., d_model)
        logits: Tensor = self.output(self.norm(hidden))  # (..., V)
        return logits
