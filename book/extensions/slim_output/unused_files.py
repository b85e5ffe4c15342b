"""Delete the files that no page of the book loads: the theme's, and sources of scripts."""

import shutil
from pathlib import Path

# Font Awesome: its loader is gone (templates/static/webpack-macros.html). Locales: catalogues that
# only the build reads. Maps: for who debugs the theme's minified scripts. Macros: templates.
UNUSED = [
    "_static/vendor/fontawesome",
    "_static/locales",
    "_static/*/*.map",
    "_static/images/logo_*",
    "_static/*webpack-macros.html",
    # What model_in_page.py and explorers.py make scripts from.
    "_static/load_model.js",
    "_static/static_widgets.*",
]


def delete_unused_files(book: Path, has_launch_buttons: bool) -> None:
    """Delete them; the launch buttons, where there are any, show Colab's logo."""
    for pattern in UNUSED:
        for path in list(book.glob(pattern)):
            if path.is_dir():
                shutil.rmtree(path)
            elif not (has_launch_buttons and "logo_colab" in path.name):
                path.unlink()
