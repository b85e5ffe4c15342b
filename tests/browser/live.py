"""A chapter whose cells run, for tests: press, edit, run, and read what a reader would see."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import BrowserContext, Dialog, Locator, Page, expect

from tests.helpers.live_server import Server
from tests.helpers.waiting import WAIT_MILLISECONDS

if TYPE_CHECKING:
    from tests.browser.conftest import Watch

ROOT = Path(__file__).parents[2]
CHAPTERS = [f"chapters/{p.stem}.html" for p in sorted((ROOT / "chapters").glob("*.ipynb"))]
CHAPTER = "chapters/02_embedding.html"  # it has cells in sight, a figure, an explorer
# What jupyterlab's services write in a tab of a kernel when another tab makes widgets there.
ALL_RESET = "All cells are the book's again."
OTHER_TAB = "Comm not found for comm id"
# What they throw when a kernel ends before it has told them who it is: nobody waits for the answer.
UNANSWERED = "Canceled future for kernel_info_request"
# What Chromium itself writes into the console when a server does not answer.
NO_ANSWER = r"ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|WebSocket connection"
# Runs until it is interrupted, and takes that calmly.
CALM = """try:
    import time; print("begun", flush=True)
    while True: time.sleep(60)
except KeyboardInterrupt: pass"""
# Contrast (WCAG 2.2) of each element's text with all that is painted under it. Chromium writes some
# colours as color(srgb …) and some with alpha, so a canvas does the mixing.
CONTRAST = """(elements) => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  const paint = (colour) => { pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1); };
  const luminance = () => {
    const linear = (x) => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = [...pen.getImageData(0, 0, 1, 1).data].map((x) => linear(x / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  return elements.filter((e) => e.checkVisibility() && e.textContent.trim()).map((e) => {
    const under = [];
    for (let at = e; at; at = at.parentElement) under.unshift(getComputedStyle(at).backgroundColor);
    paint("#fff");
    under.forEach(paint);
    const behind = luminance();
    paint(getComputedStyle(e).color);
    const [low, high] = [behind, luminance()].sort((a, b) => a - b);
    return [e.className, e.textContent.slice(0, 30), (high + 0.05) / (low + 0.05)];
  });
}"""


class LivePage:
    """One page in one tab. Cells are counted from 0, as in data-qkv-cell."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.bar = page.locator(".qkv-live-bar")
        self.message = page.locator(".qkv-live-message")
        self.button = page.locator(".qkv-live-start")

    def clean(self, reader: Reader) -> None:
        """Undo what another test did on this page."""
        reader.watch.errors.clear()
        reader.forgiven.clear()
        waiting = self.page.locator("[data-qkv-state=queued], [data-qkv-state=running]")
        ready = self.bar.get_attribute("data-state") == "ready" and not waiting.count()
        if not free(reader.server) and ready:
            self.act("reset-all")
            self.wait("ready", ALL_RESET)
        else:
            self.page.reload()
            forget_edits(reader.server)
            self.start()

    def leave_edits(self) -> None:
        """Send what is not kept yet, as when the page is left, and let the server hear of it."""
        self.page.evaluate(
            """async (milliseconds) => {
              dispatchEvent(new Event("pagehide"));
              await fetch(location, { signal: AbortSignal.timeout(milliseconds) });
            }""",
            WAIT_MILLISECONDS,
        )

    def press(self) -> None:
        self.button.click()

    def start(self) -> LivePage:
        self.press()
        self.wait("ready")
        return self

    def wait(self, state: str, message: str | re.Pattern[str] = "") -> None:
        """Until the bar is in a state, and says some message."""
        expect(self.bar).to_have_attribute("data-state", state)
        expect(self.message).to_contain_text(message)

    def act(self, name: str) -> None:
        """Press one of the bar's buttons: run-all, interrupt, restart, stop, reset-all.

        Where it asks whether that is meant, say yes.
        """
        self.page.once("dialog", self.agree)
        self.page.locator(f".qkv-live-{name}").click()
        self.page.remove_listener("dialog", self.agree)

    @staticmethod
    def agree(dialog: Dialog) -> None:
        dialog.accept()

    def cells(self) -> Locator:
        return self.page.locator("[data-qkv-cell]")

    def cell(self, n: int) -> Locator:
        return self.page.locator(f"[data-qkv-cell='{n}']")

    def plain(self) -> list[int]:
        """Cells whose code and output are in sight, with text stored under them."""
        return self.page.locator("[data-qkv-cell]").evaluate_all(
            """(cells) => cells.filter((cell) => !/tag_hide/.test(cell.className)
              && cell.querySelector(".cell_output pre"))
              .map((cell) => Number(cell.dataset.qkvCell))"""
        )

    def editor(self, n: int) -> Locator:
        """A cell gets its editor when it comes near the window."""
        self.cell(n).scroll_into_view_if_needed()
        return self.cell(n).locator(".CodeMirror")

    def text(self, n: int) -> str:
        return str(self.editor(n).evaluate("e => e.CodeMirror.getValue()"))

    def write(self, n: int, code: str) -> None:
        self.editor(n).evaluate("(e, code) => e.CodeMirror.setValue(code)", code)

    def run(self, n: int, code: str | None = None, state: str = "done") -> Locator:
        """Press the cell's button, wait until it has ended so, and return its live output."""
        if code is not None:
            self.write(n, code)
        self.cell(n).locator(".qkv-run").click()
        self.ends(n, state)
        return self.output(n)

    def ends(self, n: int, state: str) -> None:
        ended = re.compile("done|error|aborted|lost")
        expect(self.cell(n)).to_have_attribute("data-qkv-state", ended)
        expect(self.cell(n)).to_have_attribute("data-qkv-state", state)

    def prints(self, n: int, code: str) -> str:
        """What the code prints when it runs in the cell."""
        return (self.run(n, code).text_content() or "").strip()

    def run_calmly(self, n: int) -> None:
        """Let the cell run until it is interrupted; it has begun when this returns."""
        self.write(n, CALM)
        self.cell(n).locator(".qkv-run").click()
        expect(self.output(n)).to_have_text("begun")

    def run_before(self, n: int) -> None:
        """Send the cells above one, which make what it needs."""
        for i in range(n):
            self.cell(i).locator(".qkv-run").evaluate("button => button.click()")

    def output(self, n: int) -> Locator:
        return self.cell(n).locator(".qkv-live-output")

    def note(self, n: int) -> Locator:
        return self.cell(n).locator(".qkv-cell-note")

    def stored(self, n: int) -> Locator:
        return self.cell(n).locator(".cell_output")


class Reader:
    """A browser of its own, signed in to a server, and watched."""

    def __init__(self, context: BrowserContext, server: Server, watch: Watch) -> None:
        self.context, self.server, self.watch = context, server, watch
        self.forgiven: list[str] = []
        context.on("page", watch.follow)

    def open(self, address: str = CHAPTER) -> LivePage:
        """A page of the book in a new tab, by the link that the server printed."""
        page = self.context.new_page()
        page.goto(self.link(address))
        return LivePage(page)

    def link(self, address: str = CHAPTER) -> str:
        return self.server.link(address)

    def forgive(self, *patterns: str) -> None:
        """Errors that the browser itself reports about what a test breaks."""
        self.forgiven += patterns

    def check(self) -> None:
        """Fail on what went wrong; a page that asks a server which has ended does nothing wrong."""
        ended = self.server.process.poll() is not None
        forgiven = [*self.forgiven, *([NO_ANSWER] if ended else [])]
        unforgiven = [e for e in self.watch.errors if not any(re.search(p, e) for p in forgiven)]
        assert not self.watch.outside, f"asked other hosts: {self.watch.outside}"
        assert not unforgiven, "\n".join(unforgiven)


def forget_edits(server: Server) -> None:
    """Take back all edits and marks of tests before: the server keeps them for every browser."""
    for name in (*CHAPTERS, "progress"):
        page = f"book/_live/edits/{name.removesuffix('.html')}"
        if edits := server.ask(page).json["edits"]:
            assert server.ask(page, "PATCH", server.xsrf, dict.fromkeys(edits)).status == 204


def sessions(server: Server) -> list[Any]:
    return list(server.ask("api/sessions").json)


def free(server: Server) -> int:
    """End the kernels that a test left busy, so that the next test finds none; how many."""
    if server.process.poll() is not None:
        return 0
    busy = [s for s in sessions(server) if s["kernel"]["execution_state"] != "idle"]
    end(server, busy)
    return len(busy)


def end(server: Server, ended: list[Any]) -> None:
    """End sessions, and their kernels."""
    for session in ended:
        assert server.ask(f"api/sessions/{session['id']}", "DELETE", server.xsrf).status == 204
