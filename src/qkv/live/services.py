"""Jupyter's services that start kernels, for bodies of the types that they expect."""

from __future__ import annotations

import re
from typing import Any

from jupyter_client.kernelspec import NoSuchKernel
from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from jupyter_server.services.kernels.handlers import MainKernelHandler
from jupyter_server.services.sessions.handlers import SessionHandler, SessionRootHandler
from tornado import web

# No control characters, no half of a surrogate pair, no path without end; an id names files.
TEXT, ID = re.compile(r"[^\0-\x1f\x7f\ud800-\udfff]{0,1000}"), re.compile(r"[\w-]{0,100}")
TEXTS = {"path": TEXT, "type": TEXT, "name": TEXT, "id": ID, "kernel_id": ID}
OPTIONAL = {"name", "id", "kernel_id"}
MODELS = {"kernel", "notebook"}


def check_model(model: Any, where: str = "the body") -> None:
    """Check the types of what a session or a kernel is described by.

    Raises:
        HTTPError: 400, names the field and what is expected there.
    """
    if not isinstance(model, dict):
        raise web.HTTPError(400, f"{where} must be an object")
    for name in TEXTS.keys() & model.keys():
        value = model[name]
        if value is None and name in OPTIONAL:
            continue
        if not (isinstance(value, str) and TEXTS[name].fullmatch(value)):
            raise web.HTTPError(400, f"{where}: {name} must be a text, and a short one")
    for name in MODELS & model.keys():
        check_model(model[name], name)


class CheckedHandler(APIHandler):
    """APIHandler that answers 400 to a body of wrong types, and never 500."""

    def get_json_body(self) -> dict[str, Any] | None:
        try:
            model = super().get_json_body()
        except UnicodeDecodeError as error:
            raise web.HTTPError(400, "Invalid JSON in body of request") from error
        if self.request.body:
            check_model(model)
        return model


class CheckedMainKernelHandler(CheckedHandler, MainKernelHandler):
    """Starts a kernel; of a kind that is not there, it says so, as a session does."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        try:
            await super().post()  # type: ignore[misc]
        except NoSuchKernel as error:
            raise web.HTTPError(501, f"there is no kernel {error.name!r}") from None


class CheckedSessionHandler(CheckedHandler, SessionHandler):
    """Changes or ends a session."""


class CheckedSessionRootHandler(CheckedHandler, SessionRootHandler):
    """Starts a session; says why it could not, where Jupyter's says 500 whatever the reason."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        try:
            await super().post()  # type: ignore[misc]
        except web.HTTPError as error:
            if isinstance(error.__cause__, web.HTTPError):
                raise error.__cause__ from None
            raise


def service_handlers(base: str) -> list[tuple[str, type[APIHandler]]]:
    """Addresses of these services below a base "/…/", to be matched before Jupyter's own."""
    api = re.escape(f"{base}api/")
    return [
        (rf"{api}kernels", CheckedMainKernelHandler),
        (rf"{api}sessions", CheckedSessionRootHandler),
        (rf"{api}sessions/(?P<session_id>\w+-\w+-\w+-\w+-\w+)", CheckedSessionHandler),
    ]
