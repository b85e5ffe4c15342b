"""Live cells: the button, running, editing, and what takes the place of a stored output."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Dialog, Route, WebSocket, expect

from tests.browser.computing import computing
from tests.browser.live import ALL_RESET, OTHER_TAB, LivePage, Reader, end, sessions
from tests.helpers.waiting import after_frames, after_timers, until


def test_nothing_is_loaded_before_the_button(reader: Reader) -> None:
    """Then the editors come, a screen reader hears how it goes, and the bar has the focus."""
    end(reader.server, sessions(reader.server))  # Python is not as another test left it
    page = reader.context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(reader.link())
    page.wait_for_load_state("networkidle")
    of_live = [url.split("/_static/live/")[1] for url in asked if "/_static/live/" in url]
    assert {name.split("?")[0] for name in of_live} == {"toolbar.js", "live.css"}
    assert not [url for url in asked if "/api/" in url]
    # The marks of reading progress ask once whether a server keeps them.
    assert len([url for url in asked if "server.json" in url]) == 1
    assert page.locator(".CodeMirror").count() == 0

    live = LivePage(page)
    assert live.bar.get_attribute("data-state") == "off"
    assert live.message.get_attribute("role") == "status"
    live.start()
    assert "thebe/index.js" in "".join(asked)
    assert "katex.mjs" not in "".join(asked), "no formula was there to set"
    expect(live.editor(live.plain()[0])).to_be_visible()
    expect(live.message).to_contain_text("Python 3.")
    assert live.bar.evaluate("bar => bar.contains(document.activeElement)"), "the focus is lost"


def test_the_button_runs_a_cell_in_place_of_its_stored_output(live: LivePage) -> None:
    first, second = live.plain()[:2]
    expect(live.stored(first)).to_be_visible()
    stored = (live.stored(first).locator("pre").text_content() or "").strip()
    live.run_before(first)
    output = live.run(first)
    assert (output.text_content() or "").strip() == stored
    expect(live.cell(first).locator(".cell_input button.copybtn")).to_be_hidden()
    expect(live.stored(first)).to_be_hidden()
    expect(live.stored(second)).to_be_visible()
    expect(live.output(second)).to_be_hidden()
    expect(live.message).to_contain_text(re.compile(f"[Cc]ell {first + 1} "))
    assert float(live.cell(first).get_attribute("data-qkv-ms") or 0) > 0


def test_typing_and_shift_enter(live: LivePage) -> None:
    """By keyboard alone, indentation and closing brackets as the editor gives them."""
    first = live.plain()[0]
    live.editor(first).click()
    keyboard = live.page.keyboard
    keyboard.press("Control+a")
    keyboard.type("total = 0\nfor i in range(4):\ntotal += i")
    keyboard.press("Shift+Enter")
    live.ends(first, "done")
    assert "    total += i" in live.text(first)
    assert live.text(first).count("\n") == 2, "Shift-Enter adds no line"
    keyboard.press("Control+a")
    keyboard.type("print(total * 7)")
    keyboard.press("Control+Enter")
    expect(live.output(first)).to_have_text("42")
    assert live.editor(first).evaluate("e => e.contains(document.activeElement)")


def test_run_all_stops_at_an_error_and_names_the_cell(live: LivePage) -> None:
    plain = live.plain()
    last = next(n for n in plain if n + 1 in plain)
    live.write(last, "raise ValueError('here it ends')")
    live.act("run-all")
    live.ends(last, "error")
    said = rf"cell {last + 1} of \d+: ValueError: here it ends\."
    expect(live.message).to_contain_text(re.compile(said))
    states = [live.cell(n).get_attribute("data-qkv-state") for n in range(last + 2)]
    assert states == ["done"] * last + ["error", "aborted"]
    expect(live.note(last + 1)).to_have_text("not run", use_inner_text=True)
    expect(live.stored(last + 1)).to_be_visible()
    assert live.page.locator("[data-qkv-state='queued']").count() == 0
    expect(live.output(last)).to_be_in_viewport()


def test_edits_are_back_after_a_reload_and_so_are_the_variables(live: LivePage) -> None:
    first, second = live.plain()[:2]
    original = live.text(first)
    assert live.prints(first, "kept = 'through it all'; print(kept)") == "through it all"
    live.page.reload()
    live.start()
    assert live.text(first).startswith("kept = ")
    assert live.prints(second, "print(kept)") == "through it all"

    live.cell(first).locator(".qkv-reset").click()
    assert live.text(first) == original
    expect(live.cell(first).locator(".qkv-reset")).to_be_hidden()
    expect(live.stored(first)).to_be_visible()
    expect(live.output(first)).to_be_hidden()
    live.page.reload()
    live.start()
    assert live.text(first) == original
    assert live.text(second) == "print(kept)"
    live.page.locator(".qkv-live-reset-all").click()  # asks, and is told no
    assert live.text(second) == "print(kept)"
    live.act("reset-all")
    live.wait("ready", ALL_RESET)
    assert live.text(second) != "print(kept)"
    live.page.reload()
    expect(live.message).not_to_contain_text("changes that you made")


def test_two_tabs_share_python_and_keep_each_other_s_changes(reader: Reader) -> None:
    reader.forgive(OTHER_TAB)
    live = reader.open().start()
    other = reader.open().start()
    first, second = live.plain()[:2]
    live.run(first, "shared = 'from one tab'")
    assert other.prints(second, "print(shared)") == "from one tab"
    expect(other.message).to_contain_text("Ran")  # by then the change is kept
    live.page.reload()
    live.start()
    assert live.text(first) == "shared = 'from one tab'"
    assert live.text(second) == "print(shared)"


@pytest.mark.parametrize("how", ["refused", "broken off"])
def test_a_page_whose_changes_cannot_be_kept_runs_and_says_so(reader: Reader, how: str) -> None:
    """It says why, keeps trying, and asks before it is left."""
    reader.forgive("_live/edits", "status of 507", "ERR_FAILED", OTHER_TAB)
    live = reader.open().start()
    first = live.plain()[0]

    def fail(route: Route) -> None:
        if how == "refused":
            route.fulfill(status=507, json={"message": "No space left on device"})
        else:
            route.abort()

    live.page.route("**/_live/edits/**", fail)
    assert live.prints(first, "print(6 * 7)") == "42"
    why = "No space left on device" if how == "refused" else "Failed to fetch"
    expect(live.message).to_contain_text(f"Your changes could not be kept: {why}")
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    live.page.once("dialog", stay)
    live.page.close(run_before_unload=True)
    until(lambda: asked, "it lets the changes go", page=live.page)
    assert asked == ["beforeunload"]
    live.page.unroute("**/_live/edits/**")
    live.run(first)
    expect(live.message).not_to_contain_text("could not be kept")
    again = reader.open().start()
    assert again.text(first) == "print(6 * 7)"


def test_a_page_that_is_left_at_once_keeps_what_was_typed(reader: Reader) -> None:
    live = reader.open().start()
    first = live.plain()[0]
    live.write(first, "left = 'at once'")
    live.page.reload()
    assert live.start().text(first) == "left = 'at once'"


def test_printing_much_leaves_the_page_usable(live: LivePage) -> None:
    first, second = live.plain()[:2]
    output = live.run(first, "for i in range(5000): print(f'line {i}')")
    expect(output).to_contain_text("line 4999")
    expect(output.locator("[tabindex='0']")).to_have_count(1)  # a keyboard can scroll it
    box = output.evaluate(
        """(output) => {
          const box = [...output.querySelectorAll("*")].find((e) =>
            /auto|scroll/.test(getComputedStyle(e).overflowY) && e.scrollHeight > e.clientHeight);
          if (!box) return null;
          box.scrollTop = 1e9;
          return { height: output.offsetHeight, scrolled: box.scrollTop, tab: box.tabIndex };
        }"""
    )
    assert box, "nothing scrolls"
    assert box["height"] < 900
    assert box["scrolled"] > 10_000
    assert box["tab"] == 0
    with computing(live.page) as took:
        after_frames(live.page)
    assert took.seconds < 0.5
    assert live.prints(second, "print('next')") == "next"


SHOWN, KEPT = 100_000, 1_000_000
HTML = "from IPython.display import HTML, clear_output, display\n"
ROW = "<tr><td>shown</td></tr>"
LONG = {
    "a stream": "print('x' * 400_000)",
    "a result": "'x' * 400_000",
    "a traceback": "raise ValueError('x' * 400_000)",
    "a table": f"{HTML}HTML('<table>' + {ROW!r} * 9000 + '</table>')",
    "many outputs": "for i in range(900): display('shown')",
}


def length(live: LivePage, n: int) -> int:
    return len(live.output(n).text_content() or "")


@pytest.mark.parametrize("kind", LONG)
def test_a_long_output_is_cut_and_its_rest_is_a_key_away(live: LivePage, kind: str) -> None:
    first, second = live.plain()[:2]
    number = first + 1
    name = re.compile(f"^Show the rest of the output of cell {number} of \\d+$")
    rest = live.page.get_by_role("button", name=name)
    live.run(first, LONG[kind], state="error" if kind == "a traceback" else "done")
    expect(rest).to_be_visible()
    assert length(live, first) <= SHOWN
    expect(live.message).to_contain_text(re.compile(r"Ran|Error"))
    assert len(live.message.text_content() or "") < 1000
    live.cell(first).locator(".qkv-run").focus()
    for _ in range(6):
        live.page.keyboard.press("Tab")
        if rest.evaluate("e => e === document.activeElement"):
            break
    live.page.keyboard.press("Enter")
    expect(rest).to_be_hidden()
    whole = {"a table": 9000 * 5, "many outputs": 900 * 7}.get(kind, 400_000)
    assert whole <= length(live, first) < whole + 5000
    focused = live.output(first).evaluate("e => e === document.activeElement")
    assert focused, "the focus is lost"
    assert live.prints(second, "print('next')") == "next"
    live.run(first, "print('short')")
    expect(rest).to_be_hidden()
    expect(live.output(first)).to_have_text("short")


def test_no_search_for_addresses_in_printed_text(live: LivePage) -> None:
    """In 200,000 letters without a space, Jupyter's takes 17 seconds, in which the page is dead."""
    output = live.run(live.plain()[0], "print('https://example.org/a'); 'https://example.org/b'")
    expect(output).to_contain_text("https://example.org/b")
    expect(output.locator("a")).to_have_count(0)


