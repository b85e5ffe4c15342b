"""Which numbers torch's fused attention is given."""

from torch.utils._python_dispatch import TorchDispatchMode

__all__ = ["FusedAttentionDtypes"]


class FusedAttentionDtypes(TorchDispatchMode):
    """Inside a `with`: notes the dtype of each call of the fused kernel, forward and backward."""

    def __init__(self):
        super().__init__()
        self.forward, self.backward = [], []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.__name__
        if "flash_attention" in name:
            noted = self.backward if "backward" in name else self.forward
            noted.append(args[0].dtype)
        return func(*args, **(kwargs or {}))
