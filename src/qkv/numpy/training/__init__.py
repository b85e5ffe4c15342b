"""Training: cross-entropy, Adam and AdamW, learning-rate schedules, clipping, averaging."""

from qkv.learning_rate_schedules import linear_schedule, noam_schedule
from qkv.numpy.training.average_checkpoints import average_checkpoints
from qkv.numpy.training.clip_grad_norm import clip_grad_norm
from qkv.numpy.training.cross_entropy import cross_entropy, cross_entropy_backward
from qkv.numpy.training.optimizers import Adam, AdamW

__all__ = [
    "Adam",
    "AdamW",
    "average_checkpoints",
    "clip_grad_norm",
    "cross_entropy",
    "cross_entropy_backward",
    "linear_schedule",
    "noam_schedule",
]
