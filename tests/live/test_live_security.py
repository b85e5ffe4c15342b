"""Behind a page stands a kernel that runs whatever it is sent: who gets in, and who does not.

One real server for the whole module, in an environment that does its best to open it: a token, an
address and a password set for other Jupyters, a kernel of the same name, a file of configuration.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import socket
import stat
import sys
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path

import psutil
import pytest
import websocket

from qkv.live.content_security_policy import OWN_SCRIPTS, hash_source
from tests.helpers.live_server import (
    HOST,
    Server,
    free_port,
    kernels,
    loopback,
    run,
    send,
    serving,
)
from tests.helpers.waiting import WAIT_SECONDS, until

SECRET = "what lies outside the book"
KNOWN = "a-token-that-everybody-knows"
SCRIPT = "document.title = 'one'"
INLINE = f"<title>Toy</title><script>{SCRIPT}</script><button onclick='go()'>Go</button>"
SLIPPED_IN = "<script>slipped_in()</script><b onclick='slipped_in()'></b>"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the book: source, built pages, and a secret beside them."""
    root = tmp_path_factory.mktemp("book")
    html = root / "_build" / "html"
    (html / "chapters").mkdir(parents=True)
    (root / "chapters").mkdir()
    own = {
        "scripts": [hash_source(SCRIPT), hash_source("two()")],
        "handlers": [hash_source("go()")],
    }
    (html / OWN_SCRIPTS).parent.mkdir()
    (html / OWN_SCRIPTS).write_text(json.dumps(own))
    (html / "index.html").write_text(INLINE + SLIPPED_IN)
    (html / "chapters" / "index.html").write_text("<script>two()</script>")
    (html / "plain.svg").write_text("<svg><script>three()</script></svg>")
    (html / "code.js").write_text("four();" * 400)
    (html / "picture.png").write_bytes(bytes(4000))
    (root / "_build" / "secret.txt").write_text(SECRET)
    (root / "secret.txt").write_text(SECRET)
    (html / "out.txt").symlink_to(root / "secret.txt")
    (html / "up").symlink_to(root, target_is_directory=True)
    return root


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment that would open any other Jupyter server."""
    home = tmp_path_factory.mktemp("home")
    told = {
        "ServerApp": {"ip": "0.0.0.0", "port": 1, "disable_check_xsrf": True, "allow_origin": "*"},
        "IdentityProvider": {"token": KNOWN, "cookie_options": {"samesite": "None"}},
        "KernelManager": {"transport": "tcp"},
    }
    for folder in (home / ".jupyter", home / "etc"):
        folder.mkdir()
        for name in ("jupyter_config.json", "jupyter_server_config.json"):
            (folder / name).write_text(json.dumps(told))
    for name in ("python3", "shell"):
        for data in (home / ".local" / "share" / "jupyter", home / "data"):
            (data / "kernels" / name).mkdir(parents=True)
            spec = {"argv": ["sh", "-c", "sleep 60"], "display_name": "Trap", "language": "sh"}
            (data / "kernels" / name / "kernel.json").write_text(json.dumps(spec))
    return os.environ | {
        "HOME": str(home),
        "JUPYTER_TOKEN": KNOWN,
        "JUPYTER_CONFIG_DIR": str(home / "etc"),
        "JUPYTER_CONFIG_PATH": str(home / "etc"),
        "JUPYTER_PATH": str(home / "data"),
        "JUPYTER_IP": "0.0.0.0",
        "JUPYTER_GATEWAY_URL": "http://127.0.0.1:1",
        "JUPYTER_SERVER_ALLOW_UNAUTHENTICATED_ACCESS": "true",
    }


@pytest.fixture(scope="module")
def server(place: Path, hostile: dict[str, str]) -> Iterator[Server]:
    with serving(place / "_build" / "html", cwd=place, env=hostile) as running:
        yield running


@pytest.fixture(scope="module")
def kernel(server: Server) -> str:
    return str(server.session()["kernel"]["id"])


# Who may connect


def test_listens_on_loopback_only(server: Server) -> None:
    process = psutil.Process(server.process.pid)
    listening = [c.laddr for c in process.net_connections("inet") if c.status == "LISTEN"]
    assert {tuple(address) for address in listening} == {(h, server.port) for _, h in loopback()}


def test_nobody_else_can_listen_at_its_port(server: Server) -> None:
    """Browsers take its name for ::1 too, some for that first: who listens there gets the link."""
    for family, host in loopback():
        with pytest.raises(OSError, match="in use"):
            socket.create_server((host, server.port), family=family)


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "a.localhost",
        "a.{name}",
        "{name}.",
        "{name}.evil.example",
        "evil.example",
        "127.0.0.1.evil.example",
        "192.168.1.5",
        "[::2]",
        "localhost.evil",
    ],
)
def test_answers_to_its_own_name_alone(server: Server, kernel: str, host: str) -> None:
    """Under every other one, somebody may have prepared the browser, or leads it here by DNS."""
    named = {"Host": f"{host.format(name=server.name)}:{server.port}"}
    for path in (f"book/?token={server.token}", "book/", "book/_live/server.json", "api/sessions"):
        answer = server.ask(path, headers=named)
        assert (answer.status, answer.cookies) == (404, {})
        assert answer.text.endswith("Open the link that it printed.\n")
    token = named | {"Authorization": f"token {server.token}"}
    assert server.ask("api/kernels", "POST", token, {}, signed_in=False).status == 404
    with pytest.raises(websocket.WebSocketBadStatusException, match="404"):
        server.socket(kernel, host=named["Host"], origin=f"http://{named['Host']}")


def test_each_run_has_a_name_of_its_own(server: Server, place: Path) -> None:
    with serving(place / "_build" / "html", cwd=place) as other:
        assert other.name != server.name
        assert all(re.fullmatch(r"[0-9a-f]{20}\.localhost", s.name) for s in (other, server))


@pytest.mark.parametrize("address", ["localhost", "127.0.0.1"])
def test_an_address_for_browsers_that_find_no_such_name(place: Path, address: str) -> None:
    with serving(place / "_build" / "html", "--address", address, cwd=place) as server:
        assert server.name == address
        assert server.ask("book/").status == 200
        for other in {"localhost", "127.0.0.1", "a.localhost"} - {address}:
            assert server.ask("book/", headers={"Host": other}).status == 404


# Who is signed in


def test_the_link_gives_a_cookie_and_takes_the_token_out_of_the_address(server: Server) -> None:
    answer = server.ask(f"book/x.html?a=1&token={server.token}&b=%26", signed_in=False)
    assert answer.status == 303
    assert answer.headers["Location"] == f"{server.base}book/x.html?a=1&b=%26"
    assert answer.headers["Referrer-Policy"] == "same-origin"
    (cookie,) = answer.cookies.values()
    assert (cookie["path"], cookie["httponly"]) == (server.base, True)
    assert cookie["samesite"] == "Lax"
    page = server.ask("book/", headers={"Cookie": f"{cookie.key}={cookie.coded_value}"})
    assert page.status == 200
    (xsrf,) = page.cookies.values()
    assert (xsrf["path"], xsrf["httponly"], xsrf["samesite"]) == (server.base, True, "Strict")


@pytest.mark.parametrize(
    "path",
    [
        "book",
        "book/",
        "book/plain.svg",
        "book/none.html",
        "book/_live/server.json",
        "api/sessions",
        "api/kernels",
        "api/kernelspecs",
        "api/status",
        "api/me",
        "api/spec.yaml",
        "metrics",
        "static/style/index.css",
        "kernelspecs/python3/logo-64x64.png",
    ],
)
def test_who_is_not_signed_in_gets_nothing(server: Server, path: str) -> None:
    for more in ("", "?token=", "?token=x", f"?token={KNOWN}"):
        for method in ("GET", "HEAD"):
            answer = server.ask(path + more, method, signed_in=False)
            assert answer.status in (403, 404, 405)
            assert "Location" not in answer.headers
    said = server.ask(path, signed_in=False)
    if path.startswith("book/_live"):
        assert said.json["message"] == "Forbidden"
    elif path.startswith("book"):
        assert said.text == "You are not signed in. Open the link that the book's server printed.\n"


STRANGE = [
    "/",
    "//",
    "/?token=x",
    "/book",
    "/book/",
    "/book/_live/server.json",
    "/login",
    "/login?next=/",
    "/logout",
    "/favicon.ico",
    "/robots.txt",
    "/static/favicon.ico",
    "/static/style/index.css",
    "/api",
    "/api/",
    "/api/kernels",
    "/api/sessions",
    "/lab",
    "/tree",
    "/metrics",
    "/%2e%2e/",
    "/x/../",
    "*",
    "http://127.0.0.1/",
]


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "ODD"])
def test_tells_its_path_to_nobody(server: Server, method: str) -> None:
    """Cookies know no ports: the path is what keeps them from a page on another one."""
    name = f"username-127-0-0-1-{server.port}"
    wearing: list[dict[str, str]] = [
        {},
        {"Cookie": f"{name}=x; _xsrf=x"},
        {"Host": "evil.example"},
        {"Authorization": f"token {KNOWN}"},
        {"Origin": "http://evil.example", "Access-Control-Request-Headers": "authorization"},
        {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"},
    ]
    for path in STRANGE:
        for headers in wearing:
            answer = exact(server, path, method, headers)
            assert server.base.strip("/") not in answer
            assert "Set-Cookie" not in answer
            assert "Location" not in answer
            assert answer.startswith(("HTTP/1.1 404", "HTTP/1.1 405", "HTTP/1.1 400"))


def exact(server: Server, path: str, method: str, headers: dict[str, str]) -> str:
    """All that comes back, headers and body, for a request whose target is exactly `path`."""
    lines = [f"{method} {path} HTTP/1.1"]
    given = {"Host": server.host, "Connection": "close", "Content-Length": "0"}
    lines += [f"{name}: {value}" for name, value in (given | headers).items()]
    with socket.create_connection((HOST, server.port), timeout=WAIT_SECONDS) as line:
        line.sendall("\r\n".join([*lines, "", ""]).encode())
        answer = HTTPResponse(line, method=method)
        answer.begin()
        return f"HTTP/1.1 {answer.status} {answer.reason}\n{answer.msg}{answer.read().decode()}"


def test_a_stranger_is_told_what_to_do(server: Server) -> None:
    answer = server.ask("/", signed_in=False)
    assert answer.text == (
        "This is the server of The Runnable Transformer. Open the link that it printed.\n"
    )
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


def test_no_answer_holds_the_token(server: Server) -> None:
    paths = ["", "book", "book/", "book/chapters", "book/none.html", "none", "login", "api/none"]
    paths += ["api", "api/me", "api/sessions", "api/kernelspecs", "book/_live/server.json", "api/"]
    paths += [f"api/kernels/{'0' * 8}-0000-0000-0000-{'0' * 12}/channels"]
    for path in paths:
        for more in ("", f"?token={server.token}"):
            answer = server.ask(path + more)
            assert server.token not in answer.text
            if path:  # the base itself leads to the book, query and all
                assert server.token not in answer.headers.get("Location", "")
    for code in ("[", "{}"):
        answer = server.ask("api/sessions", "POST", server.xsrf, code)
        assert server.token not in answer.text


def test_there_is_no_page_to_sign_in_at(server: Server) -> None:
    for path in ("login", "logout"):
        assert server.ask(path).status == 404
        body = {"password": server.token}
        assert server.ask(path, "POST", body=body, signed_in=False).status in (403, 404)


def test_a_cookie_of_an_earlier_run_is_refused(place: Path) -> None:
    port = str(free_port())
    folder = place / "_build" / "html"
    with serving(folder, "--port", port) as earlier:
        assert earlier.ask("api/sessions").status == 200
    with serving(folder, "--port", port, signed_in=False) as later:
        assert later.base != earlier.base
        assert later.token != earlier.token
        assert not later.sign_in().cookies.keys() & earlier.cookies.keys()
        later.cookies = earlier.cookies
        assert later.ask("api/sessions").status == 403
        later.sign_in()
        assert later.ask("api/sessions").status == 200


# Other pages in the same browser


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "http://127.0.0.1:{port}", "http://localhost:{port}", "null"]
)
def test_refuses_a_foreign_origin(server: Server, kernel: str, origin: str) -> None:
    """The cookie is good, the page that asks is another's."""
    asked = {"Origin": origin.format(port=server.port)}
    for path in ("book/", "book/_live/server.json", "api/sessions", "api/kernels"):
        answer = server.ask(path, headers=asked)
        assert answer.status in (403, 404)
        assert not answer.headers["Access-Control-Allow-Origin"]
    before = server.ask("api/kernels").json
    both = asked | server.xsrf
    assert server.ask("api/kernels", "POST", both, {"name": "python3"}).status in (403, 404)
    assert len(server.ask("api/kernels").json) == len(before)
    with pytest.raises(websocket.WebSocketBadStatusException, match="403"):
        server.socket(kernel, origin=asked["Origin"])


