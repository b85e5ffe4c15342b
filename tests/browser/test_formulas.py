"""The page of formulas as it is printed: two sides of paper, and nothing cut off."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page

from tests.helpers.waiting import view

PIXELS = {"A4": (794, 1123), "Letter": (816, 1056)}  # at 96 dots an inch
MARGIN = 38  # 10 mm


@pytest.fixture
def page(context, book_url) -> Page:
    page = context.new_page()
    page.goto(f"{book_url}/book/formulas.html")
    return page


@pytest.mark.parametrize("paper", PIXELS)
def test_it_fits_two_sides(page, paper):
    printed = page.pdf(format=paper, prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 2


@pytest.mark.parametrize("paper", PIXELS)
def test_no_line_is_wider_than_its_column(page, paper):
    width, height = PIXELS[paper]
    view(page, {"width": width - 2 * MARGIN, "height": height}, media="print")
    wide = page.evaluate(
        """() => [...document.querySelectorAll("#formulas-shapes-and-masks :is(li, p)")]
            .filter((line) => line.scrollWidth > line.clientWidth + 1)
            .map((line) => line.textContent.trim().slice(0, 60))"""
    )
    assert wide == []


def test_it_has_its_title_and_no_table_of_contents(page):
    view(page, media="print")
    assert page.locator("#formulas-shapes-and-masks > h1").is_visible()
    assert page.locator("#jb-print-docs-body").is_hidden()
