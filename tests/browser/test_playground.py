"""A playground on a page of its own: typing, suggestions, what fails, by keyboard, on a phone."""

import re
from base64 import b64encode

import pytest
from playwright.sync_api import expect

from qkv.config import parameter_count
from qkv.explore.playground import playground
from qkv.explore.playground.bundle import es_module
from qkv.javascript.model_file import model_file
from qkv.pretrained import pretrained
from qkv.translator import Translator
from qkv.translator.ablation import without_positions
from tests.browser.axe import violations
from tests.browser.computing import computing
from tests.browser.playground_page import (
    KOREAN,
    PHONE,
    START,
    STILL,
    Box,
)
from tests.helpers.translators import checkpoint


def large(page):
    return [a for a in page.asked if a.startswith(("engine.js", "parameters.js"))]


def test_the_model_comes_at_the_first_touch_and_not_before(open_playground):
    box = open_playground()
    assert "MB at most" in box.status.text_content()
    assert large(box.page) == []
    box.field.focus()
    box.wait_for("The model is here.")
    assert len(large(box.page)) == 2
    box.field.press("Enter")
    box.wait_for(f"Translation: {KOREAN}")
    assert len(large(box.page)) == 2


def test_any_sentence_is_translated_and_refused_ones_leave_the_page_going(open_playground):
    box = open_playground()
    box.translate("The teacher will meet the doctor")
    box.wait_for("Translation: 선생님이 의사를 만날 것이다")
    assert box.said.locator("[lang=ko]").count() == 1
    for text, message in (
        ("", "There is no word to translate."),
        ("The grzbl sat", "The model does not know 'grzbl'"),
        ("고양이가 앉았다", "This model reads English"),
        ("the cat " * 2000, "The model reads at most 15 words at once"),
        ("<img src=x onerror=alert(1)>", "The model does not know"),
    ):
        box.translate(text)
        box.wait_for(message)
        assert box.field.input_value() == text
    box.translate(START)
    box.wait_for(f"Translation: {KOREAN}")
    assert box.status.text_content().startswith("One of the 34,367 sentences")


def test_a_word_that_is_not_known_is_mended_by_a_button(open_playground):
    box = open_playground()
    box.translate("The cat sat on the HATT")
    box.page.get_by_role("button", name="Replace hatt with hat").click()
    assert box.field.input_value() == "The cat sat on the hat"
    box.wait_for(f"Translation: {pretrained().translate('The cat sat on the hat')}")


def test_an_example_is_pressed(open_playground):
    box = open_playground()
    box.page.get_by_role("button", name="The teacher will meet the doctor").click()
    assert box.field.input_value() == "The teacher will meet the doctor"
    box.wait_for("Translation: 선생님이 의사를 만날 것이다")


def test_after_a_failed_load_the_next_try_works(open_playground, playground_folder):
    gone = playground_folder / "model" / "parameters.js"
    away = gone.rename(playground_folder / "away.js")
    try:
        box = open_playground()
        box.field.press("Enter")
        box.wait_for("The model did not load (parameters.js could not be loaded).")
    finally:
        away.rename(gone)
    box.field.press("Enter")
    box.wait_for(f"Translation: {KOREAN}")


GROWING = """() => {
  window.seen = new Set();
  const look = () => window.seen.add(
    document.querySelector("[data-panel=translation] .qkv-text-value")?.textContent);
  new MutationObserver(look).observe(document, { subtree: true, childList: true });
}"""


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_the_translation_grows_word_by_word_or_stands_at_once(open_playground, motion):
    box = open_playground(reduced_motion=motion)
    box.page.evaluate(GROWING)
    box.translate(START)
    box.wait_for(f"Translation: {KOREAN}")
    seen = set(box.page.evaluate("[...window.seen]")) - {None, ""}
    words = KOREAN.split()
    prefixes = {" ".join(words[:n]) for n in range(1, len(words) + 1)}
    assert seen == (prefixes if motion == "no-preference" else {KOREAN})


def with_clock(page):
    """Let the test turn the page's clock, so that all that the page has put off is done."""
    page.clock.install()