def test_its_own_page_reaches_the_kernel(server: Server, kernel: str, place: Path) -> None:
    """What the refusals above would be worth nothing without."""
    line = server.socket(kernel)
    assert run(line, "import os; print(os.getcwd())") == f"{place / 'chapters'}\n"
    line.close()


def test_a_kernel_needs_the_cookie(server: Server, kernel: str) -> None:
    with pytest.raises(websocket.WebSocketBadStatusException, match="403"):
        server.socket(kernel, cookie="")


def test_a_request_that_changes_something_needs_what_only_our_scripts_can_read(
    server: Server,
) -> None:
    body = {"path": "a.ipynb", "type": "notebook", "name": "", "kernel": {"name": "python3"}}
    for headers in ({}, {"X-XSRFToken": "x"}, {"X-XSRFToken": "2|00|00|0"}):
        answer = server.ask("api/sessions", "POST", headers, body)
        assert answer.status == 403
        assert "_xsrf" in answer.text or "XSRF" in answer.text
    made = server.post("api/sessions", body)
    assert made.status == 201
    for method in ("DELETE", "PATCH"):
        assert server.ask(f"api/sessions/{made.json['id']}", method, body={}).status == 403
    assert server.ask(f"api/sessions/{made.json['id']}", "DELETE", server.xsrf).status == 204


