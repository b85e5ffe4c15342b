"""The trained model comes into a page when it is asked for, once, and after a failure again."""

import pytest

from tests.browser.conftest import LARGE
from tests.browser.model_page import served, write_page

STATE = "[typeof qkvEngine, typeof qkvParameters]"


@pytest.fixture(params=["file", "http"])
def home(request, tmp_path):
    write_page(tmp_path)
    with served(tmp_path) as server:
        yield tmp_path.as_uri() if request.param == "file" else server


@pytest.fixture
def page(browser, home):
    """A page whose requests are noted in `page.asked`, in their order."""
    context = browser.new_context(**LARGE)
    page = context.new_page()
    page.asked = []
    page.on("request", lambda request: page.asked.append(request.url.removeprefix(home)))
    page.goto(f"{home}/page.html")
    yield page
    context.close()


def test_nothing_is_loaded_before_it_is_asked_for_and_then_once(page):
    assert page.asked == ["/page.html", "/site.js", "/model/load_model.js"]
    assert page.evaluate(STATE) == ["undefined", "undefined"]
    page.evaluate("Promise.all([qkvModel.load(), qkvModel.load(), qkvModel.loadEngine()])")
    page.evaluate("qkvModel.load()")
    names = sorted(address.partition("?v=")[0] for address in page.asked[3:])
    assert names == ["/model/engine.js", "/model/parameters.js"]
    assert page.evaluate(STATE) == ["object", "undefined"]


def test_the_engine_alone_comes_without_the_parameters(page):
    assert page.evaluate("qkvModel.loadEngine().then((engine) => typeof engine.openPretrained)")
    assert [address.partition("?v=")[0] for address in page.asked[3:]] == ["/model/engine.js"]


def test_after_a_failure_it_can_be_asked_for_again(page, home, tmp_path):
    file = tmp_path / "model" / "parameters.js"
    away = file.rename(tmp_path / "away.js")
    load = "() => qkvModel.load().then((model) => model.maxLength, (error) => error.message)"
    assert page.evaluate(load) == "parameters.js could not be loaded"
    away.rename(file)
    assert page.evaluate(load) == 16


def test_all_callers_get_the_same_model(page):
    together = "Promise.all([qkvModel.load(), qkvModel.load()]).then(([a, b]) => a === b)"
    assert page.evaluate(together)