def test_an_error_is_shown_under_what_is_cut_and_stays_last(live: LivePage) -> None:
    first = live.plain()[0]
    code = "print('x' * 150_000); display('a ' + 'result'); raise ValueError('at the end')"
    output = live.run(first, code, state="error")
    expect(output).to_contain_text("ValueError: at the end")
    expect(output).not_to_contain_text("a result")
    live.cell(first).locator(".qkv-rest").click()
    text = output.text_content() or ""
    assert text.count("x" * 150_000) == 1
    assert text.count("Traceback") == 1
    assert text.index("a result") < text.index("Traceback")
    assert text.rstrip().endswith("ValueError: at the end")


def test_what_is_cleared_counts_no_more(live: LivePage) -> None:
    first = live.plain()[0]
    code = f"{HTML}for i in range(40):\n    clear_output(wait=True)\n    print(i, 'x' * 9000)"
    output = live.run(first, code)
    expect(output).to_contain_text("39 x")
    expect(live.cell(first).locator(".qkv-rest")).to_be_hidden()


def test_printing_without_end_fills_no_memory(reader: Reader) -> None:
    """At a pace that the server lets through on a slow machine and on a fast one."""
    live = LivePage(reader.context.new_page())
    arrived: list[int] = []  # bytes that the page's connection to Python has brought

    def listen(socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: arrived.append(len(frame)))

    live.page.on("websocket", listen)
    live.page.goto(reader.link())
    live.start()
    first = live.plain()[0]
    note, rest = live.note(first), live.cell(first).locator(".qkv-rest")
    live.write(first, "import time\nwhile True: print('x' * 9999), time.sleep(0.01)")
    live.cell(first).locator(".qkv-run").click()
    expect(live.message).to_contain_text("Running")
    too_much = "prints too much: the rest is not kept"
    expect(note).to_contain_text(too_much, use_inner_text=True)
    assert length(live, first) <= SHOWN
    rest.click()
    assert KEPT <= length(live, first) <= KEPT + SHOWN
    before = sum(arrived)
    until(lambda: sum(arrived) > before + KEPT, "it prints no more", page=live.page)
    assert length(live, first) <= KEPT + SHOWN
    live.act("interrupt")
    live.ends(first, "error")
    assert length(live, first) < KEPT + SHOWN + 20_000
    expect(live.output(first)).to_contain_text("KeyboardInterrupt")
    expect(live.message).to_contain_text("Interrupted")