def test_a_new_sentence_ends_the_one_before_it(open_playground):
    box = open_playground(with_clock, reduced_motion="no-preference")
    text = "The student likes the sea because it is wide"
    box.translate(text)
    first = pretrained().translate(text).split()[0]
    box.page.locator(f"[data-panel=translation]:has-text('{first}')").wait_for()
    box.translate(START)
    box.wait_for(f"Translation: {KOREAN}")
    box.page.clock.run_for(10_000)
    assert box.said.text_content() == f"Translation: {KOREAN}"


def test_a_refused_sentence_leaves_the_one_before_it_to_its_end(open_playground):
    box = open_playground(with_clock, reduced_motion="no-preference")
    text = "The student likes the sea because it is wide"
    box.translate(text)
    whole = pretrained().translate(text)
    box.page.locator(f"[data-panel=translation]:has-text('{whole.split()[0]}')").wait_for()
    box.translate("The grzbl sat")
    box.wait_for(whole)
    box.page.clock.run_for(10_000)
    expect(box.status).to_contain_text("'grzbl'")


def paste(box, text):
    box.field.fill("")
    box.field.evaluate(
        """(field, text) => {
          field.focus();
          const data = new DataTransfer();
          data.setData("text", text);
          const init = { clipboardData: data, bubbles: true, cancelable: true };
          field.dispatchEvent(new ClipboardEvent("paste", init));
        }""",
        text,
    )


def test_pasted_line_breaks_part_words(open_playground):
    box = open_playground()
    paste(box, "The cat\r\nsat on\nthe mat")
    assert box.field.input_value() == START
    box.field.press("Enter")
    box.wait_for(f"Translation: {KOREAN}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (" " * 300_000 + "wug\n", "The model does not know 'wug'"),
        ("\n" * 300_000, "There is no word to translate."),
        ("The \n" * 60_000, "The model reads at most 15 words at once, and these are 60000."),
    ],
    ids=["spaces", "breaks", "words"],
)
def test_a_page_is_pasted_at_once(open_playground, text, said):
    box = open_playground()
    with computing(box.page) as took:
        paste(box, text)
        box.field.press("Enter")
        box.wait_for(said)
    assert took.seconds < 5


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("device", [STILL, PHONE], ids=["desk", "phone"])
def test_no_rule_of_axe_is_broken_and_nothing_is_wider_than_the_page(
    open_playground, theme, device
):
    box = open_playground(**device)
    box.page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
    box.own.locator("summary").click()
    box.translate("The cat sat on the hatt")
    box.wait_for("does not know")
    assert violations(box.page) == []
    box.translate(START)
    box.wait_for(f"Translation: {KOREAN}")
    box.field.press("ArrowDown")
    assert violations(box.page) == []
    width = box.page.evaluate("document.documentElement.scrollWidth")
    assert width == device["viewport"]["width"]


SMALL = """(root) => [...root.querySelectorAll(
  "button, summary, [role=option], [role=combobox], label:has(input), .qkv-slider input")]
  .filter((e) => e.checkVisibility()).map((e) => [e.textContent, e.getBoundingClientRect()])
  .filter(([, { width, height }]) => Math.min(width, height) < 44)"""


def test_a_finger_hits_what_it_means(open_playground):
    box = open_playground(**PHONE)
    box.own.locator("summary").click()
    box.translate(START)
    box.wait_for(f"Translation: {KOREAN}")
    assert box.root.evaluate(SMALL) == []


# Words in place of those that the model suggests.
SUGGEST = r"""() => qkvModel.load().then((translator) => {
  const words = ["The", "cat", "sat", "on", "the", "mat", "cap"];
  translator.suggest = (text) => {
    const begun = text.match(/\S*$/)[0];
    return words.filter((word) => word.startsWith(begun) && word !== begun)
      .map((word) => ({ word, completes: begun !== "" }));
  };
})"""
ACTIVE = """(field) => {
  const { ariaExpanded } = field;
  const id = field.getAttribute("aria-activedescendant");
  const option = id && document.getElementById(id);
  return [ariaExpanded === "true", option ? option.textContent : null,
    [...document.querySelectorAll("[aria-selected=true]")].map((e) => e.textContent)];
}"""


def with_words(open_playground, **options):
    box = open_playground(**options)
    box.page.evaluate(SUGGEST)
    box.field.focus()
    box.wait_for("The model is here.")
    return box


