"""A hostile page in the reader's browser, where a kernel runs for the book: it gets nothing.

It lies on another port of this machine, so that to a browser it is the same site as the book, or
under a name of its own. Beside each attack stands what the same lines get from the book's own page.
"""

from __future__ import annotations

import itertools
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, CDPSession, Page

from tests.browser import hostile as attack
from tests.browser.conftest import FLAGS, launch
from tests.browser.hostile import EVIL, Hostile, hostile_server
from tests.browser.live import CHAPTER, LivePage
from tests.helpers.live_server import HOST, Server, run
from tests.helpers.waiting import WAIT_SECONDS, until

RULES = (
    f"--host-resolver-rules=MAP {EVIL} {HOST}, MAP * ~NOTFOUND, EXCLUDE {HOST}, EXCLUDE *.localhost"
)
# Chromium's own guard of this machine's servers, which other browsers lack: the book's must do.
OPEN = "--disable-features=LocalNetworkAccessChecks"
COUNT = "print(get_ipython().execution_count)"
STATE = "print(get_ipython().execution_count, 'here' in globals(), 'stolen' in globals())"
SESSION = json.dumps(
    {"path": "x.ipynb", "name": "", "type": "notebook", "kernel": {"name": "python3"}}
)
REFUSED = {400, 403, 404, 405}  # 404 is Jupyter's answer to an Origin that is not its own


@pytest.fixture(scope="module")
def loose(browser: Browser) -> Iterator[Browser]:
    """A Chromium that knows one name more: the stranger's."""
    flags = [flag for flag in FLAGS if "--host-resolver-rules" not in flag]
    own = launch(browser.browser_type, [*flags, RULES, OPEN])
    yield own
    own.close()


class Scene:
    """The reader's browser: a live page of the book in one tab, the stranger's in another."""

    def __init__(self, context: BrowserContext, server: Server, stranger: Hostile) -> None:
        self.context, self.server, self.stranger = context, server, stranger
        self.sent: dict[str, tuple[str, str]] = {}  # method and address of the stranger's requests
        self.cookies: dict[str, str] = {}
        self.answers: dict[str, int] = {}
        context.add_init_script(attack.EAR)
        self.book = context.new_page()
        self.book.goto(f"{self.address(f'book/{CHAPTER}')}?token={server.token}")
        self.live = LivePage(self.book).start()
        own = CHAPTER.replace(".html", ".ipynb")
        (session,) = (s for s in server.ask("api/sessions").json if s["path"] == own)
        self.session, self.kernel = session["id"], session["kernel"]["id"]
        self.runs = 0
        self.run("here = 1")
        self.evil = context.new_page()
        self._follow(context.new_cdp_session(self.evil))

    def _follow(self, devtools: CDPSession) -> None:
        """Also what the page never sees: an answer that the browser keeps from it."""

        def sent(event: dict[str, Any]) -> None:
            self.sent[event["requestId"]] = event["request"]["method"], event["request"]["url"]

        def headers(event: dict[str, Any]) -> None:
            given = {name.lower(): value for name, value in event["headers"].items()}
            self.cookies[event["requestId"]] = given.get("cookie", "")

        def answered(event: dict[str, Any]) -> None:
            self.answers[event["requestId"]] = event["statusCode"]

        devtools.on("Network.requestWillBeSent", sent)
        devtools.on("Network.requestWillBeSentExtraInfo", headers)
        devtools.on("Network.responseReceivedExtraInfo", answered)
        devtools.send("Network.enable")

    def statuses(self, *methods: str, at_least: int) -> dict[str, int]:
        """The book's answers to the stranger's requests of these methods, by their ids.

        They come by another way than what the page is told: so this waits for as many.
        """
        home = f":{self.server.port}/"

        def answered() -> dict[str, int]:
            return {
                number: self.answers[number]
                for number, (how, url) in self.sent.items()
                if how in methods and home in url and number in self.answers
            }

        def heard() -> bool:
            return len(answered()) >= at_least and answered().keys() <= self.cookies.keys()

        until(heard, "the attack did not come as far as the server", page=self.evil)
        return answered()

    def address(self, path: str, scheme: str = "http", host: str = "") -> str:
        return f"{scheme}://{host or self.server.name}:{self.server.port}{self.server.base}{path}"

    @property
    def channels(self) -> str:
        return self.address(f"api/kernels/{self.kernel}/channels", "ws")

    def run(self, code: str) -> str:
        """What the page's kernel prints for some code of the test's own."""
        self.runs += 1
        line = self.server.socket(self.kernel)
        printed = run(line, code)
        line.close()
        return printed

    def state(self) -> tuple[Any, ...]:
        """Sessions, kernels, how often others ran something, and what is defined."""
        sessions = [(s["id"], s["kernel"]["id"]) for s in self.server.ask("api/sessions").json]
        kernels = [kernel["id"] for kernel in self.server.ask("api/kernels").json]
        count, here, stolen = self.run(STATE).split()
        return sessions, kernels, int(count) - self.runs, here, stolen


