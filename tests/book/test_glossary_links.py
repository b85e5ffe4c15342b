"""Terms in bold become links to the glossary: once a page, in the singular or the plural."""

import importlib
import re
import sys
from pathlib import Path

import pytest
from docutils import nodes
from sphinx.application import Sphinx

EXTENSIONS = Path(__file__).parents[2] / "book" / "extensions"
sys.path.append(str(EXTENSIONS))
is_left_alone = importlib.import_module("glossary_links").is_left_alone

PAGE = """
**Heads** and queries
=====================

A **head** looks, and many **heads** look. One **query**, two **queries**; `a link <b.html>`__.
**Weights**: they sum to 1. **Dot
product**, and **something else**.

.. glossary::

   head
      A **query** and more.
   query
      What a word looks for.
   weight (attention)
      A share.
   dot product
      A number.
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("glossary")
    (folder / "index.rst").write_text(PAGE)
    settings = {"extensions": ["glossary_links"], "html_theme": "basic"}
    out, trees = folder / "html", folder / "trees"
    app = Sphinx(folder, None, out, trees, "html", settings, status=None, warning=None)
    app.build()
    return (out / "index.html").read_text("utf-8")


def test_the_first_bold_use_of_each_term_is_a_link(page: str) -> None:
    links = re.findall(r'<a class="qkv-term[^>]*href="#(term-[^"]*)">([^<]*)</a>', page)
    assert links == [
        ("term-head", "head"),
        ("term-query", "query"),
        ("term-weight-attention", "Weights"),
        ("term-dot-product", "Dot\nproduct"),
    ]


def test_other_bold_words_and_later_uses_stay_as_they_were(page: str) -> None:
    for text in ("heads", "queries", "something else"):
        assert f"<strong>{text}</strong>" in page
    assert "<h1><strong>Heads</strong>" in page
    assert "A <strong>query</strong> and more" in page


def test_a_link_in_bold_keeps_its_own_target() -> None:
    assert is_left_alone(nodes.strong("", "", nodes.reference("", "masks", refuri="masks.html")))
    assert not is_left_alone(nodes.strong("", "masks"))
