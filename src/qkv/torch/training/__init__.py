"""Training: cross-entropy, Adam and AdamW, learning-rate schedules, clipping, averaging."""

from qkv.learning_rate_schedules import *
from qkv.public_names import publish as _publish
from qkv.torch.training.average_checkpoints import *
from qkv.torch.training.clip_grad_norm import *
from qkv.torch.training.cross_entropy import *
from qkv.torch.training.optimizers import *

_publish(__name__)
