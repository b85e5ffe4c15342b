"""Head of a masked language model: from hidden states to logits of the tokens behind the mask."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from qkv.config import TransformerConfig
from qkv.numpy.array_types import Floats
from qkv.numpy.checks import check_shapes, checked_by
from qkv.numpy.embedding import Embedding
from qkv.numpy.feed_forward.activations import ACTIVATIONS
from qkv.numpy.layer import Layer
from qkv.numpy.linear import Linear
from qkv.numpy.transformer.build_from_config import make_model_norm, make_output
from qkv.shapes import check_choice
from qkv.shapes.choices import GELUS

__all__ = ["MaskedLanguageModelHead"]


class MaskedLanguageModelHead(Layer):
    """Head of a masked language model: logits = norm(gelu(x W + b)) tableᵀ + output bias.

    Args:
        config: its activation, one of `GELUS`, its norm, and whether the output is tied and has a
            bias.
        table: the embedding that the output is tied to.
        rng: draws the weights; None is a generator of its own.
        dtype: of the parameters.
    Raises:
        ValueError: the configuration has another activation.
    Source: Devlin et al. 2019, section 3.1; the layer before the output is in their code alone.
    """

    def __init__(
        self,
        config: TransformerConfig,
        table: Embedding,
        *,
        rng: np.random.Generator | None = None,
        dtype: DTypeLike = np.float32,
    ) -> None:
        super().__init__()
        check_choice("MaskedLanguageModelHead", "activation", config.activation, GELUS)
        factory_kwargs: dict[str, Any] = {"rng": rng or np.random.default_rng(), "dtype": dtype}
        self.activation = config.activation
        self.dense = Linear(config.d_model, config.d_model, **factory_kwargs)
        self.norm = make_model_norm(config, **factory_kwargs)
        self.output = make_output(config, table, **factory_kwargs)

    def _check(self, x: Floats) -> None:
        weight = (self.dense.params["weight"], "d_model d_model")
        check_shapes("MaskedLanguageModelHead", weight=weight, x=(x, "... d_model"))

    @checked_by(_check)
    def __call__(self, x: Floats) -> Floats:
        """x: (..., d_model) -> (..., V)."""
        hidden = self.dense(x)  # (..., d_model)
        self.save_for_backward(hidden)
        activated = ACTIVATIONS[self.activation].forward(hidden)  # (..., d_model)
        return self.output(self.norm(activated))  # (..., V)

    def backward(self, dout: Floats) -> Floats:
        """dout: (..., V) -> dx: (..., d_model); adds to the gradients of all parameters."""
        (hidden,) = self.pop_saved()
        dactivated = self.norm.backward(self.output.backward(dout))  # (..., d_model)
        return self.dense.backward(ACTIVATIONS[self.activation].backward(dactivated, hidden))