@pytest.fixture(scope="module")
def scene(loose: Browser, live_server: Server) -> Iterator[Scene]:
    context = loose.new_context()
    with hostile_server(live_server.name) as stranger:
        scene = Scene(context, live_server, stranger)
        yield scene
        context.close()
    live_server.ask(f"api/sessions/{scene.session}", "DELETE", live_server.xsrf)


@pytest.fixture
def untouched(scene: Scene) -> Iterator[Scene]:
    """The scene; the test fails when anything ran, began or ended on the reader's server."""
    before = scene.state()
    assert before[3:] == ("True", "False")
    scene.sent.clear()
    scene.cookies.clear()
    scene.answers.clear()
    scene.stranger.asked.clear()
    yield scene
    for extra in scene.context.pages[2:]:
        extra.close()
    assert scene.state() == before


@pytest.fixture(params=["", EVIL], ids=["another port", "another site"])
def evil(request: pytest.FixtureRequest, untouched: Scene) -> Page:
    """The stranger's page: on the name of this run, as if he had learnt it, or on his own."""
    untouched.evil.goto(untouched.stranger.url("/", request.param))
    return untouched.evil


def xsrf(scene: Scene) -> dict[str, str]:
    """What a page of the book learns in order to change something."""
    answer = scene.book.evaluate(attack.FETCH, [scene.address("book/_live/server.json"), {}])
    return {"X-XSRFToken": json.loads(answer[1])["xsrf"]}


def names_of(cookies: str) -> set[str]:
    return {one.split("=")[0] for one in cookies.split("; ") if one}


def test_no_cookie_of_the_book_is_sent_elsewhere(untouched: Scene) -> None:
    """The same page would see a cookie for all paths, as other servers on this machine set them."""
    root = f"{untouched.server.origin}/"
    untouched.context.add_cookies([{"name": "careless", "value": "1", "url": root}])
    guesses = ("", "book/", CHAPTER, "api/kernels", "lab", "tree", "user/me/", "a/book/", "%2e/")
    for guess in guesses:
        untouched.evil.goto(untouched.stranger.url(f"/{guess}"))
        assert names_of(untouched.evil.evaluate("document.cookie")) == {"careless"}
    sent = untouched.stranger.headers("Cookie")
    assert len(sent) == len(guesses)
    assert {name for cookies in sent for name in names_of(cookies)} == {"careless"}
    assert untouched.book.evaluate("document.cookie") == "careless=1", (
        "scripts can read one of ours"
    )

    # Only he who knows the path is sent them, and nobody is told the path.
    untouched.stranger.asked.clear()
    untouched.evil.goto(untouched.stranger.url(untouched.server.base))
    assert len(names_of(untouched.stranger.headers("Cookie")[0])) >= 3
    untouched.context.clear_cookies(name="careless")


def test_planted_cookies_do_not_lock_the_reader_out(untouched: Scene) -> None:
    """A page sets cookies for all ports of its host: of every guessable name, and many."""
    others = untouched.state()[2]
    port, host = untouched.server.port, untouched.server.name
    name = host.replace(".", "-")
    guessed = ["_xsrf", "xsrf", "xsrf-", "reader", "reader-", "token", "jupyterhub-session-id"]
    guessed += [f"username-{name}-{port}", f"username-{host}:{port}", f"username-{name}", "session"]
    untouched.evil.goto(untouched.stranger.url())
    untouched.evil.evaluate(
        """([names, many]) => {
          for (const name of names) document.cookie = `${name}=2|planted; Path=/; SameSite=Lax`;
          const filler = "x".repeat(4000);
          for (let i = 0; i < many; i++) document.cookie = `filler-${i}=${filler}; Path=/`;
        }""",
        [guessed, 120],
    )
    page = untouched.context.new_page()
    answer = page.goto(untouched.address("book/"))  # signed in as before
    assert answer is not None
    assert answer.status == 200, answer.text()
    page.wait_for_url("**/index.html")  # to which that page leads on
    page.goto(f"{untouched.address(f'book/{CHAPTER}')}?token={untouched.server.token}")
    assert len(page.context.cookies()) > 120
    live = LivePage(page).start()
    assert live.prints(live.plain()[0], "print(6 * 7)") == "42"
    live.act("restart")
    live.wait("ready", "started afresh")
    live.run(live.plain()[0], "here = 1")
    live.act("reset-all")
    page.close()
    for planted in [*guessed, *(f"filler-{i}" for i in range(120))]:
        untouched.context.clear_cookies(name=planted)
    untouched.runs = 0
    untouched.runs = int(untouched.run(COUNT)) - others


