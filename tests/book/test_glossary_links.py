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
forms = importlib.import_module("glossary_forms").forms
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


KOREAN_PAGE = """
마스크
======

**어텐션 가중치**\\ (attention weight)는 **마스크**\\ 로 가립니다. **어텐션가중치**, **마스크**.
**Queries** and **masks**.

.. glossary::

   어텐션 가중치
      **attention weight** · 값을 섞는 몫입니다. · 3장
   마스크(가림)
      **mask** · 어디를 볼지 정합니다. · 5장
   쿼리
      **query** (Q) · 찾는 것입니다. · 3장
"""


def test_a_korean_term_is_linked_and_so_is_its_english_name(tmp_path: Path) -> None:
    (tmp_path / "index.rst").write_text(KOREAN_PAGE, encoding="utf-8")
    settings = {"extensions": ["glossary_links"], "html_theme": "basic", "language": "ko"}
    out, trees = tmp_path / "html", tmp_path / "trees"
    Sphinx(tmp_path, None, out, trees, "html", settings, status=None, warning=None).build()
    html = (out / "index.html").read_text("utf-8")
    terms = re.findall(r'<dt id="([^"]*)">([^<]*)', html)
    links = re.findall(r'<a class="qkv-term[^>]*href="#([^"]*)">([^<]*)</a>', html)
    assert [text for _, text in terms] == ["어텐션 가중치", "마스크(가림)", "쿼리"]
    assert links == [
        (terms[0][0], "어텐션 가중치"),
        (terms[1][0], "마스크"),
        (terms[2][0], "Queries"),
    ]
    assert "<strong>어텐션가중치</strong>" in html, "the second use of the term"


def test_the_forms_of_a_term() -> None:
    assert forms("Query (Q)") >= {"query", "queries"}
    assert forms("교차 어텐션(크로스)") == {"교차 어텐션", "교차어텐션"}


def test_a_link_in_bold_keeps_its_own_target() -> None:
    assert is_left_alone(nodes.strong("", "", nodes.reference("", "masks", refuri="masks.html")))
    assert not is_left_alone(nodes.strong("", "masks"))
