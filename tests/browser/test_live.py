"""Live cells: the button, running, editing, and what takes the place of a stored output."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.live import OTHER_TAB, LivePage, Reader


def test_nothing_is_loaded_before_the_button(reader: Reader) -> None:
    """Then the editors come, a screen reader hears how it goes, and the bar has the focus."""
    page = reader.context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(reader.link())
    page.wait_for_load_state("networkidle")
    of_live = [url.split("/_static/live/")[1] for url in asked if "/_static/live/" in url]
    assert {name.split("?")[0] for name in of_live} == {"start.js", "live.css"}
    assert not [url for url in asked if "/api/" in url or "server.json" in url]
    assert page.locator(".CodeMirror").count() == 0

    live = LivePage(page)
    assert live.bar.get_attribute("data-state") == "off"
    assert live.message.get_attribute("role") == "status"
    live.start()
    assert "thebe/index.js" in "".join(asked)
    assert "katex.mjs" not in "".join(asked), "no formula was there to set"
    expect(live.editor(0)).to_be_visible()
    expect(live.message).to_contain_text("Python 3.")
    assert live.bar.evaluate("bar => bar.contains(document.activeElement)"), "the focus is lost"


def test_the_button_runs_a_cell_in_place_of_its_stored_output(live: LivePage) -> None:
    first, second = live.plain()[:2]
    expect(live.stored(first)).to_be_visible()
    stored = (live.stored(first).locator("pre").text_content() or "").strip()
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
    live.write(2, "raise ValueError('here it ends')")
    live.act("run-all")
    live.ends(2, "error")
    expect(live.message).to_contain_text(re.compile(r"cell 3 of \d+: ValueError: here it ends\."))
    states = [live.cell(n).get_attribute("data-qkv-state") for n in range(4)]
    assert states == ["done", "done", "error", "aborted"]
    expect(live.note(3)).to_have_text("not run", use_inner_text=True)
    expect(live.stored(3)).to_be_visible()
    assert live.page.locator("[data-qkv-state='queued']").count() == 0
    expect(live.output(2)).to_be_in_viewport()


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
    live.page.reload()
    live.start()
    assert live.text(first) == "shared = 'from one tab'"
    assert live.text(second) == "print(shared)"


def test_a_page_whose_storage_is_full_runs_and_says_so(reader: Reader) -> None:
    refuse = """Storage.prototype.setItem = new Proxy(Storage.prototype.setItem, {
      apply(target, self, [key, value]) {
        if (key.startsWith("qkv-live")) throw new DOMException("full", "QuotaExceededError");
        return Reflect.apply(target, self, [key, value]);
      } });"""
    runs_and_says_so(reader, refuse)


def test_a_page_whose_storage_is_forbidden_runs_and_says_so(reader: Reader) -> None:
    """As after "block all cookies and site data", where only to look at it is an error."""
    runs_and_says_so(
        reader,
        """Object.defineProperty(window, "localStorage", {
          get() { throw new DOMException("Access is denied for this document.", "SecurityError"); }
        });""",
    )


def runs_and_says_so(reader: Reader, script: str) -> None:
    reader.context.add_init_script(script)
    # The theme's own scripts are not ours to mend; what is asked here is that the cells run.
    reader.forgive("Access is denied", "Got invalid theme mode")
    live = reader.open().start()
    first = live.plain()[0]
    assert live.prints(first, "print(6 * 7)") == "42"
    expect(live.message).to_contain_text("does not let the page keep your changes")


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
    slow = live.page.evaluate(
        """() => new Promise((done) => { const start = performance.now();
          requestAnimationFrame(() => setTimeout(() => done(performance.now() - start))); })"""
    )
    assert slow < 500
    assert live.prints(second, "print('next')") == "next"


def test_printing_without_end_fills_no_memory(live: LivePage) -> None:
    first = live.plain()[0]
    note = live.note(first)
    live.run(first, "for _ in range(4000): print('x' * 99)")
    expect(note).to_have_text("prints too much: the rest is not shown", use_inner_text=True)
    assert len(live.output(first).text_content() or "") == 300_000

    live.write(first, "while True: print('x' * 99)")
    live.cell(first).locator(".qkv-run").click()
    expect(live.message).to_contain_text("Running")
    live.page.wait_for_timeout(3000)
    live.act("interrupt")
    live.ends(first, "error")
    # The server holds back what comes too fast, and says so; the page what is too much.
    assert len(live.output(first).text_content() or "") < 320_000
    expect(live.message).to_contain_text("Interrupted")


def test_input_asks_and_gets_its_answer(live: LivePage) -> None:
    first = live.plain()[0]
    live.write(first, "print('Hello', input('Your name? '))")
    live.cell(first).locator(".qkv-run").click()
    field = live.output(first).locator("input")
    expect(live.output(first)).to_contain_text("Your name?")
    field.fill("Ada")
    field.press("Enter")
    live.ends(first, "done")
    expect(live.output(first)).to_contain_text("Hello Ada")


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


def test_the_bar_stays_in_sight_and_says_what_runs(live: LivePage) -> None:
    n = live.plain()[-1]
    live.write(n, "import time; time.sleep(2)")
    live.cell(n).locator(".qkv-run").click()
    expect(live.message).to_contain_text(f"Running cell {n + 1} of ")
    live.ends(n, "done")
    live.act("stop")
    live.wait("off", "stopped")
    expect(live.button).to_be_in_viewport()
