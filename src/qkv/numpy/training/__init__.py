"""Training: the loss, the optimizer, its rate, and what keeps both steady."""

from qkv.numpy.training.checkpoints import average_checkpoints
from qkv.numpy.training.clipping import clip_gradients
from qkv.numpy.training.cross_entropy import cross_entropy, cross_entropy_backward
from qkv.numpy.training.optimizers import Adam, AdamW
from qkv.numpy.training.schedule import linear_rate, noam_rate

__all__ = [
    "Adam",
    "AdamW",
    "average_checkpoints",
    "clip_gradients",
    "cross_entropy",
    "cross_entropy_backward",
    "linear_rate",
    "noam_rate",
]
