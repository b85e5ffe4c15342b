"""A web server of a folder, which says nothing: the tests read the browser's side."""

from __future__ import annotations

from http.server import SimpleHTTPRequestHandler
from typing import Any


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""
