"""Make every link to the repository from one setting, ``repository_address`` in _config.yml.

While it is empty nothing points anywhere: Jupyter Book's own defaults, which point at Jupyter
Book's repository, are cleared. The environment variable QKV_REPOSITORY stands in for the setting.
"""

import os
import re
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ConfigError

ADDRESS = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+")


def apply_address(app: Sphinx, config: Config) -> None:
    """Set the theme's repository options from the one address, or clear them."""
    address = os.environ.get("QKV_REPOSITORY", config.repository_address).rstrip("/")
    if address and not ADDRESS.fullmatch(address):
        raise ConfigError(
            "repository_address must look like https://github.com/OWNER/REPO "
            f"(Colab opens no other), got {address!r}"
        )
    known = bool(address)
    config.html_theme_options.update(
        repository_url=address,
        repository_branch="main",
        path_to_docs="",
        use_repository_button=known,
        use_issues_button=known,
        use_edit_page_button=False,
        use_source_button=False,
        launch_buttons={"colab_url": "https://colab.research.google.com"} if known else {},
    )


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_config_value("repository_address", "", "html", str)
    app.connect("config-inited", apply_address, priority=100)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
