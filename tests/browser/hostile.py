"""A stranger's web server on this machine, and what his pages try on the reader's book."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from tests.helpers.live_server import HOST

EVIL = "evil.example"  # the browser of these tests takes it for a name of this machine


EMPTY = b"<!DOCTYPE html><link rel=icon href=data:,><title>Hostile</title>"


class Asked(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]


class Hostile:
    """Answers every address with an empty page, and keeps every request with its headers."""

    def __init__(self, name: str, port: int, asked: list[Asked]) -> None:
        self.name, self.port, self.asked = name, port, asked

    def url(self, path: str = "/", host: str = "") -> str:
        return f"http://{host or self.name}:{self.port}{path}"

    def headers(self, name: str) -> list[str]:
        """Every value of a header that was sent here."""
        return [asked.headers[name] for asked in self.asked if name in asked.headers]


@contextmanager
def hostile_server(
    name: str = HOST, port: int = 0, page: bytes = EMPTY, worker: bytes = b""
) -> Iterator[Hostile]:
    """A server with one page for every address, and perhaps a service worker at /worker.js."""
    asked: list[Asked] = []

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            asked.append(Asked(self.command, self.path, dict(self.headers.items())))
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(200)
            is_worker = self.path == "/worker.js"
            self.send_header("Content-Type", "text/javascript" if is_worker else "text/html")
            self.send_header("Referrer-Policy", "unsafe-url")
            self.end_headers()
            self.wfile.write(worker if is_worker else page)

        do_GET = do_POST = answer

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing: the tests read `asked`."""

    server = ThreadingHTTPServer((HOST, port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield Hostile(name, server.server_port, asked)
    server.shutdown()
    server.server_close()


# Each returns what the page that runs it comes to know: the name of an error, or what it got.
FETCH = """async ([url, options]) => {
  try {
    const answer = await fetch(url, { credentials: "include", ...options });
    return answer.type === "opaque" ? "opaque" : [answer.status, await answer.text()];
  } catch (error) { return error.name; }
}"""
WEB_SOCKET = """(url) => new Promise((resolve) => {
  const socket = new WebSocket(url);
  socket.onopen = () => resolve("open");
  socket.onclose = ({ code }) => resolve(code);
})"""
# An element that loads something: its event, the size of a picture, and what a script left behind.
LOAD = """([tag, properties]) => new Promise((resolve) => {
  const before = new Set(Object.getOwnPropertyNames(window));
  const element = Object.assign(document.createElement(tag), properties);
  const tell = ({ type }) => resolve({
    type, width: element.naturalWidth ?? 0,
    names: Object.getOwnPropertyNames(window).filter((name) => !before.has(name)),
  });
  element.onload = element.onerror = tell;
  document.head.append(element);
})"""
# A form sends text/plain as name=value: with this name and value, that is JSON.
FORM = """([url, enctype, name, value]) => {
  const form = document.createElement("form");
  Object.assign(form, { method: "post", action: url, enctype });
  form.append(Object.assign(document.createElement("input"), { name, value }));
  document.body.append(form);
  form.submit();
}"""
# A window on another page; once that is there, what can be read through the handle on it, and a
# word sent to it.
OPEN = "(url) => { window.other = window.open(url); }"
READ = """() => {
  const read = (get) => { try { return String(get()); } catch (error) { return error.name; } };
  try { other.postMessage("steal", "*"); } catch {}
  return {
    closed: other.closed, title: read(() => other.document.title), frames: other.length,
    address: read(() => other.location.href), name: read(() => other.DOCUMENTATION_OPTIONS),
  };
}"""
# One page in every kind of frame, and a page of the stranger's own; `ended` counts the loads
# and the errors, of which each comes to one.
FRAMES = """([url, own]) => {
  const frames = [["iframe", "src"], ["object", "data"], ["embed", "src"]].map(([tag, from]) =>
    Object.assign(document.createElement(tag), { [from]: url }));
  frames.push(Object.assign(document.createElement("iframe"), { src: own }));
  window.ended = 0;
  for (const frame of frames) frame.onload = frame.onerror = () => { ended++; };
  document.body.replaceChildren(...frames);
}"""
# Counts the words that other windows send to a page; put into each page before its own scripts.
EAR = "window.heard = []; addEventListener('message', ({ data }) => heard.push(data))"