@pytest.mark.parametrize("path", ["book/", "book/plain.svg", "book/_live/server.json", "api/me"])
def test_refuses_to_be_framed_or_loaded_by_others(server: Server, path: str) -> None:
    headers = server.ask(path).headers
    assert headers["X-Frame-Options"] == "SAMEORIGIN"
    assert "frame-ancestors 'self'" in headers["Content-Security-Policy"]
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert not headers["Access-Control-Allow-Origin"]


def careless(port: int) -> dict[str, str]:
    """Cookies that another program on this machine may set for every path and port of its name."""
    bomb = "; ".join(f"filler-{i}={'x' * 4000}" for i in range(180))  # all that Chromium keeps
    name = f"username-127-0-0-1-{port}"
    return {
        "JupyterLab's": f'_xsrf=2|1a|2b|3; {name}="2|1:0|10:1|23:{name}|4:eA==|5"; _xsrf=x',
        "odd": "=x; y; \"; '; path=/; expires; $Version=1; a b=c; _xsrf; \xe9=\xff; reader-=x; ;;",
        "too many": bomb,
    }


@pytest.mark.parametrize("kind", ["JupyterLab's", "odd", "too many"])
@pytest.mark.parametrize("last", [False, True])
def test_a_cookie_of_another_program_locks_nobody_out(
    server: Server, kernel: str, kind: str, last: bool
) -> None:
    """A browser sends every cookie of a name to each of its ports, wherever it came from."""
    theirs, ours = careless(server.port)[kind], server.cookie
    both = {"Cookie": f"{ours}; {theirs}" if last else f"{theirs}; {ours}"}
    for path in ("book/", "api/sessions"):
        assert server.ask(path, headers=both).status == 200
    token = server.ask("book/_live/server.json", headers=both).json["xsrf"]
    body = {"path": "chapters/a.ipynb", "type": "notebook", "name": "", "kernel": {}}
    headers = both | {"X-XSRFToken": token}
    assert server.ask("api/sessions", "POST", headers, body).status == 201
    line = server.socket(kernel, cookie=both["Cookie"])
    assert run(line, "print(6 * 7)") == "42\n"
    line.close()
    fresh = server.ask(f"book/?token={server.token}", headers={"Cookie": theirs}, signed_in=False)
    assert fresh.status == 303
    (mine,) = fresh.cookies.values()
    signed_in = {"Cookie": f"{theirs}; {mine.key}={mine.coded_value}"}
    assert server.ask("book/", headers=signed_in).status == 200


