"""The bar over a kernel: interrupt, restart, stop, a reload in the middle, a death."""

from __future__ import annotations

import itertools
import os
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import WebSocketRoute, expect

from tests.browser.live import (
    CALM,
    CHAPTER,
    CHAPTERS,
    OTHER_TAB,
    UNANSWERED,
    LivePage,
    Reader,
    sessions,
)
from tests.helpers.live_server import Server, kernels, serving
from tests.helpers.waiting import until

LOOP = "while True: pass"
DEAF = f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n{LOOP}"
SOCKET = "Connection lost, reconnecting"  # what jupyterlab's services write when a kernel restarts


@pytest.fixture(autouse=True)
def forgiving(reader: Reader, started: tuple[Reader, LivePage], live: LivePage) -> None:
    for one in (reader, started[0]):
        one.forgive(SOCKET, UNANSWERED, OTHER_TAB)


def loops(live: LivePage, n: int, code: str = LOOP) -> None:
    live.write(n, code)
    live.cell(n).locator(".qkv-run").click()
    expect(live.cell(n)).to_have_attribute("data-qkv-state", "running")
    live.wait("busy")


def test_an_endless_loop_is_interrupted_and_the_next_cell_runs(live: LivePage) -> None:
    first, second = live.plain()[:2]
    loops(live, first)
    live.act("interrupt")
    live.ends(first, "error")
    live.wait("ready")
    expect(live.output(first)).to_contain_text("KeyboardInterrupt")
    assert live.prints(second, "print('next')") == "next"


def test_a_cell_waits_for_the_one_that_runs(live: LivePage) -> None:
    first, second = live.plain()[:2]
    loops(live, first)
    live.cell(second).locator(".qkv-run").click()
    expect(live.cell(second)).to_have_attribute("data-qkv-state", "queued")
    expect(live.note(second)).to_have_text("waiting", use_inner_text=True)
    live.act("interrupt")
    live.ends(first, "error")
    live.ends(second, "aborted")
    expect(live.note(second)).to_have_text("not run", use_inner_text=True)


def test_interrupt_ends_run_all(live: LivePage) -> None:
    """Even where the cell that runs takes it calmly."""
    first = live.plain()[0]
    live.write(first, CALM)
    live.act("run-all")
    expect(live.output(first)).to_have_text("begun")
    live.act("interrupt")
    live.ends(first, "done")
    live.wait("ready")
    aborted = live.page.locator("[data-qkv-state=aborted]")
    expect(aborted).to_have_count(live.cells().count() - first - 1)


def test_restart_clears_the_variables(live: LivePage) -> None:
    first, second = live.plain()[:2]
    live.run(first, "kept = 1")
    live.act("restart")
    live.wait("ready", "started afresh")
    assert live.cell(first).get_attribute("data-qkv-state") == "idle"
    live.run(second, "kept", state="error")
    expect(live.output(second)).to_contain_text("NameError")


def test_a_widget_gives_way_to_the_stored_output_when_its_python_ends(live: LivePage) -> None:
    first, second = live.plain()[:2]
    live.run(first, "import ipywidgets; ipywidgets.IntSlider()")
    live.run(second, "print('text stays')")
    expect(live.output(first).locator(".jupyter-widgets").first).to_be_visible()
    live.act("restart")
    live.wait("ready", "started afresh")
    expect(live.output(first)).to_be_hidden()
    expect(live.stored(first)).to_be_visible()
    expect(live.output(second)).to_have_text("text stays")


@pytest.mark.parametrize("code", [LOOP, DEAF])
def test_restart_ends_an_endless_loop(live: LivePage, live_server: Server, code: str) -> None:
    """And says so when Python answers, not when it begins to start: no output gets lost."""
    first, second = live.plain()[:2]
    loops(live, first, code)
    live.act("restart")
    live.wait("ready", "started afresh")
    page = CHAPTER.replace(".html", ".ipynb")

    def states() -> list[str]:
        return [s["kernel"]["execution_state"] for s in sessions(live_server) if s["path"] == page]

    until(lambda: states() == ["idle"], "the server does not hear that it is idle")
    assert live.cell(first).get_attribute("data-qkv-state") != "running"
    assert live.prints(second, "print('next')") == "next"


def test_a_cell_waits_until_python_has_started_afresh(live: LivePage) -> None:
    """It is not sent to the old one, which still speaks, and would never answer."""
    first, second = live.plain()[:2]
    loops(live, first, DEAF)
    live.act("restart")
    live.ends(first, "lost")
    assert live.prints(second, "print('next')") == "next"
    live.wait("ready")


