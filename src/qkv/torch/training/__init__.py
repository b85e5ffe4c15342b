"""Training: the loss, the optimizer, its rate, and what keeps both steady."""

from qkv.torch.training.checkpoints import average_checkpoints
from qkv.torch.training.clipping import clip_gradients
from qkv.torch.training.cross_entropy import cross_entropy
from qkv.torch.training.optimizers import Adam, AdamW
from qkv.torch.training.schedule import linear_rate, noam_rate

__all__ = [
    "Adam",
    "AdamW",
    "average_checkpoints",
    "clip_gradients",
    "cross_entropy",
    "linear_rate",
    "noam_rate",
]