def test_words_are_chosen_by_keyboard(open_playground):
    box = with_words(open_playground)
    field, press = box.field, box.page.keyboard.press
    assert field.get_attribute("aria-autocomplete") == "list"
    list_id = field.get_attribute("aria-controls")
    assert box.page.locator(f"#{list_id}").get_attribute("role") == "listbox"
    field.fill("")
    assert field.evaluate(ACTIVE) == [True, None, []]
    box.page.keyboard.type("c")
    assert box.options.all_text_contents() == ["cat", "cap"]
    for key, word in (
        *(("ArrowDown", "cat"), ("ArrowDown", "cap"), ("ArrowDown", "cat"), ("ArrowUp", "cap")),
        *(("ArrowLeft", None), ("ArrowUp", "cap"), ("Home", None), ("ArrowDown", "cat")),
    ):
        press(key)
        assert field.evaluate(ACTIVE) == [True, word, [word] * (word is not None)], key
    press("Enter")
    assert field.input_value() == "cat "
    assert field.evaluate(ACTIVE) == [True, None, []], "and the next words"
    press("Escape")
    assert field.evaluate(ACTIVE) == [False, None, []]
    assert field.input_value() == "cat "
    press("ArrowUp")
    assert field.evaluate(ACTIVE)[1] == "cap", "the last"
    press("Tab")
    assert field.evaluate(ACTIVE) == [False, None, []]
    assert field.input_value() == "cat "
    assert box.page.evaluate("document.activeElement.textContent") == "Translate"
    press("Enter")
    box.page.locator("[data-panel]").first.wait_for()


def test_words_are_chosen_by_a_finger(open_playground):
    box = with_words(open_playground, **PHONE)
    box.field.fill("")
    for word in START.split():
        box.options.get_by_text(word, exact=True).tap()
    assert box.field.input_value() == f"{START} "
    assert box.field.evaluate("(field) => field === document.activeElement")
    assert violations(box.page) == []
    assert box.root.evaluate(SMALL) == []
    box.page.get_by_role("button", name="Translate").tap()
    box.wait_for(f"Translation: {KOREAN}")


def test_a_control_keeps_the_focus_while_it_recomputes(open_playground):
    box = open_playground()
    box.translate(START)
    box.wait_for(f"Translation: {KOREAN}")
    box.page.get_by_role("radio", name="heads").check()
    switch = box.page.locator(".qkv-switches input").first
    switch.focus()
    box.page.keyboard.press("Space")
    box.page.locator(".qkv-off:visible").wait_for()
    assert switch.evaluate("(e) => e === document.activeElement && !e.checked")
    assert box.page.locator(".qkv-off").text_content().startswith("Switched off: ")
    assert violations(box.page) == []
    box.page.get_by_role("button", name="Switch all on").click()
    box.page.locator(".qkv-off:visible").wait_for(state="detached")
    assert switch.is_checked()
    assert box.page.get_by_role("radio", name="heads").evaluate(
        "(e) => e === document.activeElement"
    )


def test_a_translation_without_a_word_is_said_to_be_one(open_playground):
    box = open_playground()
    box.translate(START)
    box.wait_for(f"Translation: {KOREAN}")
    box.page.get_by_role("radio", name="heads").check()
    for part in ("encoder", "decoder"):
        box.page.get_by_role("checkbox", name=part).uncheck()
    with without_positions(pretrained().model):
        assert pretrained().translate(START) == ""
    box.wait_for("Translation: (no word)")
    assert "(no word)" in box.page.locator("[data-panel=translations]").text_content()
    box.page.get_by_role("button", name="Switch all on").click()
    box.wait_for(f"Translation: {KOREAN}")
    # Both in one go: the second does not undo the first, whose answer is not there yet.
    switches = box.page.get_by_role("checkbox", name=re.compile("encoder|decoder"))
    assert switches.evaluate_all("(all) => all.map((one) => one.click()).length") == 2
    box.wait_for("Translation: (no word)")
    box.page.get_by_role("radio", name="attention").check()
    assert "(no word)" in box.page.locator("[data-panel=translation]").text_content()