def test_bodies_of_strangers_fill_no_memory(server: Server) -> None:
    """Any page may post to any port, and a server reads a body before it knows who asks."""
    head = f"POST /book/ HTTP/1.1\r\nHost: {server.host}\r\n"
    sized = f"{head}Content-Length: {2**29}\r\n\r\n".encode()
    chunked = f"{head}Transfer-Encoding: chunked\r\n\r\n{2**29:x}\r\n".encode()
    memory = psutil.Process(server.process.pid).memory_info
    before = memory().rss
    open_ = []
    for start in (sized, chunked) * 4:
        line = socket.create_connection((HOST, server.port), timeout=WAIT_SECONDS)
        open_.append(line)
        try:
            line.sendall(start)
            for _ in range(20):
                line.sendall(b"x" * 2**20)
        except OSError:
            pass  # it hung up
    assert server.ask("api/status").status == 200
    assert memory().rss - before < 30 * 2**20
    for line in open_:
        line.close()


# What is served


def test_says_that_it_is_live_and_is_not_remembered(server: Server) -> None:
    answer = server.ask("book/_live/server.json")
    version = ".".join(map(str, sys.version_info[:3]))
    given = answer.json
    assert given.pop("xsrf")
    assert given == {"live": True, "base": server.base, "python": version}
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Cache-Control"] == "no-store"


