"""Request handlers under <base>/book/: the built pages, and the status that kernels run here."""

from __future__ import annotations

import json
import platform
import re
from http.client import responses
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler, JupyterHandler
from jupyter_server.utils import url_path_join
from tornado import web
from tornado.httputil import qs_to_qsl

from qkv.live.content_security_policy import (
    SECURITY_HEADERS,
    build_policy,
    inline_hashes_of_file,
    own_inline_hashes,
)
from qkv.live.edits import Edits
from qkv.live.edits_handler import EditsHandler

NOT_SIGNED_IN = "You are not signed in. Open the link that the book's server printed."


class BookHandler(JupyterHandler, web.StaticFileHandler):
    """Files of the built book, for who is signed in.

    Not jupyter_server's AuthenticatedFileHandler: that one puts each page in a sandbox of its own
    origin, from which it reaches no kernel.
    """

    auth_resource = "contents"

    @property
    def content_security_policy(self) -> str:
        return build_policy(hosts=self.hosts())

    def hosts(self) -> list[str]:
        """The names of this server: the one in this request, and that of a port forward."""
        origin = urlsplit(self.allow_origin if self.allow_origin != "*" else "").netloc
        return [self.request.host, *filter(None, [origin])]

    def set_default_headers(self) -> None:
        super().set_default_headers()
        for name, value in SECURITY_HEADERS.items():
            self.set_header(name, value)
        self.set_header("Cache-Control", "no-cache")  # a new build is seen at once

    async def prepare(self) -> None:  # type: ignore[override]
        await super().prepare()
        self.request.headers.pop("Range", None)  # a part of a file could be no part of its gzip
        if not self._finished and not self.check_origin():
            raise web.HTTPError(403, "a page of another site asked")

    def get_login_url(self) -> str:
        """Where to sign in; a server without such a page says 403 instead.

        Raises:
            HTTPError: 403, there is no page to sign in at.
        """
        if not self.login_available:
            raise web.HTTPError(403, reason="Forbidden")
        return super().get_login_url()

    @web.authenticated
    @authorized
    async def get(  # type: ignore[override]
        self, path: str | None, include_body: bool = True
    ) -> None:
        if path is None:
            self.redirect(url_path_join(self.base_url, "book/"))
        elif "token" in self.request.query_arguments:
            self.redirect(self.without_token(), status=303)  # the cookie is in this answer
        elif not Path(self.root, "index.html").is_file():
            raise web.HTTPError(404, "There is no book in %s: make html builds it.", self.root)
        else:
            self.xsrf_token  # noqa: B018  (reading it sets the cookie, one for all open pages)
            await web.StaticFileHandler.get(self, path, include_body)

    @web.authenticated
    @authorized
    async def head(self, path: str | None) -> None:  # type: ignore[override]
        await web.StaticFileHandler.get(self, path or "", include_body=False)

    def parse_url_path(self, url_path: str) -> str:
        if "\0" in url_path:
            raise web.HTTPError(404)  # no file has such a name, and asking for one is an error
        return super().parse_url_path(url_path)

    def without_token(self) -> str:
        """The address asked for, less the token, which no address bar or bookmark shall show.

        More is not promised: the link lets in whoever has it, as long as the server runs.
        """
        arguments = qs_to_qsl(self.request.query_arguments)
        rest = urlencode([(name, value) for name, value in arguments if name != "token"])
        return self.request.path + (f"?{rest}" if rest else "")

    def set_extra_headers(self, path: str) -> None:
        self.set_header("Accept-Ranges", "none")
        file = Path(str(self.absolute_path))
        if file.suffix == ".html":
            inline = inline_hashes_of_file(file, file.stat().st_mtime_ns)
            own = own_inline_hashes(Path(self.root))
            policy = build_policy(inline.among(own), self.hosts())
            self.set_header("Content-Security-Policy", policy)

    def compute_etag(self) -> str | None:
        """ETag of the file's time and size; tornado's own would outlive a new build of the book.

        A weak one, because the same file is sent compressed and as it is.
        """
        file = Path(str(self.absolute_path)).stat()
        return f'W/"{file.st_mtime_ns:x}-{file.st_size:x}"'

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """One plain sentence: an error page has no use for scripts, addresses or tokens."""
        error = kwargs.get("exc_info", (None, None))[1]
        text = responses.get(status_code, "Error")
        if status_code == 403 and not self.current_user:
            text = NOT_SIGNED_IN
        elif status_code < 500 and isinstance(error, web.HTTPError) and error.log_message:
            text = error.get_message() or text
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(text + "\n")


class StatusHandler(APIHandler):
    """Status of the server: cells can run here, with the XSRF token that changing requests need.

    The built book holds a file of this name, which says that nothing can run.
    """

    auth_resource = "api"

    @web.authenticated
    @authorized
    def get(self) -> None:
        for name, value in SECURITY_HEADERS.items():
            self.set_header(name, value)
        self.set_header("Cache-Control", "no-store")
        version = platform.python_version()
        # Not read from the cookie: other servers on this machine set some of the same name.
        xsrf = self.xsrf_token.decode()
        self.finish(
            json.dumps({"live": True, "base": self.base_url, "python": version, "xsrf": xsrf})
        )


class NotFoundHandler(web.RequestHandler):
    """404 for every address outside the server's own path, with nothing that a stranger could use.

    No Jupyter handler here, because those set cookies, redirect, and write pages that name the
    path.
    """

    TEXT = "This is the server of The Runnable Transformer. Open the link that it printed.\n"

    def set_default_headers(self) -> None:
        for name, value in SECURITY_HEADERS.items():
            self.set_header(name, value)
        self.set_header("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")

    def check_xsrf_cookie(self) -> None:
        """Nothing to protect: whatever is asked, the answer is the same."""

    def prepare(self) -> None:
        self.set_status(404)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(self.TEXT)


def add_handlers(app: web.Application, folder: Path) -> None:
    """Answer for <base>/book/ with the built book in `folder`, before Jupyter's own addresses."""
    address = re.escape(url_path_join(app.settings["base_url"], "book"))
    files = {"path": str(folder), "default_filename": "index.html"}
    app.add_handlers(
        ".*$",
        [
            (rf"{address}/_live/server\.json", StatusHandler),
            (rf"{address}/_live/edits/(.{{1,200}})", EditsHandler, {"edits": Edits(folder)}),
            (rf"{address}(?:/(.*))?", BookHandler, files),
        ],
    )