def test_what_python_did_not_finish_says_so_until_a_fresh_one_is_asked_for(live: LivePage) -> None:
    first, second = live.plain()[:2]
    loops(live, first, DEAF)
    live.act("restart")
    live.wait("ready", "started afresh")
    assert live.cell(first).get_attribute("data-qkv-state") == "lost"
    live.run(second, "print('next')")
    expect(live.message).to_contain_text("Ran")  # no longer what the first restart said
    live.act("restart")
    live.wait("ready", "started afresh")
    states = [live.cell(n).get_attribute("data-qkv-state") for n in (first, second)]
    assert states == ["idle", "idle"]


def lose_what_is_shown(reader: Reader) -> list[str]:
    """On each connection but the first, until Python is asked anew who it is; what is lost.

    A page that does not ask again never hears what its cells show.
    """
    connections = itertools.count()
    lost: list[str] = []

    def lossy(route: WebSocketRoute) -> None:
        server = route.connect_to_server()
        heard_whole = next(connections) == 0
        before = len(lost)

        def ask(message: str | bytes) -> None:
            nonlocal heard_whole
            heard_whole |= len(lost) > before and "kernel_info_request" in text_of(message)
            server.send(message)

        def hand_on(message: str | bytes) -> None:
            if not heard_whole and "iopub" in text_of(message):
                lost.append(text_of(message))
            else:
                route.send(message)

        route.on_message(ask)
        server.on_message(hand_on)

    reader.context.route_web_socket(re.compile("/channels"), lossy)
    return lost


def text_of(message: str | bytes) -> str:
    return message if isinstance(message, str) else message.decode("latin-1")


def test_what_a_new_connection_loses_is_asked_for_again(reader: Reader) -> None:
    """A Jupyter server that is not ours may hand on nothing of what Python shows at first."""
    lost = lose_what_is_shown(reader)
    live = reader.open().start()
    first = live.plain()[0]
    live.act("restart")
    live.wait("ready", "started afresh")
    assert live.prints(first, "print('next')") == "next"
    assert lost


def test_stop_and_start_again(live: LivePage, live_server: Server) -> None:
    """Without a reload, with the edits, on a fresh kernel."""
    first, second = live.plain()[:2]
    live.run(first, "kept = 1")
    live.act("stop")
    live.wait("off", "stopped")
    live.cell(first).locator(".qkv-run").click()
    expect(live.message).to_contain_text("Press Live code")
    live.start()
    assert live.text(first) == "kept = 1"
    live.run(second, "kept", state="error")
    page = CHAPTER.replace(".html", ".ipynb")
    assert len([s for s in sessions(live_server) if s["path"] == page]) == 1
    live.act("stop")
    until(lambda: page not in [s["path"] for s in sessions(live_server)], "a kernel is left")


def test_stop_while_python_starts_afresh(live: LivePage) -> None:
    """What was begun does not complain afterwards, and a fresh Python owes it nothing."""
    first, second = live.plain()[:2]
    loops(live, first, DEAF)
    live.act("restart")
    live.ends(first, "lost")
    live.cell(second).locator(".qkv-run").click()
    live.act("stop")
    live.wait("off", "stopped")
    live.ends(second, "aborted")
    assert live.start().prints(second, "print('next')") == "next"


def test_stop_calls_off_what_waits(live: LivePage) -> None:
    first, second = live.plain()[:2]
    loops(live, first, DEAF)  # another may still say that it was interrupted
    live.cell(second).locator(".qkv-run").click()
    expect(live.cell(second)).to_have_attribute("data-qkv-state", "queued")
    live.act("stop")
    live.wait("off", "stopped")
    live.ends(first, "lost")
    assert live.cell(second).get_attribute("data-qkv-state") not in ("queued", "running")
    live.start()
    assert live.prints(second, "print('again')") == "again"


def test_a_reload_in_an_endless_loop_leaves_a_way_out(live: LivePage) -> None:
    first, second = live.plain()[:2]
    loops(live, first)
    live.page.reload()
    live.press()
    live.wait("busy", "Interrupt")
    live.act("interrupt")
    live.wait("ready")
    assert live.prints(second, "print('next')") == "next"


def test_a_second_tab_may_end_the_loop_of_the_first(reader: Reader) -> None:
    live, other = reader.open().start(), reader.open()
    first = live.plain()[0]
    loops(live, first)
    other.press()
    other.wait("busy")
    other.act("interrupt")
    live.ends(first, "error")
    live.wait("ready")
    other.wait("ready")


def test_stopping_in_one_tab_is_told_in_the_other(reader: Reader) -> None:
    # Jupyter's list of kernels may trip over one that is just being ended.
    reader.forgive(r"500: \S+/api/kernels\?", "status of 500")
    live, other = reader.open().start(), reader.open().start()
    live.act("stop")
    live.wait("off")
    other.wait("failed", "Press Live code")
    other.start()
    assert other.prints(other.plain()[0], "print('again')") == "again"