def test_serves_the_book_and_its_folders(server: Server) -> None:
    assert server.ask("book/").text == INLINE + SLIPPED_IN
    assert server.ask("book/index.html").text == INLINE + SLIPPED_IN
    assert server.ask("book/chapters/").text == "<script>two()</script>"
    for path in ("book", "book/chapters", ""):
        answer = server.ask(path)
        to = f"{server.base}{path or 'book'}/"
        assert (answer.status // 100, answer.headers["Location"].rstrip("?")) == (3, to)
    head = server.ask("book/", "HEAD")
    assert (head.status, head.text) == (200, "")
    assert int(head.headers["Content-Length"]) == len(INLINE + SLIPPED_IN)
    assert server.ask("book/none.html").status == 404


def test_a_new_build_is_seen_at_once(server: Server, place: Path) -> None:
    """Even by a browser that keeps what it has, and when no second has passed."""
    page = place / "_build" / "html" / "new.html"
    page.write_text("old")
    old = server.ask("book/new.html")
    assert old.headers["Cache-Control"] == "no-cache"
    kept = {"If-None-Match": old.headers["Etag"]}
    assert server.ask("book/new.html", headers=kept).status == 304
    page.write_text("new")
    assert server.ask("book/new.html", headers=kept).text == "new"


def test_each_page_runs_its_own_scripts_only(server: Server) -> None:
    def scripts(path: str) -> list[str]:
        policy = server.ask(path).headers["Content-Security-Policy"]
        (directive,) = [d for d in policy.split("; ") if d.startswith("script-src")]
        return directive.split()[1:]

    bare = scripts("book/plain.svg")
    assert bare == ["'self'", "blob:"]
    one, two = scripts("book/"), scripts("book/chapters/")
    assert one[2:] == [hash_source(SCRIPT), "'unsafe-hashes'", hash_source("go()")]
    assert two[2:] == [hash_source("two()")]


def raw(server: Server, path: str, **headers: str) -> tuple[HTTPResponse, bytes]:
    """An answer with its body as it was sent."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with closing(HTTPConnection(HOST, server.port, timeout=WAIT_SECONDS)) as connection:
        sent = {"Host": server.host, "Cookie": server.cookie} | named
        connection.request("GET", server.base + path, headers=sent)
        answer = connection.getresponse()
        return answer, answer.read()


def test_what_compresses_is_sent_compressed_and_once(server: Server, place: Path) -> None:
    html = place / "_build" / "html"
    for name in ("index.html", "plain.svg", "code.js"):
        answer, body = raw(server, f"book/{name}", Accept_Encoding="gzip, br")
        assert answer.headers["Content-Encoding"] == "gzip"
        assert answer.headers.get_all("Vary") == ["Accept-Encoding"]
        assert gzip.decompress(body) == (html / name).read_bytes()
        plain, text = raw(server, f"book/{name}", Accept_Encoding="identity")
        assert plain.headers["Content-Encoding"] is None
        assert plain.headers["Vary"] == "Accept-Encoding"
        assert text == (html / name).read_bytes()
    picture, body = raw(server, "book/picture.png", Accept_Encoding="gzip")
    assert picture.headers["Content-Encoding"] is None
    assert body == (html / "picture.png").read_bytes()


def test_what_a_browser_has_is_not_sent_again(server: Server, place: Path) -> None:
    """In either form; and a new build is."""
    file = place / "_build" / "html" / "code.js"
    both = [raw(server, "book/code.js", Accept_Encoding=how)[0] for how in ("gzip", "identity")]
    for answer in both:
        tag, changed = answer.headers["ETag"], answer.headers["Last-Modified"]
        for how in ("gzip", "identity"):
            for asked in ({"If_None_Match": tag}, {"If_Modified_Since": changed}):
                again, body = raw(server, "book/code.js", Accept_Encoding=how, **asked)
                assert (again.status, body) == (304, b"")
    file.write_text("changed()")
    again, body = raw(server, "book/code.js", Accept_Encoding="gzip", If_None_Match=tag)
    assert (again.status, gzip.decompress(body)) == (200, b"changed()")


def test_no_part_of_a_file_is_sent_as_a_part_of_its_compressed_form(server: Server) -> None:
    answer, body = raw(server, "book/index.html", Accept_Encoding="gzip", Range="bytes=3-9")
    assert (answer.status, answer.headers["Accept-Ranges"]) == (200, "none")
    assert gzip.decompress(body).decode() == INLINE + SLIPPED_IN


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt",
        "../../secret.txt",
        "chapters/../../secret.txt",
        "%2e%2e/secret.txt",
        "%2e%2e%2fsecret.txt",
        "..%2fsecret.txt",
        "..%5csecret.txt",
        "..\\secret.txt",
        "%252e%252e%252fsecret.txt",
        "....//secret.txt",
        "{root}/secret.txt",
        "/{root}/secret.txt",
        "%2f{root}/secret.txt",
        "//{root}/secret.txt",
        "out.txt",
        "up/secret.txt",
        "up/_build/secret.txt",
        "%00../secret.txt",
        "index.html%00",
        "..",
        "../",
    ],
)
def test_no_path_leads_out_of_the_book(server: Server, place: Path, path: str) -> None:
    answer = server.ask("book/" + path.format(root=place))
    assert answer.status in (400, 403, 404)
    assert SECRET not in answer.text
    assert "Location" not in answer.headers


@pytest.mark.parametrize(
    "path",
    [
        "api/contents",
        "api/contents/secret.txt",
        "api/config/notebook",
        "api/nbconvert",
        "api/terminals",
        "api/shutdown",
        "api/events/subscribe",
        "api/events",
        "files/secret.txt",
        "nbconvert/html/a.ipynb",
        "terminals/websocket/1",
        "view/secret.txt",
        "tree",
        "lab",
        "custom/custom.css",
        "metrics",
        "static/style/index.css",
        "api/spec.yaml",
        "kernelspecs/python3/logo-64x64.png",
    ],
)
def test_jupyters_other_services_are_not_here(server: Server, path: str) -> None:
    assert server.ask(path).status == 404
    assert server.post(path, {}).status == 404


# BookKernelManager


def test_there_is_one_kernel_and_it_is_this_python(server: Server, hostile: dict[str, str]) -> None:
    specs = server.ask("api/kernelspecs").json
    assert specs["default"] == "python3"
    assert list(specs["kernelspecs"]) == ["python3"]
    argv = specs["kernelspecs"]["python3"]["spec"]["argv"]
    assert Path(argv[0]).name.startswith("python")
    assert "qkv.live.kernel" in argv
    before = len(kernels(server.process))
    assert server.post("api/kernels", {"name": "shell"}).status == 501
    assert len(kernels(server.process)) == before


def test_a_kernel_can_be_reached_by_this_user_alone(server: Server, kernel: str) -> None:
    """Its ports on TCP would be open to whoever has an account here."""
    with closing(server.socket(kernel)) as line:
        run(line, "pass")  # by now it has opened what it opens
    (process,) = [p for p in kernels(server.process) if any(kernel in w for w in p.cmdline())]
    assert Path(process.cmdline()[0]).samefile(sys.executable)
    (file,) = [Path(w) for w in process.cmdline() if w.endswith(".json")]
    assert json.loads(file.read_text())["transport"] == "ipc"
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert stat.S_ISSOCK(next(file.parent.glob("kernel-*-ipc-*")).stat().st_mode)
    assert not process.net_connections("inet")


def test_what_a_forked_child_prints_is_shown(server: Server, kernel: str) -> None:
    """ipykernel would take it at a port of its own, where anybody may send without end."""
    with closing(server.socket(kernel)) as line:
        child = "import os\npid = os.fork()\nif not pid: print('child', flush=True); os._exit(0)"
        assert "child\n" in run(line, f"{child}\n_ = os.waitpid(pid, 0)\nprint('parent')")


def test_a_kernel_leaves_the_reader_s_own_history_alone(server: Server, kernel: str) -> None:
    line = server.socket(kernel)
    asked = "history = get_ipython().history_manager; print(history.enabled, history.hist_file)"
    assert run(line, asked) == "True :memory:\n"
    assert run(line, "%history -n 1") != ""
    line.close()


def test_a_kernel_knows_no_secret_of_its_server(server: Server, kernel: str) -> None:
    line = server.socket(kernel)
    known = run(line, "import os; print(os.environ)")
    line.close()
    assert server.token not in known
    assert KNOWN not in known


def alive_on(server: Server) -> set[str]:
    return {kernel["id"] for kernel in server.ask("api/kernels").json}


def test_a_kernel_without_a_page_ends(place: Path) -> None:
    with serving(place / "_build" / "html", "--idle", "0.03", cwd=place) as short:
        open_ = short.session("open.ipynb")["kernel"]["id"]
        line = short.socket(open_)
        assert run(line, "print(1)") == "1\n"
        for does in ("pass", "print(1, flush=True)"):
            kernel = short.session("loops.ipynb")["kernel"]["id"]
            loop = short.socket(kernel)  # at once: it would end without a page
            assert run(loop, "print(1)") == "1\n"
            send(loop, f"while True: {does}")
            address = f"api/kernels/{kernel}"
            until(lambda at=address: short.ask(at).json["execution_state"] == "busy", "it idles")
            loop.close()
            until(lambda: alive_on(short) == {open_}, f"it does not end: while True: {does}")
        later = short.session("later.ipynb")["kernel"]["id"]
        until(lambda: later not in alive_on(short), "the one that came later does not end")
        assert alive_on(short) == {open_}, "the one with a page has had its turn"
        assert run(line, "print(2)") == "2\n"
        line.close()


# What others set


def test_settings_of_other_servers_change_nothing(server: Server) -> None:
    """Beside what the tests above find in this environment: nothing of it is let in."""
    for path in ("book/", "api/sessions"):
        answer = server.ask(f"{path}?token={KNOWN}", signed_in=False)
        assert answer.status == 403
        header = {"Authorization": f"token {KNOWN}"}
        assert server.ask(path, headers=header, signed_in=False).status == 403
