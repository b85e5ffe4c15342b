"""Training: cross-entropy, Adam and AdamW, learning-rate schedules, clipping, averaging."""

from qkv.learning_rate_schedules import *
from qkv.numpy.training.average_checkpoints import *
from qkv.numpy.training.clip_grad_norm import *
from qkv.numpy.training.cross_entropy import *
from qkv.numpy.training.optimizers import *
from qkv.public_names import publish as _publish

_publish(__name__)
