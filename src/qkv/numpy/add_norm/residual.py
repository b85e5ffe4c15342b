"""Add & Norm: the path around each sub-layer, with a norm at its end or its beginning."""

from collections.abc import Callable

import numpy as np
from numpy.typing import DTypeLike

from qkv.numpy.add_norm.norms import make_norm
from qkv.numpy.attention.softmax import Floats
from qkv.numpy.dropout import Dropout
from qkv.numpy.layer import Layer
from qkv.shapes import check_add_norm, check_gradient_of, check_input, check_residual

__all__ = ["AddNorm"]


class AddNorm(Layer):
    """The path around a sub-layer, with dropout on what it adds and a norm after or before it.

    "post", as in the paper: norm(x + dropout(sublayer(x))).
    "pre": x + dropout(sublayer(norm(x))), where x itself is never normalised on its way up.

    Args:
        d_model: width of the vectors.
        placement: "post" or "pre".
        dropout: the share of the sub-layer's output that is left out while training.
        norm: "layer" or "rms".
        eps: of the norm.
        bias: in a layer norm; an RMS norm has none.
        rng: draws what dropout keeps; None is a generator of its own.
        dtype: of the parameters, and so of what the layer takes.
    Raises:
        ValueError: an argument is none of these.
    Source: Vaswani et al. 2017, section 3.1 and 5.4; "pre": Xiong et al. 2020, table 1.
    """

    def __init__(
        self,
        d_model: int,
        placement: str = "post",
        dropout: float = 0.0,
        norm: str = "layer",
        eps: float = 1e-5,
        bias: bool = True,
        *,
        rng: np.random.Generator | None = None,
        dtype: DTypeLike = np.float32,
    ) -> None:
        super().__init__()
        check_add_norm(d_model, placement, dropout, norm)
        self.placement = placement
        self.norm = make_norm(norm, d_model, eps, bias, dtype=dtype)
        self.dropout = Dropout(dropout, rng=rng)

    def __call__(self, x: Floats, sublayer: Callable[[Floats], Floats]) -> Floats:
        """x: (..., d_model); sublayer: from x to the same shape -> the same shape."""
        check_input("AddNorm", x, "d_model", self.norm.params["weight"])
        self.save(x.shape)
        if self.placement == "pre":
            return x + self._dropped(sublayer(self.norm(x)), x)
        return self.norm(x + self._dropped(sublayer(x), x))

    def _dropped(self, y: Floats, x: Floats) -> Floats:
        check_residual("AddNorm", "sublayer(x)", y, x.shape)
        return self.dropout(y)

    def backward(self, dout: Floats, sublayer_backward: Callable[[Floats], Floats]) -> Floats:
        """Push a gradient back along both paths, and add the two up where they part.

        Args:
            dout: (..., d_model) gradient with respect to the output.
            sublayer_backward: from the gradient of the sub-layer's output to that of its input.
        Returns:
            dx; the gradients of the norm's parameters are added to.
        """
        (shape,) = self.saved()
        check_gradient_of("AddNorm.backward", dout, shape)
        if self.placement == "post":
            dout = self.norm.backward(dout)  # now with respect to the sum
        dx = sublayer_backward(self.dropout.backward(dout))
        check_residual("AddNorm.backward", "sublayer_backward(dout)", dx, shape)
        return dout + (self.norm.backward(dx) if self.placement == "pre" else dx)