def test_a_link_out_of_the_book_does_not_name_its_path(untouched: Scene) -> None:
    """A page that sends its whole address to everybody is the stranger's own."""
    page = untouched.context.new_page()
    page.goto(untouched.address(f"book/{CHAPTER}"))
    for target in ("", "_blank"):
        untouched.stranger.asked.clear()
        page.evaluate(
            """([href, target]) => {
              const link = Object.assign(document.createElement("a"), { href, target });
              document.querySelector("main").append(link);
              link.click();
            }""",
            [untouched.stranger.url("/out"), target or "_self"],
        )
        until(lambda: untouched.stranger.asked, "the link leads nowhere", page=page)
        assert untouched.stranger.headers("Referer") == []
        if not target:
            page.wait_for_url(untouched.stranger.url("/out"))
            assert page.evaluate("document.referrer") == ""
            page.go_back()
    untouched.stranger.asked.clear()
    untouched.evil.goto(untouched.stranger.url("/one"))
    untouched.evil.evaluate("url => { location.href = url; }", untouched.stranger.url("/two"))
    untouched.evil.wait_for_url("**/two")
    assert untouched.stranger.headers("Referer") == [untouched.stranger.url("/one")]


# From here on the stranger knows the path, the kernel and the session.

READS = ("book/_live/server.json", f"book/{CHAPTER}", "book/", "api/kernels", "api/sessions")
MODES = ("cors", "no-cors")
KINDS = ("application/json", "text/plain", "multipart/form-data")


def test_fetch_reads_nothing(evil: Page, untouched: Scene) -> None:
    for path, mode in itertools.product(READS, MODES):
        request = [untouched.address(path), {"mode": mode}]
        assert evil.evaluate(attack.FETCH, request) == "TypeError", request
        assert untouched.book.evaluate(attack.FETCH, request)[0] == 200, request


def writes(scene: Scene) -> Iterator[tuple[str, str, str]]:
    yield "POST", "api/sessions", SESSION
    yield "POST", "api/kernels", json.dumps({"name": "python3"})
    yield "PATCH", f"api/sessions/{scene.session}", json.dumps({"path": "y.ipynb"})
    for method, path in itertools.product(("POST", "DELETE"), ("", "/interrupt", "/restart")):
        if (method == "POST") == bool(path):
            yield method, f"api/kernels/{scene.kernel}{path}", ""
    yield "DELETE", f"api/sessions/{scene.session}", ""


@pytest.mark.parametrize("kind", KINDS)
def test_fetch_starts_and_ends_nothing(evil: Page, untouched: Scene, kind: str) -> None:
    for mode, (method, path, body) in itertools.product(MODES, writes(untouched)):
        options = {"method": method, "body": body or None, "mode": mode}
        options["headers"] = {"Content-Type": kind}
        told = evil.evaluate(attack.FETCH, [untouched.address(path), options])
        assert told in ("TypeError", "opaque"), (method, path, mode, told)
    # Of these, the browser sends the posts that a form could send too; before all others it asks.
    statuses = untouched.statuses("POST", "PATCH", "DELETE", at_least=4)
    assert set(statuses.values()) <= REFUSED
    if untouched.server.name in evil.url:  # to the browser one site: it is the server that refuses
        kept = {cookie["name"] for cookie in untouched.context.cookies()}
        assert all(names_of(untouched.cookies[number]) == kept for number in statuses)


