"""Training: cross-entropy, Adam and AdamW, learning-rate schedules, clipping, averaging."""

from qkv.learning_rate_schedules import linear_schedule, noam_schedule
from qkv.torch.training.average_checkpoints import average_checkpoints
from qkv.torch.training.clip_grad_norm import clip_grad_norm
from qkv.torch.training.cross_entropy import cross_entropy
from qkv.torch.training.optimizers import Adam, AdamW

__all__ = [
    "Adam",
    "AdamW",
    "average_checkpoints",
    "clip_grad_norm",
    "cross_entropy",
    "linear_schedule",
    "noam_schedule",
]
