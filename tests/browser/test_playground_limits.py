"""The playground with a model of one's own: whatever it is given, the page answers meanwhile."""

from dataclasses import replace

import pytest
from playwright.sync_api import expect

from qkv.javascript.model_file import model_file
from qkv.text import EOS
from qkv.translator import Translator
from tests.browser.axe import violations
from tests.browser.computing import computing
from tests.browser.playground_page import PHONE
from tests.helpers.translators import checkpoint

LONGEST = 512  # tokens that a page reads or writes
REFUSED = "Text with more than 30 marks on one letter was left out."


def model_with(change, max_len=30):
    """The file of a model whose parameters were changed in place."""
    saved = checkpoint("bpe")
    parameters = {name: value.copy() for name, value in saved.parameters.items()}
    change(parameters)
    changed = replace(saved, parameters=parameters, metadata={"max_len": max_len})
    return model_file(Translator.from_checkpoint(changed))


def use(box, data):
    if not box.own.evaluate("(details) => details.open"):
        box.own.locator("summary").click()
    file = {"name": "mine.safetensors", "mimeType": "", "buffer": data}
    box.own.locator("input").set_input_files(file)
    expect(box.own.locator("[role=status]")).to_contain_text("In use: mine.safetensors")


def never_end(parameters):
    """All hidden states are one, of which <eos> is the least likely token."""
    parameters["decoder.norm.weight"][:] = 0
    parameters["decoder.norm.bias"][:] = -10 * parameters["target_embedding.weight"][EOS]


def test_a_word_of_many_letters_is_refused_at_once(open_playground):
    """Its pairs are joined in a time that grows with the letters, and not with their square."""
    box = open_playground()
    use(box, model_with(lambda _: None))
    word = "catsmat" * 3000
    with computing(box.page) as took:
        box.translate(word)
        expect(box.status).to_contain_text("The model reads at most 29 pieces of words at once")
    assert took.seconds < 5


@pytest.mark.parametrize("marks", [31, 20_000])
def test_more_marks_than_a_letter_has_are_left_out_of_the_field(open_playground, marks):
    """To lay out a run of them takes a browser the square of its length."""
    box = open_playground()
    box.field.fill("The cat")
    box.field.fill("a" + "\u0301" * marks)
    expect(box.status).to_have_text(REFUSED)
    assert "\u0301" not in box.field.input_value()
    box.field.fill("a" + "\u0301" * 30)
    assert len(box.field.input_value()) == 31


# The model comes when the test lets it.
HOLD = """() => {
  const { load } = qkvModel;
  const held = new Promise((resolve) => { window.letGo = resolve; });
  qkvModel.load = () => held.then(() => load());
}"""


def test_a_model_that_comes_later_does_not_hide_what_was_refused(open_playground):
    box = open_playground()
    box.page.evaluate(HOLD)
    box.field.fill("The cat")
    box.field.fill("a" + "\u0301" * 31)
    expect(box.status).to_have_text(REFUSED)
    box.page.evaluate("async () => { letGo(); await qkvModel.load(); }")
    box.field.fill("The c")
    expect(box.options.first).to_be_visible()  # so the model is here
    expect(box.status).to_have_text(REFUSED)


@pytest.fixture
def endless(open_playground):
    """A playground with a model that never ends, and may write 10,000 tokens by its file."""

    def open_page(**options):
        box = open_playground(**options)
        use(box, model_with(never_end, max_len=10_000))
        return box

    return open_page


def search_by_beams(box):
    box.page.get_by_role("radio", name="search").first.check()
    box.page.get_by_role("radio", name="beam search").check()


def test_a_model_that_never_ends_is_cut_where_the_page_ends(endless):
    box = endless()
    box.translate("The dog slept.")
    said = f"Cut: it had no end after {LONGEST} tokens."
    expect(box.status).to_have_text(said)
    box.translate("The cat. " * 300)
    said = f"The page reads at most {LONGEST - 1} pieces of words at once"
    expect(box.status).to_contain_text(said)


# How often the page comes to do other work while a search goes on.
TURNS = """() => {
  window.turns = 0;
  const turn = () => { window.turns++; setTimeout(turn, 0); };
  turn();
}"""


def test_a_search_leaves_the_page_answering_and_is_stopped(endless):
    box = endless()
    stop = box.page.get_by_role("button", name="Stop")
    box.translate("The dog slept.")
    expect(box.status).to_contain_text("Cut: it had no end")
    expect(stop).to_be_hidden()
    box.page.evaluate(TURNS)
    search_by_beams(box)
    box.page.wait_for_function("window.turns > 20")
    stop.click()
    expect(box.status).to_have_text("Stopped before another answer.")
    expect(stop).to_be_hidden()
    expect(box.page.get_by_role("radio", name="greedy")).to_be_checked()
    expect(box.root.locator("[data-panel=hypotheses]")).to_have_count(0)


def test_a_stopped_sentence_shows_what_there_is_of_it(endless):
    box = endless(**PHONE | {"reduced_motion": "no-preference"})
    box.field.fill("The dog slept.")
    send = box.page.get_by_role("button", name="Translate")
    send.focus()
    send.press("Enter")
    stop = box.page.get_by_role("button", name="Stop")
    expect(stop).to_be_focused()
    expect(box.root.locator("[data-panel=translation]")).to_be_visible()
    assert violations(box.page) == []
    assert stop.bounding_box()["height"] >= 44
    assert box.page.evaluate("document.documentElement.scrollWidth") == 375
    box.page.keyboard.press("Enter")
    expect(send).to_be_focused()
    expect(box.status).to_contain_text("Stopped after ")
    assert violations(box.page) == []


def test_while_one_sentence_is_translated_enter_begins_another(endless):
    box = endless(reduced_motion="no-preference")
    box.translate("The dog slept.")
    expect(box.page.get_by_role("button", name="Stop")).to_be_visible()
    box.translate("The cat slept.")
    expect(box.root.locator("[data-panel=sentence]")).to_contain_text("The cat slept.")


def fill(name, value):
    return lambda parameters: parameters[name].__setitem__(slice(None), value)


def spread(name, value):
    """One sign after the other, so that no mean is taken away."""

    def change(parameters):
        parameters[name].ravel()[::2] = value
        parameters[name].ravel()[1::2] = -value

    return change


OVERFLOWS = {
    "target": spread("target_embedding.weight", 3e38),
    "source": spread("source_embedding.weight", 3e38),
    "keys": spread("encoder.layers.0.self_attention.w_k.weight", 3e38),
    "norm": spread("decoder.norm.weight", 3e38),
    "values": fill("decoder.layers.1.cross_attention.w_v.weight", 3e38),
}


@pytest.mark.parametrize("name", OVERFLOWS)
def test_a_model_whose_numbers_overflow_is_said_to_be_one(open_playground, name):
    box = open_playground()
    use(box, model_with(OVERFLOWS[name]))
    box.translate("The dog slept.")
    said = "The model's numbers overflow: its parameters are too large to compute with."
    expect(box.status).to_have_text(said)
    expect(box.root.locator("[data-panel]")).to_have_count(0)
