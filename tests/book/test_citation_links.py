"""Links in square brackets become the citations that the role `cite` makes of the same entries."""

from __future__ import annotations

import importlib
import re
import sys
from collections import Counter
from pathlib import Path

import pytest
from pybtex.database import parse_file
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "book" / "extensions"))
address = importlib.import_module("citation_links").address

BIBLIOGRAPHY = ROOT / "book" / "references.bib"
VASWANI = "[Vaswani et al., 2017](https://arxiv.org/abs/1706.03762)"
JAIN = "[Jain and Wallace, 2019](https://arxiv.org/abs/1902.10186)"
LESHNO = "[Leshno et al., 1993](https://doi.org/10.1016/S0893-6080%2805%2980131-5)"
ROLES = """# Page

A line {cite}`vaswani2017attention`. Two {cite}`vaswani2017attention,jain2019attention`
and *more {cite}`leshno1993multilayer`*.

- {cite}`nvidia2024h100`, `code` {cite}`jain2019attention`
"""
LINKS = f"""# Page

A line [{VASWANI}]. Two [{VASWANI},
{JAIN}]
and *more [{LESHNO}]*.

- [[NVIDIA, n.d.](https://www.nvidia.com/en-us/data-center/h100/)], `code` [{JAIN}]
"""
# What a page writes, and what the build says of it.
WRONG = {
    "year": (f"[{VASWANI.replace('2017', '2018')}]", "vaswani2017attention: write 'Vaswani et al"),
    "second": (f"[{JAIN}, {VASWANI.replace(' et al.', '')}]", "'Vaswani, 2017' cites"),
    "address": ("[[Vaswani et al., 2017](https://x.example/1)]", "no entry has the address"),
    "bare": (f"As {VASWANI} say", "needs [square brackets]"),
}


def build(folder: Path, text: str) -> str:
    """The HTML of a page, with the bibliography on another as in the book."""
    folder.mkdir(exist_ok=True)
    (folder / "index.md").write_text(text, "utf-8")
    (folder / "sources.md").write_text("---\norphan: true\n---\n# S\n```{bibliography}\n```\n")
    if not (folder / "references.bib").exists():
        (folder / "references.bib").write_text(BIBLIOGRAPHY.read_text("utf-8"), "utf-8")
    settings = {
        "extensions": ["myst_parser", "sphinxcontrib.bibtex", "citation_links"],
        "bibtex_bibfiles": ["references.bib"],
        "bibtex_default_style": "plain",
        "bibtex_reference_style": "author_year",
        "html_theme": "basic",
    }
    out, trees = folder / "html", folder / "trees"
    app = Sphinx(folder, None, out, trees, "html", settings, status=None, warning=None)
    app.build()
    return (folder / "html" / "index.html").read_text("utf-8")


def test_links_in_brackets_are_the_citations_of_the_role(tmp_path: Path) -> None:
    page = build(tmp_path / "links", LINKS)
    assert page == build(tmp_path / "roles", ROLES)
    assert page.count('class="bibtex-citation"') == 5


def test_other_links_stay_links(tmp_path: Path) -> None:
    page = build(tmp_path, "# Page\n\nThe [paper](https://arxiv.org/abs/1706.03762), [ `x` ].\n")
    assert re.search(r'<a class="reference external" href="[^"]*1706.03762">paper</a>, \[ ', page)
    assert "bibtex-citation" not in page


@pytest.mark.parametrize("name", WRONG)
def test_a_citation_that_is_not_the_entrys_stops_the_build(name: str, tmp_path: Path) -> None:
    text, said = WRONG[name]
    with pytest.raises(ExtensionError, match=rf"index: .*{re.escape(said)}"):
        build(tmp_path, f"# Page\n\n{text}.\n")


def test_a_changed_entry_is_seen_by_the_pages_that_cite_it(tmp_path: Path) -> None:
    text = f"# Page\n\nA line [{VASWANI}].\n"
    build(tmp_path, text)
    bibliography = tmp_path / "references.bib"
    entries = bibliography.read_text("utf-8").replace("Vaswani, Ashish", "Other, Ashish")
    bibliography.write_text(entries, "utf-8")
    with pytest.raises(ExtensionError, match="write 'Other et al"):
        build(tmp_path, text)


def test_every_entry_has_an_address_of_its_own() -> None:
    counts = Counter(address(entry) for entry in parse_file(BIBLIOGRAPHY).entries.values())
    assert [found for found, count in counts.items() if count > 1] == []


def test_an_entry_without_an_address_is_named(tmp_path: Path) -> None:
    (tmp_path / "references.bib").write_text("@misc{someone2020, author={A, B}, year=2020}")
    with pytest.raises(ExtensionError, match="someone2020 of the bibliography needs a url"):
        build(tmp_path, "# Page\n\nA [link](https://x.example).\n")