def test_the_book_itself_starts_and_ends_a_kernel(scene: Scene) -> None:
    """The control of the tests around it: the same requests, with what only the book can read."""
    before = scene.state()
    headers = {"Content-Type": "application/json"} | xsrf(scene)

    def ask(method: str, path: str, body: str | None = None) -> Any:
        options = {"method": method, "headers": headers, "body": body}
        return scene.book.evaluate(attack.FETCH, [scene.address(path), options])

    status, text = ask("POST", "api/sessions", SESSION)
    made = json.loads(text)
    assert status == 201
    assert len(scene.server.ask("api/kernels").json) == len(before[1]) + 1
    assert ask("POST", f"api/kernels/{made['kernel']['id']}/interrupt") == [204, ""]
    assert ask("POST", f"api/kernels/{made['kernel']['id']}/restart")[0] == 200
    assert ask("DELETE", f"api/sessions/{made['id']}") == [204, ""]
    assert scene.state() == before


def test_a_busy_kernel_is_not_interrupted(evil: Page, untouched: Scene, tmp_path: Path) -> None:
    """An idle one would not show it."""
    said: list[str] = []
    evening, morning = tmp_path / "evening", tmp_path / "morning"
    sleep = f"""try:
    import os, time
    open({str(evening)!r}, "w").close()
    while not os.path.exists({str(morning)!r}): time.sleep(0.01)
except KeyboardInterrupt: print('woken')"""

    def wait() -> None:
        said.append(untouched.run(sleep))

    def asleep() -> bool:
        kernel = untouched.server.ask(f"api/kernels/{untouched.kernel}").json
        return str(kernel["execution_state"]) == "busy"

    for who, word in ((evil, ""), (untouched.book, "woken\n")):
        sleeper = threading.Thread(target=wait)
        sleeper.start()
        until(asleep, "the kernel does not run it", page=evil)
        until(evening.exists, "it does not sleep yet", page=evil)
        evening.unlink()
        headers = {}
        if who is untouched.book:
            headers |= xsrf(untouched)
        interrupt = untouched.address(f"api/kernels/{untouched.kernel}/interrupt")
        for mode in ("no-cors", "cors"):
            options = {"method": "POST", "mode": mode, "headers": headers}
            who.evaluate(attack.FETCH, [interrupt, options])
        if who is evil:
            morning.touch()
        sleeper.join(WAIT_SECONDS)
        morning.unlink(missing_ok=True)
        assert said.pop() == word


FORMS = (
    ("text/plain", SESSION[:-1] + ', "_": "', '"}'),
    ("application/x-www-form-urlencoded", "_xsrf", "2|guess"),
    ("multipart/form-data", "_xsrf", "guess"),
)


def test_forms_do_nothing(evil: Page, untouched: Scene) -> None:
    """A form needs no permission to be sent, and its answer is a page the stranger cannot read."""
    home = evil.url
    kernel = f"api/kernels/{untouched.kernel}"
    paths = ("api/sessions", "api/kernels", f"{kernel}/interrupt", f"{kernel}/restart", "book/")
    for path, form in itertools.product(paths, FORMS):
        with evil.expect_navigation():
            evil.evaluate(attack.FORM, [untouched.address(path), *form])
        evil.goto(home)
    statuses = untouched.statuses("POST", at_least=len(paths) * len(FORMS))
    assert len(statuses) == len(paths) * len(FORMS)
    assert set(statuses.values()) <= REFUSED


def test_the_kernel_takes_no_web_socket(evil: Page, untouched: Scene) -> None:
    never_opened = 1006
    assert evil.evaluate(attack.WEB_SOCKET, untouched.channels) == never_opened
    named = f"{untouched.channels}?session_id=a"
    assert evil.evaluate(attack.WEB_SOCKET, named) == never_opened
    assert untouched.book.evaluate(attack.WEB_SOCKET, untouched.channels) == "open"


def elements(book: Path) -> Iterator[tuple[str, str, dict[str, str]]]:
    """What any page may load from any other, unless that one forbids it."""
    picture = next((book / "_images").glob("*.png")).name
    yield "img", "src", {"path": f"book/_images/{picture}"}
    yield "link", "href", {"path": "book/_static/pygments.css", "rel": "stylesheet"}
    yield "script", "src", {"path": "book/_static/documentation_options.js"}
    yield "script", "src", {"path": "book/_static/live/button_actions.js", "type": "module"}


def test_elements_load_nothing(evil: Page, untouched: Scene, book: Path) -> None:
    for tag, attribute, more in elements(book):
        given = dict(more)
        given[attribute] = untouched.address(given.pop("path"))
        nothing = {"type": "error", "width": 0, "names": []}
        assert evil.evaluate(attack.LOAD, [tag, given]) == nothing, given
        assert untouched.book.evaluate(attack.LOAD, [tag, given])["type"] == "load", given


