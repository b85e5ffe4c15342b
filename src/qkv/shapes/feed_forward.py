"""What the feed-forward part refuses: unknown activations, sizes that are no counts."""

from qkv.shapes.core import Array, check_floats
from qkv.shapes.layers import check_choice, check_count, check_share

ACTIVATIONS = ("relu", "gelu", "gelu_tanh", "swiglu")
APPROXIMATIONS = ("none", "tanh")
APPROXIMATE = {"gelu": "none", "gelu_tanh": "tanh"}  # what `gelu` takes for each activation


def check_gelu(call: str, x: Array, approximate: str) -> None:
    """Refuse what is no float array, and an unknown approximation."""
    check_floats(call, x=x)
    check_choice(call, "approximate", approximate, APPROXIMATIONS)


def check_feed_forward(d_model: int, d_ff: int, activation: str, dropout: float) -> None:
    """Refuse sizes that are no counts, an unknown activation, and a share outside [0, 1)."""
    check_count("FeedForward", d_model=d_model, d_ff=d_ff)
    check_choice("FeedForward", "activation", activation, ACTIVATIONS)
    check_share("FeedForward", "dropout", dropout, "0 leaves nothing out")
