"""The narrowed parts of Jupyter's server, where a request would come too rarely to test them."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psutil
import pytest
from jupyter_server.services.kernels.connection.base import serialize_msg_to_ws_v1
from jupyter_server.services.kernels.kernelmanager import ServerKernelManager, utcnow

from qkv.live.kernel_managers import BookKernelManager, BoundedMessageBuffer
from tests.helpers.live_server import Server, errors, run, send, serving
from tests.helpers.waiting import WAIT_SECONDS, until

REMAIN = {"opening-night", "opening-link"}
DEAF = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); print('busy', flush=True)"


def test_a_kernel_that_is_being_started_is_not_listed_yet() -> None:
    """Jupyter's own list raises in the moment in which a kernel has no time of activity."""
    manager = BookKernelManager()
    started = ServerKernelManager()
    started.last_activity = utcnow()
    manager._kernels = {"starting": ServerKernelManager(), "started": started}
    assert [model["id"] for model in manager.list_kernels()] == ["started"]


@pytest.fixture(scope="module")
def server(toy_book: Path) -> Iterator[Server]:
    with serving(toy_book) as running:
        yield running


def becomes(server: Server, kernel: str, state: str) -> None:
    """Wait until the server has heard that its kernel is busy, or idle."""
    address = f"api/kernels/{kernel}"
    until(
        lambda: server.ask(address).json["execution_state"] == state,
        f"the server never heard that its kernel is {state}",
    )


def test_a_kernel_that_ended_busy_is_not_busy_when_it_starts_again(server: Server) -> None:
    """To a busy one, connections are made untried; what its first cells print could get lost."""
    kernel = server.session()["kernel"]["id"]
    line = server.socket(kernel)
    send(line, f"{DEAF}\nwhile True: pass")
    while json.loads(line.recv())["msg_type"] != "stream":
        pass
    becomes(server, kernel, "busy")  # the server hears of it by a socket of its own
    assert server.post(f"api/kernels/{kernel}/restart", {}).status == 200
    assert server.ask(f"api/kernels/{kernel}").json["execution_state"] != "busy"
    line.close()
    with closing(server.socket(kernel)) as line:
        assert run(line, "print('next')") == "next\n"


def test_what_comes_on_a_replaced_connection_is_dropped(toy_book: Path, tmp_path: Path) -> None:
    """Jupyter forgets in which form it comes, and reads the first bytes as a count of parts: 10^8.

    Each such message kept the server from all else for some seconds.
    """
    header = {"msg_type": "execute_request", "msg_id": "late"}
    message = {"header": header, "parent_header": {}, "metadata": {}, "content": {}}
    late = serialize_msg_to_ws_v1(message, "shell", pack=lambda part: json.dumps(part).encode())
    said = tmp_path / "stderr.txt"
    with said.open("w") as stderr, serving(toy_book, stderr=stderr) as server:
        kernel = server.session()["kernel"]["id"]
        protocol = "v1.kernel.websocket.jupyter.org"
        old, new = (server.socket(kernel, subprotocols=[protocol]) for _ in range(2))
        with closing(old), closing(new):
            old.send_binary(late)
            while old.recv():  # until it is closed
                pass
            assert server.ask(f"api/kernels/{kernel}").status == 200
    assert not errors(said)


def test_recent_messages_keep_the_latest_within_their_bytes() -> None:
    kept = BoundedMessageBuffer()
    for size in (2**19, 2**19, 1, 2**18):
        kept.append(("iopub", [b"x" * size]))
    assert [len(parts[0]) for _, parts in kept] == [2**19, 1, 2**18]
    kept.append(("shell", [b"reply"]))
    kept.append(("iopub", [b"", b"x" * (2**20 + 1)]))
    kept.append(("iopub", [b"idle"]))
    assert list(kept) == [("shell", [b"reply"]), ("iopub", [b"idle"])]


