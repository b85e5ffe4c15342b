"""A real server in a process of its own, and requests to it of which every byte is ours."""

from __future__ import annotations

import http.client
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import websocket

from qkv.live.origin import LOOPBACK
from tests.helpers.waiting import WAIT_SECONDS

HOST = "127.0.0.1"
SERVE = [sys.executable, "-m", "qkv.commands.serve"]
LINE = re.compile(
    r"The book is at http://(?P<name>[\w.]+):(?P<port>\d+)(?P<base>/[\w-]{10,}/)book/"
    r"\?token=(?P<token>[\w-]{20,}) \(Ctrl-C ends\)\.\n"
)


def loopback() -> list[tuple[socket.AddressFamily, str]]:
    """The loopback addresses of this machine, with their families; some have no ::1."""
    found = []
    for family, host in LOOPBACK:
        with suppress(OSError), socket.create_server((host, 0), family=family):
            found.append((family, host))
    return found


def errors(log: Path) -> list[str]:
    """What a server has logged as errors; a kernel that ends while it starts writes there, too."""
    return [line for line in log.read_text().splitlines() if line.startswith("[E ")]


class Answer(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def cookies(self) -> SimpleCookie:
        return SimpleCookie("\r\n".join(self.headers.get_all("Set-Cookie", [])))


@dataclass
class Server:
    """A running server: where it is, and the cookies of a browser that is signed in to it."""

    process: subprocess.Popen[str]
    port: int
    base: str
    token: str
    name: str = HOST
    cookies: dict[str, str] = field(default_factory=dict)

    @classmethod
    def printed(cls, process: subprocess.Popen[str]) -> Server:
        """The server whose link a process prints first."""
        found = LINE.fullmatch(first_line(process))
        assert found, "it says something else"
        return cls(process, int(found["port"]), found["base"], found["token"], found["name"])

    @property
    def host(self) -> str:
        """What a browser sends as Host: the name in the link, and the port."""
        return f"{self.name}:{self.port}"

    @property
    def origin(self) -> str:
        return f"http://{self.host}"

    def link(self, page: str = "") -> str:
        return f"{self.origin}{self.base}book/{page}?token={self.token}"

    def ask(
        self,
        path: str,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        body: Any = None,
        signed_in: bool = True,
    ) -> Answer:
        """Ask for a path exactly as written; one without a slash before it is under the base."""
        sent = {"Host": self.host}
        if signed_in:
            sent["Cookie"] = self.cookie
        sent.update(headers or {})
        with closing(http.client.HTTPConnection(HOST, self.port, timeout=WAIT_SECONDS)) as line:
            target = path if path[:1] == "/" else self.base + path
            line.putrequest(method, target, skip_host=True)
            data = json.dumps(body).encode() if body is not None else b""
            for name, value in {**sent, "Content-Length": str(len(data))}.items():
                line.putheader(name, value)
            line.endheaders(data)
            answer = line.getresponse()
            text = answer.read().decode()
        return Answer(answer.status, answer.msg, text)

    @property
    def cookie(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self.cookies.items())

    def sign_in(self) -> Answer:
        """Open the link as a browser does; its first answer."""
        answer = self.ask(f"book/?token={self.token}", signed_in=False)
        self.keep(answer)
        self.keep(self.ask("book/"))
        return answer

    def keep(self, answer: Answer) -> None:
        self.cookies |= {name: morsel.coded_value for name, morsel in answer.cookies.items()}

    @property
    def xsrf(self) -> dict[str, str]:
        """The header that only a page of the book can send: others cannot read what it holds."""
        return {"X-XSRFToken": self.ask("book/_live/server.json").json["xsrf"]}

    def post(self, path: str, body: Any) -> Answer:
        """As a page of the book does."""
        return self.ask(path, "POST", self.xsrf, body)

    def session(self, path: str = "chapters/a.ipynb") -> Any:
        """A kernel for a page."""
        kernel = {"name": "python3"}
        body = {"path": path, "type": "notebook", "name": "", "kernel": kernel}
        answer = self.post("api/sessions", body)
        assert answer.status == 201, answer.text
        return answer.json

    def socket(self, kernel: str, **options: Any) -> websocket.WebSocket:
        """A WebSocket to a kernel, with the cookies and the page's Origin unless told otherwise."""
        given = {"cookie": self.cookie, "origin": self.origin, "host": self.host, **options}
        address = f"ws://{HOST}:{self.port}{self.base}api/kernels/{kernel}/channels?session_id=a"
        return websocket.create_connection(address, timeout=WAIT_SECONDS, **given)


def send(line: websocket.WebSocket, code: str) -> str:
    """Ask a kernel to run some code; the number of the message."""
    number = uuid.uuid4().hex
    header = {"msg_id": number, "msg_type": "execute_request", "session": "a", "username": ""}
    content = {"code": code, "silent": False, "store_history": True, "allow_stdin": False}
    message = {"header": header | {"version": "5.3", "date": ""}, "content": content}
    line.send(json.dumps(message | {"parent_header": {}, "metadata": {}, "channel": "shell"}))
    return number


def run(line: websocket.WebSocket, code: str) -> str:
    """What a kernel prints for some code."""
    number = send(line, code)
    printed = ""
    while True:
        got = json.loads(line.recv())
        if got["parent_header"].get("msg_id") == number:
            if got["msg_type"] == "stream":
                printed += got["content"]["text"]
            assert got["msg_type"] != "error", got["content"]
            if got["content"].get("execution_state") == "idle":
                return printed


@contextmanager
def serving(
    folder: Path,
    *arguments: str,
    signed_in: bool = True,
    data: str | Path | None = None,
    env: Mapping[str, str] = os.environ,
    **more: Any,
) -> Iterator[Server]:
    """`qkv serve` on a free port, ended by Ctrl-C; `more` goes to Popen.

    What it keeps for its reader lies in the folder `data`, or in one that goes with it.
    """
    command = [*SERVE, "--no-open", "--folder", str(folder), *arguments]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with (
        tempfile.TemporaryDirectory() as own,
        subprocess.Popen(
            command,
            text=True,
            env={**env, "XDG_DATA_HOME": str(data or own)},
            **streams | more,
        ) as process,
    ):
        try:
            server = Server.printed(process)
            if signed_in:
                server.sign_in()
            yield server
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(WAIT_SECONDS)
            finally:
                process.kill()


def first_line(process: subprocess.Popen[str]) -> str:
    """What it prints first; a failure when it prints nothing for long."""
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], WAIT_SECONDS)
    assert ready, "it says nothing"
    return process.stdout.readline()


def kernels(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """The kernels that a server has started."""
    return list(psutil.Process(process.pid).children(recursive=True))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def without_screen(**more: str) -> dict[str, str]:
    """This environment, and no screen in it that a browser could be opened on."""
    screens = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    return {k: v for k, v in os.environ.items() if k not in screens} | more
