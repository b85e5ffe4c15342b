"""At a page's foot: its version, with a link to what has changed, and *Report a mistake here*.

The second fills the form .github/ISSUE_TEMPLATE/mistake.yml in, and takes the place of the theme's
issue button too, which stays in sight; a script (report_mistake.js) adds the section. Without a
repository there is neither.
"""

import tomllib
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from docutils import nodes
from other_editions import name_of
from sphinx.application import Sphinx
from sphinx.config import Config

from qkv.language import get_language, gettext

CHANGES = "CHANGELOG"
SCRIPT = "report_mistake.js"


def version_of(root: Path) -> str:
    """What pyproject.toml says: the installed package may be of a day before."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    return str(project["project"]["version"])


def report_address(repository: str, chapter: str, address: str, version: str) -> str:
    """The form for a mistake, with what the page knows filled in."""
    fields = {
        "template": "mistake.yml",
        "title": gettext("Mistake in {chapter}").format(chapter=chapter),
        "chapter": chapter,
        "address": address,
        "version": version,
        "language": name_of(get_language()),
    }
    return f"{repository}/issues/new?{urlencode(fields)}"


def issue_buttons(buttons: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The theme's issue button, wherever it stands among the buttons of a page's head."""
    inner = [button for group in buttons for button in group.get("buttons", ())]
    return [one for one in (*buttons, *inner) if one.get("label") == "source-issues-button"]


def add_to_page(
    app: Sphinx, page: str, _: str, context: dict[str, Any], __: nodes.document | None
) -> None:
    version = version_of(Path(app.confdir))
    parts = [context["theme_extra_footer"]]
    if CHANGES in app.env.found_docs:
        words = gettext("Version {version}: what has changed").format(version=version)
        parts.append(f'<a href="{context["pathto"](CHANGES)}">{escape(words)}</a>.')
    if repository := app.config.repository_address:
        title = app.env.titles.get(page)
        chapter = title.astext() if title else gettext("Search")  # no other page is made of none
        address = escape(report_address(repository, chapter, context["pageurl"], version))
        words = gettext("Report a mistake here")
        parts.append(f'<a class="qkv-report d-print-none" href="{address}">{escape(words)}</a>.')
        for button in issue_buttons(context["header_buttons"]):
            button.update(url=address, text=words, tooltip=words)
    context["theme_extra_footer"] = " ".join(parts)


def keep_out_of_search(app: Sphinx, _: nodes.document) -> None:
    """Who searches the book looks for a concept, and not for when it was renamed."""
    if app.env.docname == CHANGES:
        app.env.metadata[CHANGES]["nosearch"] = ""


def add_script(app: Sphinx, config: Config) -> None:
    if config.repository_address:
        app.add_js_file(SCRIPT, loading_method="defer")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("config-inited", add_script, priority=200)  # after public_addresses (100)
    app.connect("doctree-read", keep_out_of_search, priority=900)  # after what collects metadata
    # After the theme's buttons (501) and third_party_notices.
    app.connect("html-page-context", add_to_page, priority=600)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
