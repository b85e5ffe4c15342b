"""axe-core over a page: what its rules say against it, in words for a failing test."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Page

SCRIPT = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
# Most elements of a page are the coloured words of its code and the signs of its formulas, and axe
# takes a minute for all. One of each kind stays; others become plain text. An editor keeps its own,
# and a table, whose width hangs on them.
ONE_OF_EACH = """() => {
  const seen = new Set();
  const words = ["pre:not(.CodeMirror-line) span", "dt.sig span", "code span",
    ".katex-html span:not(table *)"];
  const grounds = ["details", ".admonition", ".highlight", ".cell_input", ".cell_output",
    ".qkv-live-output"];
  for (const word of document.querySelectorAll(words)) {
    const kind = [word, word.parentElement, word.closest(grounds)]
      .map((e) => `${e?.className} ${e?.style.color}`).join(" in ");
    if (seen.has(kind)) word.replaceWith(...word.childNodes);
    seen.add(kind);
  }
}"""
# The theme lets keys reach a block of code that scrolls, 300 ms after the page last changed.
REACHED = """() => [...document.querySelectorAll("article pre")]
  .every((code) => code.scrollWidth <= code.clientWidth || code.tabIndex >= 0)"""
# Every rule, the experimental ones too, but for two. The contrast of 7 : 1 that WCAG asks for at
# its level AAA: the book keeps to 4.5 : 1, and code in colours has no more. And roles for all that
# keys reach: another rule wants keys to reach what scrolls, wide tables among it.
RUN = """async ([tags, without]) => {
  const named = (tags) => axe.getRules(tags).map(({ ruleId }) => ruleId);
  const others = new Set(without.length ? named(without) : []);
  const enabled = new Set(named(tags).filter((rule) => !others.has(rule)));
  const rules = Object.fromEntries(axe.getRules()
    .map(({ ruleId }) => [ruleId, { enabled: enabled.has(ruleId) }]));
  rules["color-contrast-enhanced"].enabled = rules["focus-order-semantics"].enabled = false;
  const { violations } = await axe.run({ resultTypes: ["violations"], rules });
  const formula = (element) => element.querySelector("math"); // it is read out: axe sees no text
  return violations.flatMap(({ id, nodes }) => nodes
    .filter(({ target }) => id !== "empty-table-header" || !formula(document.querySelector(target)))
    .map(({ impact, target, html, failureSummary }) =>
      `${impact} ${id} at ${target.join(" ")}: ${failureSummary} ${html.slice(0, 160)}`));
}"""


def keep_one_of_each(page: Page) -> None:
    """Make plain text of the coloured words that axe need not see twice."""
    page.evaluate(ONE_OF_EACH)


def violations(page: Page, tags: Sequence[str] = (), without: Sequence[str] = ()) -> list[str]:
    """A line for each element that breaks a rule, from critical to minor.

    Nothing on the page may move or fade. What is left of the page is good for another call only.

    Args:
        tags: of the rules, such as "cat.color"; none, all rules.
        without: the rules of these tags.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(SCRIPT.read_text(encoding="utf-8"))
    keep_one_of_each(page)
    page.wait_for_function(REACHED)
    # A bar that stays in sight covers what is scrolled below it, which is no fault of either.
    page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
    return [" ".join(line.split()) for line in page.evaluate(RUN, [[*tags], [*without]])]
