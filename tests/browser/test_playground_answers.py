"""What the playground says of its answers: whose they are, what was read, and by what they came."""

import pytest
from playwright.sync_api import expect

from qkv.pretrained import pretrained
from qkv.translator.ablation import without_positions
from tests.browser.axe import violations
from tests.browser.playground_page import KOREAN, PHONE, START, STILL

KNOWN = "One of the 34,367 sentences that the book has for this model"
OLD = f"The answer below is to “{START}”."


@pytest.fixture
def box(open_playground):
    """The playground with the answer to its first sentence."""
    box = open_playground()
    box.translate(START)
    expect(box.said).to_have_text(f"Translation: {KOREAN}")
    return box


@pytest.mark.parametrize(
    ("typed", "read", "said"),
    [
        ("A cat sat on a mat.", START, "Read “The” for “A”, “the” for “a”. " + KNOWN),
        ("The cats sat on the mats", START, "Read “cat” for “cats”, “mat” for “mats”. " + KNOWN),
        ("The doctor ate an egg", "The doctor ate the egg", "Read “the” for “an”. "),
    ],
)
def test_articles_and_plurals_are_forgiven_and_said(open_playground, typed, read, said):
    box = open_playground()
    box.translate(typed)
    expect(box.said).to_have_text(f"Translation: {pretrained().translate(read)}")
    expect(box.status).to_contain_text(said)
    assert box.field.input_value() == typed
    expect(box.root.locator("[data-panel=sentence]")).to_contain_text(read)


def test_two_sentences_in_one_are_explained(open_playground):
    box = open_playground()
    box.translate("The cat and the elephant sat")
    said = "The model does not know 'and' (write two sentences), 'elephant'."
    expect(box.status).to_have_text(said)
    expect(box.root.locator(".qkv-actions button")).to_have_count(0)


FILTER = "(panels) => getComputedStyle(panels).filter"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("device", [STILL, PHONE], ids=["desk", "phone"])
def test_below_a_refused_sentence_the_old_answer_is_dimmed_and_named(
    open_playground, theme, device
):
    box = open_playground(**device)
    box.page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
    box.translate(START)
    expect(box.said).to_have_text(f"Translation: {KOREAN}")
    panels = box.root.locator(".qkv-panels")
    assert panels.evaluate(FILTER) == "none"
    box.translate("The grzbl sat")
    expect(box.status).to_contain_text(f"The model does not know 'grzbl'. {OLD}")
    assert panels.evaluate(FILTER) == "grayscale(1)"
    assert violations(box.page) == []
    box.page.get_by_role("radio", name="search").first.check()
    expect(box.status).to_contain_text(OLD)
    box.page.get_by_role("radio", name="beam search").check()
    expect(box.root.locator("[data-panel=hypotheses]")).to_be_visible()
    expect(box.status).to_have_text(OLD)
    box.translate(START)
    expect(box.status).to_contain_text(KNOWN)
    assert panels.evaluate(FILTER) == "none"


def test_a_first_sentence_that_is_refused_has_no_answer_to_name(open_playground):
    box = open_playground()
    box.translate("The grzbl sat")
    expect(box.status).to_have_text("The model does not know 'grzbl'.")


def test_a_changed_translation_is_not_called_the_one_that_the_book_has(open_playground):
    sentence = "The teacher will meet the doctor"
    own = pretrained().translate(sentence)
    with without_positions(pretrained().model, ["encoder"]):
        changed = pretrained().translate(sentence)
    assert changed != own
    box = open_playground()
    box.translate(sentence)
    expect(box.status).to_have_text(f"{KNOWN}.")
    box.page.get_by_role("radio", name="heads").check()
    box.page.get_by_role("checkbox", name="encoder").uncheck()
    expect(box.said).to_have_text(f"Translation: {changed}")
    other = (
        "The book has this sentence, but under these settings its translation is another: "
        "it may be wrong."
    )
    expect(box.status).to_contain_text(other)
    box.page.get_by_role("button", name="Switch all on").click()
    expect(box.said).to_have_text(f"Translation: {own}")
    expect(box.status).to_have_text(f"{KNOWN}.")


def test_what_is_drawn_at_random_is_called_another_translation(box):
    box.page.get_by_role("radio", name="search").first.check()
    box.page.get_by_role("radio", name="sampling").check()
    slider = box.root.locator(".qkv-slider", has_text="temperature").locator("input")
    slider.focus()
    slider.press("End")
    expect(box.said).not_to_have_text(f"Translation: {KOREAN}")
    expect(box.status).to_contain_text("under these settings its translation is another")