def test_input_asks_and_gets_its_answer(live: LivePage) -> None:
    first = live.plain()[0]
    live.write(first, "print('Hello', input('Your name? '))")
    live.cell(first).locator(".qkv-run").click()
    field = live.output(first).locator("input")
    expect(live.output(first)).to_contain_text("Your name?")
    after_timers(live.page, 400)  # by now the bar would say that the cell runs
    expect(live.message).to_contain_text(f"waits for your answer to cell {first + 1} of")
    expect(live.page.get_by_role("textbox", name=f"Answer to cell {first + 1} of")).to_be_focused()
    field.fill("Ada")
    field.press("Enter")
    live.ends(first, "done")
    expect(live.output(first)).to_contain_text("Hello Ada")
    expect(live.message).to_contain_text("Ran")

    live.write(first, "input('Again? ')")
    live.cell(first).locator(".qkv-run").click()
    expect(live.message).to_contain_text("waits for your answer")
    live.act("interrupt")
    live.ends(first, "error")
    live.run_calmly(first)
    expect(live.message).to_contain_text("Running")
    live.act("interrupt")
    live.ends(first, "done")


def test_changed_cells_are_counted_and_none_is_folded_away(live: LivePage) -> None:
    """They run with all others, and may be of a visit long ago."""
    folded = live.page.locator("[data-qkv-cell]:has(details:not([open]) .cell_input)")
    n = int(folded.first.get_attribute("data-qkv-cell") or "")
    fold = live.page.locator("div.cell:has(.cell_input)").nth(n).locator("details").first
    count = live.bar.locator(".qkv-live-edited")
    expect(count).to_be_hidden()
    for cell, code in ((n, "hidden = 1"), (live.plain()[0], "seen = 1")):
        live.cell(cell).evaluate(
            """(e) => { for (const d of document.querySelectorAll("details"))
                          if (d.contains(e.querySelector(".cell_input"))) d.open = true; }"""
        )
        live.write(cell, code)
    expect(count).to_have_text("Cells that differ from the book: 2.")
    live.page.reload()
    expect(fold).to_have_js_property("open", False)
    live.start()
    expect(count).to_have_text("Cells that differ from the book: 2.")
    expect(fold).to_have_js_property("open", True)
    fold.evaluate("e => { e.open = false; }")
    live.write(0, "raise ValueError")
    live.act("run-all")
    expect(fold).to_have_js_property("open", True)
    live.act("reset-all")
    expect(count).to_be_hidden()