def test_a_model_of_ones_own_is_used_and_a_wrong_file_changes_nothing(open_playground):
    own = Translator.from_checkpoint(checkpoint("bpe"))
    box = open_playground()
    box.translate(START)
    box.wait_for(f"Translation: {KOREAN}")
    box.own.locator("summary").click()
    files, said = box.own.locator("input"), box.own.locator("[role=status]")
    back = box.page.get_by_role("button", name="Back to the book's model")
    example = box.page.get_by_role("button", name="The teacher")
    wrong = {"name": "cat.txt", "mimeType": "text/plain", "buffer": b"cat"}
    files.set_input_files(wrong)
    box.wait_for("The model in use stays.")
    assert said.text_content().count("cat.txt") == 1
    assert box.root.locator("[data-panel=translation]").count() == 1
    assert back.is_hidden()
    files.set_input_files(wrong | {"name": "model.safetensors", "buffer": model_file(own)})
    config = own.model.config
    sizes = (config.vocab_size, config.target_vocabulary, parameter_count(config))
    counts = "vocabularies of {} and {}, {:,} parameters.".format(*sizes)
    line = f"In use: model.safetensors. d_model 32, 2 heads, 2 layers, {counts}"
    expect(said).to_have_text(line)
    assert box.root.locator("[data-panel]").count() == 0, "what the other model said is gone"
    assert example.count() == 0
    box.translate("The dog slept.")
    box.wait_for(f"Translation: {own.translate('The dog slept.')}")
    for view in ("search", "heads"):
        box.page.get_by_role("radio", name=view).first.check()
    assert violations(box.page) == []
    back.click()
    expect(said).to_have_text("In use: the book's model.")
    assert back.is_hidden()
    assert files.evaluate("(e) => e === document.activeElement")
    assert example.count() == 1


def test_a_model_of_ones_own_needs_no_other(open_playground):
    """The engine comes for the file, and the book's parameters were never there."""
    box = open_playground(lambda page: page.route("**/parameters.js*", lambda route: route.abort()))
    own = Translator.from_checkpoint(checkpoint("bpe"))
    box.own.locator("summary").click()
    box.wait_for("The model did not load")
    file = {"name": "m.safetensors", "mimeType": "", "buffer": model_file(own)}
    box.own.locator("input").set_input_files(file)
    box.wait_for("In use: m.safetensors.")
    box.translate("The dog slept.")
    box.wait_for(f"Translation: {own.translate('The dog slept.')}")
    box.page.get_by_role("button", name="Back to the book's model").click()
    box.wait_for("The model did not load")
    assert box.root.locator("[data-panel]").count(), "the model in use stays"


# The box in a notebook: the widget's own module, and a kernel that answers through `ask`.
MOUNT = """async ([state, source]) => {
  const bytes = (text) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const { default: widget } = await import(address);
  const heard = new Set();
  const model = {
    get: (key) => state[key], set() {}, save_changes() {},
    on: (event, act) => event === "msg:custom" && heard.add(act),
    off: (event, act) => heard.delete(act),
    send: async (message) => {
      for (const [content, buffers] of await ask(message)) {
        const views = buffers.map((text) => new DataView(bytes(text).buffer));
        for (const act of heard) act(content, views);
      }
    },
  };
  widget.render({ model, el: document.querySelector("#here") });
}"""


def test_in_a_notebook_the_kernel_sends_the_model(browser):
    widget = playground(title="Any sentence", hint="Type.", start=START).explorer

    def ask(message):
        answers = []
        widget.send = lambda content, buffers=(): answers.append((content, buffers))
        widget._answer(widget, message, [])
        return [(content, [b64encode(b).decode() for b in bs]) for content, bs in answers]

    page = browser.new_page(**STILL)
    page.expose_function("ask", ask)
    page.set_content(f"<style>{widget._css}</style><div class=qkv-explore id=here></div>")
    state = {key: getattr(widget, key) for key in ("title", "labels", "view", "start", "examples")}
    page.evaluate(MOUNT, [state, es_module()])
    box = Box(page)
    assert "kernel sends" in box.status.text_content()
    box.field.press("Enter")
    box.wait_for(f"Translation: {KOREAN}")
    assert box.page.locator(".qkv-explore").get_attribute("aria-label") == "Any sentence"
    page.close()