@pytest.mark.parametrize("busy", [True, False], ids=["busy", "idle"])
def test_a_kernel_that_dies_is_told_and_replaced(
    live: LivePage, live_server: Server, busy: bool
) -> None:
    first, second = live.plain()[:2]
    number = int(live.prints(first, "import os; print(os.getpid())"))
    process = next(k for k in kernels(live_server.process) if k.pid == number)
    if busy:
        loops(live, first)
    process.send_signal(signal.SIGKILL)
    expect(live.message).to_contain_text("died")
    live.wait("ready")
    if busy:
        assert live.cell(first).get_attribute("data-qkv-state") == "lost"
    assert live.prints(second, "print('again')") == "again"
    live.run(second, "os", state="error")


def test_a_python_that_took_a_dead_one_s_place_is_not_as_it_was_left(reader: Reader) -> None:
    """To a page that is loaded later it is idle, as any other."""
    live = reader.open().start()
    first, second = live.plain()[:2]
    live.run(first, "kept = 1")
    live.page.reload()
    live.start()
    live.wait("ready", "as you left it")
    live.run(second, "import os; os._exit(1)", state="lost")
    live.wait("ready", "died")
    live.page.reload()
    live.start()
    live.wait("ready", "runs these cells")
    assert live.prints(first, "print('kept' in globals())") == "False"


def test_a_death_that_is_heard_twice_leaves_its_cell_unfinished(reader: Reader) -> None:
    """The server repeats to a new connection what it may have told the old one."""
    connections: list[WebSocketRoute] = []
    said: list[str | bytes] = []

    def listened(route: WebSocketRoute) -> None:
        connections.append(route)
        server = route.connect_to_server()

        def hand_on(message: str | bytes) -> None:
            if "restarting" in text_of(message):
                said.append(message)
            route.send(message)

        server.on_message(hand_on)

    reader.context.route_web_socket(re.compile("/channels"), listened)
    live = reader.open().start()
    first = live.plain()[0]
    live.run(first, "import os; os._exit(1)", state="lost")
    live.wait("ready", "died")
    before = len(connections)
    connections[-1].send(said[0])
    until(lambda: len(connections) > before, "the page connects again", page=live.page)
    assert live.cell(first).get_attribute("data-qkv-state") == "lost"


def test_a_fresh_python_is_ready_when_it_is_heard_whole(reader: Reader) -> None:
    """A connection made anew may miss what the new kernel says first, and a cell's end with it."""
    lost = lose_what_is_shown(reader)
    live = reader.open().start()
    first, second = live.plain()[:2]
    live.run(first, "import os; os._exit(1)", state="lost")
    assert live.prints(second, "print('again')") == "again"
    assert lost
    live.wait("ready")


# Stands before ipykernel's own, and starts no kernel as long as a file lies beside it.
LAUNCHER = """from pathlib import Path
if Path(__file__).with_name("broken").exists(): raise SystemExit("broken")
from ipykernel.kernelapp import launch_new_instance
launch_new_instance()"""


@pytest.fixture
def fragile(book: Path, tmp_path: Path) -> Iterator[Server]:
    """A server whose kernels cannot start while there is a file `broken` in the test's folder."""
    (tmp_path / "ipykernel_launcher.py").write_text(LAUNCHER)
    with serving(book, env=os.environ | {"PYTHONPATH": str(tmp_path)}) as server:
        yield server


def test_a_python_that_dies_again_and_again_is_given_up(
    fragile: Server, readers: Callable[..., Reader], tmp_path: Path
) -> None:
    """And not called stopped elsewhere; the button gives a fresh one.

    Another tab of the chapter is connected to it too, and shall not take this tab's answers.
    """
    broken = tmp_path / "broken"
    reader = readers(fragile)
    reader.forgive(SOCKET, UNANSWERED, OTHER_TAB)
    reader.open(CHAPTER).start()
    live = reader.open(CHAPTER).start()
    first, second = live.plain()[:2]
    live.run(first, f"import os; open({str(broken)!r}, 'w').close(); os._exit(1)", state="lost")
    live.wait("failed", "has died")
    expect(live.cell(first)).to_have_attribute("data-qkv-state", "lost")
    broken.unlink()
    assert live.start().prints(second, "print('again')") == "again"
    assert live.cell(first).get_attribute("data-qkv-state") == "idle"
    live.act("stop")
    live.wait("off")


def test_two_pages_have_two_kernels(reader: Reader) -> None:
    pages = [reader.open(chapter).start() for chapter in CHAPTERS[:2]]
    numbers = {page.prints(page.plain()[0], "import os; print(os.getpid())") for page in pages}
    assert len(numbers) == 2
    where = [page.prints(page.plain()[0], "print(os.getcwd())") for page in pages]
    assert {path.rsplit("/", 1)[1] for path in where} == {"chapters"}
    for page in pages:
        page.act("stop")
        page.wait("off")
    own = {chapter.replace(".html", ".ipynb") for chapter in CHAPTERS[:2]}
    until(lambda: own.isdisjoint(s["path"] for s in sessions(reader.server)), "a kernel is left")
