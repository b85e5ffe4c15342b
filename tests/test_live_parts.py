"""The narrowed parts of Jupyter's server, where a request would come too rarely to test them."""

import json
from pathlib import Path

from jupyter_server.services.kernels.kernelmanager import ServerKernelManager, utcnow
from live_server import run, send, serving

from qkv.live.parts import Kernels

DEAF = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); print('busy', flush=True)"


def test_a_kernel_that_is_being_started_is_not_listed_yet() -> None:
    """Jupyter's own list raises in the moment in which a kernel has no time of activity."""
    manager = Kernels()
    started = ServerKernelManager()
    started.last_activity = utcnow()
    manager._kernels = {"starting": ServerKernelManager(), "started": started}
    assert [model["id"] for model in manager.list_kernels()] == ["started"]


def test_a_kernel_that_ended_busy_is_not_busy_when_it_starts_again(tmp_path: Path) -> None:
    """To a busy one, connections are made untried; what its first cells print could get lost."""
    (tmp_path / "index.html").write_text("<title>Toy</title>")
    with serving(tmp_path) as server:
        kernel = server.session()["kernel"]["id"]
        line = server.socket(kernel)
        send(line, f"{DEAF}\nwhile True: pass")
        while json.loads(line.recv())["msg_type"] != "stream":
            pass
        assert server.ask(f"api/kernels/{kernel}").json["execution_state"] == "busy"
        assert server.post(f"api/kernels/{kernel}/restart", {}).status == 200
        assert server.ask(f"api/kernels/{kernel}").json["execution_state"] != "busy"
        line.close()
        assert run(server.socket(kernel), "print('next')") == "next\n"