def test_a_changed_cell_is_marked_until_it_is_run(live: LivePage) -> None:
    first = live.plain()[0]
    live.write(first, "1 + 1")
    note = live.note(first)
    expect(note).to_have_text("changed: run it", use_inner_text=True)
    live.run(first)
    expect(note).to_have_text("", use_inner_text=True)
    live.write(first, "1 + 2")  # what is shown is no longer what was run
    expect(note).to_have_text("changed: run it", use_inner_text=True)
    expect(live.cell(first)).to_have_attribute("data-qkv-state", "idle")


def test_a_name_that_is_not_known_is_told_with_what_to_do(live: LivePage) -> None:
    live.run(live.plain()[0], "no_such_name", state="error")
    expect(live.message).to_contain_text("name 'no_such_name' is not defined")
    expect(live.message).to_contain_text("Run all")


MAKES = {  # the reader's own forms of what the book's cell made
    "renamed": "other = 1",
    "in a function": "def make():\n    name = 1",
    "read only": "'name' + str({'name': 1})  # name = 1",
}


@pytest.mark.parametrize("kind", MAKES)
def test_run_all_names_the_changed_cell_that_no_longer_makes_a_name(
    live: LivePage, kind: str
) -> None:
    """And not the cell in which Python stops, where nothing is to be mended."""
    changed, name, failing = binding(live)
    live.write(changed, MAKES[kind].replace("name", name))
    live.act("run-all")
    live.ends(failing, "error")
    said = rf"Error in cell {failing + 1} of \d+: NameError: name '{name}' is not defined\. "
    said += rf"You changed cell {changed + 1} of \d+, which no longer makes this name\."
    expect(live.message).to_contain_text(re.compile(said))


def test_a_changed_cell_that_still_makes_the_name_is_not_blamed(live: LivePage) -> None:
    changed, _, _ = binding(live)
    failing = next(n for n in live.plain() if n > changed)
    live.write(changed, f"{live.text(changed)}\nmore = 1")
    live.message.evaluate(NOTE_ALL)
    live.run(failing, "no_such_name", state="error")
    expect(live.message).to_contain_text("are the cells above run?")
    assert live.prints(failing, "print(1)") == "1"  # by then Python has told who made the name
    expect(live.message).to_contain_text("Ran")
    said = live.page.evaluate("window.said")
    assert said
    assert not [text for text in said if "no longer makes" in text]


# Keeps every text that the bar's message has for a while.
NOTE_ALL = """(message) => {
  window.said = [];
  const note = () => window.said.push(message.textContent);
  const changes = { childList: true, subtree: true, characterData: true };
  new MutationObserver(note).observe(message, changes);
}"""


def binding(live: LivePage) -> tuple[int, str, int]:
    """A cell that assigns a name, the name, and the next cell, which is made to need it."""
    plain = live.plain()
    for n in (n for n in plain if n + 1 in plain):
        if found := re.search(r"^(\w+) = ", live.text(n), re.MULTILINE):
            live.run(n + 1, f"globals().pop({found[1]!r}, None)")  # another test may have made it
            live.write(n + 1, f"print({found[1]})")
            return n, found[1], n + 1
    raise AssertionError("no cell assigns a name")


def test_the_bar_stays_in_sight_and_says_what_runs(live: LivePage) -> None:
    n = live.plain()[-1]
    live.run_calmly(n)
    expect(live.message).to_contain_text(f"Running cell {n + 1} of ")
    live.act("interrupt")
    live.ends(n, "done")
    live.act("stop")
    live.wait("off", "stopped")
    expect(live.button).to_be_in_viewport()
