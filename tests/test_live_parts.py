"""The narrowed parts of Jupyter's server, where a request would come too rarely to test them."""

from jupyter_server.services.kernels.kernelmanager import ServerKernelManager, utcnow

from qkv.live.parts import Kernels


def test_a_kernel_that_is_being_started_is_not_listed_yet() -> None:
    """Jupyter's own list raises in the moment in which a kernel has no time of activity."""
    manager = Kernels()
    started = ServerKernelManager()
    started.last_activity = utcnow()
    manager._kernels = {"starting": ServerKernelManager(), "started": started}
    assert [model["id"] for model in manager.list_kernels()] == ["started"]