def test_a_cell_that_prints_without_its_page_fills_no_memory(server: Server) -> None:
    """As after its tab was closed: of 200 MB, the latest one is kept.

    It prints no faster than a busy machine's server can read, as what waits there is memory too.
    """
    kernel = server.session("prints.ipynb")["kernel"]["id"]
    line = server.socket(kernel)
    prints = "print('x' * 2**20, flush=True); time.sleep(0.03)"
    send(line, f"import time; print('begun', flush=True)\nfor _ in range(200): {prints}")
    while json.loads(line.recv())["msg_type"] != "stream":
        pass
    memory = psutil.Process(server.process.pid).memory_info
    before = memory().rss
    becomes(server, kernel, "busy")
    line.close()
    becomes(server, kernel, "idle")
    assert server.ask(f"api/kernels/{kernel}").json["connections"] == 0
    assert memory().rss - before < 100 * 2**20
    assert server.ask(f"api/kernels/{kernel}", "DELETE", server.xsrf).status == 204


def test_a_connection_that_comes_back_is_told_how_its_cell_ended(
    server: Server, tmp_path: Path
) -> None:
    """With the last of what it printed: else the page would wait for the cell for ever."""
    kernel = server.session("breaks.ipynb")["kernel"]["id"]
    line = server.socket(kernel)
    alone = tmp_path / "alone"
    waits = f"while not os.path.exists({str(alone)!r}): time.sleep(0.01)"
    large = f"import os, time; print('begun', flush=True)\n{waits}\nprint('x' * 2**21)"
    number = send(line, f"{large}\ntime.sleep(1)\nprint('end')")
    while json.loads(line.recv())["msg_type"] != "stream":
        pass
    becomes(server, kernel, "busy")
    line.close()
    address = f"api/kernels/{kernel}"
    until(lambda: server.ask(address).json["connections"] == 0, "the connection stays")
    alone.touch()
    becomes(server, kernel, "idle")
    again = server.socket(kernel)
    told = []
    while "execute_reply" not in [each["msg_type"] for each in told]:
        told.append(json.loads(again.recv()))
    assert told[-1]["content"]["status"] == "ok"
    printed = [m["content"]["text"] for m in told if m["msg_type"] == "stream"]
    assert printed[-1].endswith("end\n")
    assert sum(map(len, printed)) <= BoundedMessageBuffer.max_bytes
    assert number in {m["parent_header"].get("msg_id") for m in told}
    assert run(again, "print('next')") == "next\n"
    again.close()


def test_what_is_printed_too_fast_is_left_out_in_the_book_s_own_words(server: Server) -> None:
    line = server.socket(server.session("floods.ipynb")["kernel"]["id"])
    output = run(line, "print('x' * 2**23)")
    line.close()
    assert "some of it is left out here" in output
    assert "IOPub" not in output
    assert "ServerApp" not in output


def test_an_error_is_told_however_fast_its_cell_printed_before(server: Server) -> None:
    """Jupyter leaves it out with all else, and a page cannot say why its cell has ended."""
    line = server.socket(server.session("fails.ipynb")["kernel"]["id"])
    number = send(
        line, "for _ in range(99): print('x' * 2**16, flush=True)\nraise ValueError('why')"
    )
    told: list[Any] = []
    while not told or told[-1]["content"].get("execution_state") != "idle":
        message = json.loads(line.recv())
        told += [message] if message["parent_header"].get("msg_id") == number else []
    line.close()
    printed = "".join(each["content"]["text"] for each in told if each["msg_type"] == "stream")
    assert "some of it is left out here" in printed
    assert "why" in [each["content"]["evalue"] for each in told if each["msg_type"] == "error"]


def test_a_start_removes_what_a_killed_server_left(tmp_path: Path) -> None:
    """And nothing else: a folder of the reader's, or that of a server that runs."""
    html = tmp_path / "html"
    html.mkdir()
    (html / "index.html").write_text("<title>Toy</title>")
    (tmp_path / "opening-night").mkdir()
    (tmp_path / "opening-night" / "open.html").write_text("a play")
    (tmp_path / "opening-link").symlink_to("opening-night")

    def opening() -> set[Path]:
        return {p for p in tmp_path.glob("opening-*") if p.name not in REMAIN}

    with serving(html) as killed:
        killed.process.kill()
        killed.process.wait(WAIT_SECONDS)
    left = opening()
    assert left
    with serving(html):
        runs = opening()
        assert runs.isdisjoint(left)
        with serving(html):
            assert runs < opening()
    assert not opening()
    assert {p.name for p in (tmp_path / "opening-night").iterdir()} == {"open.html"}