def test_a_page_or_an_answer_is_no_script(evil: Page, untouched: Scene) -> None:
    """And none of them is a script even to the book: nosniff."""
    for page, path in itertools.product((evil, untouched.book), READS):
        seen = page.evaluate(attack.LOAD, ["script", {"src": untouched.address(path)}])
        assert (seen["type"], seen["names"]) == ("error", []), (page.url, path)


@pytest.mark.parametrize("path", [f"book/{CHAPTER}", "book/_live/server.json", "api/kernels"])
def test_no_other_site_frames_the_book(evil: Page, untouched: Scene, path: str) -> None:
    """Beside a frame of the stranger's own, which is shown."""
    evil.evaluate(attack.FRAMES, [untouched.address(path), untouched.stranger.url("/own")])
    until(lambda: evil.evaluate("ended") == 4, "a frame goes on loading", page=evil)
    shown = [f.url for f in evil.frames[1:] if f.url.startswith("http") and f.title()]
    assert shown == [untouched.stranger.url("/own")]


def test_a_window_on_the_book_shows_and_hears_nothing(evil: Page, untouched: Scene) -> None:
    with untouched.context.expect_page() as opened:
        evil.evaluate(attack.OPEN, untouched.address(f"book/{CHAPTER}"))
    page = opened.value
    page.wait_for_url(f"**/{CHAPTER}")
    assert page.title() == untouched.book.title()
    assert evil.evaluate(attack.READ) == {
        "closed": True,
        "frames": 0,
        "title": "SecurityError",
        "address": "SecurityError",
        "name": "SecurityError",
    }
    assert page.evaluate("window.opener") is None
    assert page.evaluate("heard") == []

    own = urlsplit(evil.url)._replace(path="/own").geturl()
    with untouched.context.expect_page() as opened:
        evil.evaluate(attack.OPEN, own)
    opened.value.wait_for_url(own)
    seen = evil.evaluate(attack.READ)
    assert (seen["closed"], seen["title"], seen["address"]) == (False, "Hostile", own)
    words = "what is sent to a window comes nowhere"
    assert until(lambda: opened.value.evaluate("heard"), words, page=evil) == ["steal"]


def test_a_link_with_a_false_token(evil: Page, untouched: Scene, loose: Browser) -> None:
    """It signs nobody out, and lets nobody in who is not."""
    with untouched.context.expect_page() as opened:
        evil.evaluate("url => { window.open(url); }", untouched.address("book/?token=guess"))
    opened.value.wait_for_load_state()
    assert "token" not in opened.value.url
    request = [untouched.address("api/kernels"), {}]
    assert untouched.book.evaluate(attack.FETCH, request)[0] == 200

    alone = loose.new_context()
    page = alone.new_page()
    answer = page.goto(untouched.address("book/?token=guess"))
    assert answer is not None
    assert answer.status == 403
    assert "user" not in "".join(cookie["name"] for cookie in alone.cookies())
    alone.close()


def test_another_name_for_this_machine_is_refused(untouched: Scene) -> None:
    """DNS rebinding: a page of the stranger's, its name now leading to the book's server.

    To the browser it is one origin with that server, so no rule of the web stands between them.
    """
    evil = untouched.evil
    home = f"http://{EVIL}:{untouched.server.port}/"
    evil.route(
        home, lambda route: route.fulfill(body="<title>Old</title>", content_type="text/html")
    )
    evil.goto(home)
    assert evil.title() == "Old"
    for path, token in itertools.product(READS, ("", f"?token={untouched.server.token}")):
        url = untouched.address(path, host=EVIL) + token
        status, text = evil.evaluate(attack.FETCH, [url, {}])
        assert status in REFUSED
        assert not re.search(r'"id"|"live"|<article|<main', text)
        own = untouched.book.evaluate(attack.FETCH, [untouched.address(path), {}])
        assert own[0] == 200
    start = {"method": "POST", "body": SESSION, "headers": {"Content-Type": "application/json"}}
    token = f"?token={untouched.server.token}"
    url = untouched.address("api/sessions", host=EVIL) + token
    assert evil.evaluate(attack.FETCH, [url, start])[0] in REFUSED
    channels = untouched.channels.replace(untouched.server.name, EVIL) + token
    assert evil.evaluate(attack.WEB_SOCKET, channels) == 1006
    evil.unroute(home)
