"""Request handler of a page's changed cells: who may run cells may read and keep them."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from tornado import web

from qkv.live.content_security_policy import SECURITY_HEADERS
from qkv.live.edits import Edits, is_changes

MAX_BODY = 2**16  # bytes of one request, also in a Jupyter that takes larger ones
TRIES, PAUSE = 20, 0.05  # s; another server of this reader may be writing


class EditsHandler(APIHandler):
    """Changed cells of one page: GET gives {"edits": {the book's text: the reader's}}.

    PATCH takes {the book's text: the reader's}, or null for the book's (RFC 7396). It needs the
    XSRF token, as all that changes something.
    """

    auth_resource = "contents"

    def initialize(self, edits: Edits) -> None:
        self.edits = edits

    def set_default_headers(self) -> None:
        super().set_default_headers()
        for name, value in SECURITY_HEADERS.items():
            self.set_header(name, value)
        self.set_header("Cache-Control", "no-store")

    @web.authenticated
    @authorized
    async def get(self, page: str) -> None:
        try:
            self.finish(json.dumps({"edits": self.edits.of_page(page)}))
        except (ValueError, OSError) as error:
            raise web.HTTPError(500, str(error)) from None

    @web.authenticated
    @authorized
    async def patch(self, page: str) -> None:
        changes = self.changes()
        for tries_left in reversed(range(TRIES)):
            try:
                self.edits.merge(page, changes)
                break
            except BlockingIOError as error:
                if not tries_left:
                    raise web.HTTPError(503, str(error)) from None
                await asyncio.sleep(PAUSE)
            except OSError as error:
                raise web.HTTPError(507, f"{error.filename}: {error.strerror}") from None
            except ValueError as error:
                raise web.HTTPError(507, str(error)) from None
        self.set_status(204)
        self.finish()

    def changes(self) -> Any:
        """The changes that the request holds.

        Raises:
            HTTPError: 413, they are too long for one request; 400, they are none.
        """
        if len(self.request.body) > MAX_BODY:
            raise web.HTTPError(413, f"a cell's change has at most {MAX_BODY:,} bytes")
        try:
            changes = json.loads(self.request.body)
        except (ValueError, RecursionError):
            changes = None
        if not is_changes(changes):
            raise web.HTTPError(400, "changes are an object of texts or null, by the book's text")
        return changes
