"""The book's public addresses: settings in _config.yml, and every link made of the repository's.

``repository_address`` makes the repository, issue and Colab buttons, and the set-up cell that each
chapter needs in Colab (tools/colab.py). The site is expected on the repository's GitHub Pages, or
where ``html_baseurl`` says; page_metadata.py needs it. ``binder_address`` names a Binder service
that builds the repository. While a setting is empty nothing points anywhere: Jupyter Book's own
defaults, which point at Jupyter Book's repository, are cleared. The environment variables
QKV_REPOSITORY and QKV_BINDER stand in for the settings. Other extensions read the result from
``app.config``.
"""

import os
import re
from pathlib import Path
from typing import Any

from other_editions import folder_of
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ConfigError

COLAB = "https://colab.research.google.com"
VARIABLES = {"repository_address": "QKV_REPOSITORY", "binder_address": "QKV_BINDER"}
PATTERNS = {
    # Not the address to clone from, which ends in .git: no page of the repository is there.
    "repository_address": re.compile(r"https://github\.com/[\w.-]+/[\w.-]+(?<!\.git)", re.ASCII),
    "binder_address": re.compile(r"https://[\w.-]+(:\d+)?(/[\w.-]+)*", re.ASCII),
    "html_baseurl": re.compile(r"https://[\w.-]+(:\d+)?(/[\w.~-]+)*", re.ASCII),
}
EXAMPLES = {
    "repository_address": "https://github.com/OWNER/REPO (Colab opens no other)",
    "binder_address": "https://mybinder.org",
    "html_baseurl": "https://OWNER.github.io/REPO/",
}


def resolve(name: str, setting: str) -> str:
    """The address that holds: the environment's, else the setting's; empty where there is none.

    Args:
        name: "repository_address", "binder_address" or "html_baseurl".
        setting: what _config.yml says.
    Raises:
        ConfigError: no link can be made of it.
    """
    value = os.environ.get(VARIABLES.get(name, ""), setting).rstrip("/")
    if value and not PATTERNS[name].fullmatch(value):
        raise ConfigError(f"{name} must look like {EXAMPLES[name]}, got {value!r}")
    return value


def site_of(repository: str) -> str:
    """Where GitHub Pages shows what a repository publishes; empty where there is no repository."""
    if not repository:
        return ""
    owner, name = repository.split("/")[-2:]
    host = f"{owner.lower()}.github.io"
    return f"https://{host}" if name.lower() == host else f"https://{host}/{name}"


def apply_addresses(app: Sphinx, config: Config) -> None:
    """Put the addresses that hold into the settings, and into the theme's repository options."""
    repository = resolve("repository_address", config.repository_address)
    binder = resolve("binder_address", config.binder_address)
    if binder and not repository:
        raise ConfigError(
            "binder_address is set, and Binder builds from a repository: "
            "set repository_address too, or leave binder_address empty"
        )
    config.repository_address, config.binder_address = repository, binder
    site = resolve("html_baseurl", config.html_baseurl) or site_of(repository)
    config.html_baseurl = f"{site}/{folder_of(config.language)}" if site else ""
    has_repository = bool(repository)
    config.html_theme_options.update(
        repository_url=repository,
        repository_branch="main",
        path_to_docs="",
        use_repository_button=has_repository,
        use_issues_button=has_repository,
        use_edit_page_button=False,
        use_source_button=False,
        launch_buttons={"colab_url": COLAB} if has_repository else {},
    )


def lead_to_own_notebook(
    app: Sphinx, page: str, _: str, context: dict[str, Any], __: object
) -> None:
    """Lead the Colab button of a translated chapter to the notebook in its language."""
    language, name = app.config.language, page.rpartition("/")[2]
    if not Path(app.confdir, "book", "locale", language, f"{name}.po").is_file():
        return
    for group in context["header_buttons"]:
        for button in (group, *group.get("buttons", ())):
            if button.get("url", "").startswith(COLAB):
                place = f"/chapters/{folder_of(language)}{name}.ipynb"
                button["url"] = button["url"].replace(f"/chapters/{name}.ipynb", place)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_config_value("repository_address", "", "html", str)
    app.add_config_value("binder_address", "", "html", str)
    app.connect("config-inited", apply_addresses, priority=100)
    # After the theme's buttons (501).
    app.connect("html-page-context", lead_to_own_notebook, priority=600)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
