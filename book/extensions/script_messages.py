"""Words of the page's scripts, and of these extensions, in the language of the pages.

The scripts ask `gettext` (site.js), which looks into `messages`: on pages in another language than
English a script before it sets them, from qkv's catalogue. English pages load nothing more.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

from qkv.explore.start_map import BOOK as CHAPTERS
from qkv.language import ENGLISH, get_language, gettext, set_language

BOOK = Path(__file__).parents[1]
FILE = "messages.js"
BEFORE_SITE_JS = 90  # whose priority is 100, in _config.yml
MESSAGE = re.compile(r'\bgettext\(("(?:[^"\\]|\\.)*")')


def asked_for() -> Iterator[str]:
    """Every message that a script of the book asks for."""
    for path in sorted(BOOK.rglob("*.js")):
        yield from map(json.loads, MESSAGE.findall(path.read_text(encoding="utf-8")))


def script() -> str:
    """The translated ones among them, and among the titles of chapters, as a script."""
    titles = (chapter.short_title for chapter in CHAPTERS)
    messages = {text: gettext(text) for text in sorted({*asked_for(), *titles})}
    translated = {text: words for text, words in messages.items() if words != text}
    data = json.dumps(translated, ensure_ascii=False, separators=(",", ":"))
    return f"globalThis.messages={data};\n"


def choose_language(app: Sphinx, config: Config) -> None:
    """Before any extension asks for words."""
    set_language(config.language)
    if config.language != ENGLISH:
        app.add_js_file(FILE, priority=BEFORE_SITE_JS, loading_method="defer")


def write_script(app: Sphinx) -> None:
    """Before any page: Sphinx puts its checksum into its address."""
    if app.builder.format == "html" and get_language() != ENGLISH:
        path = Path(app.outdir, "_static", FILE)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(script(), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("config-inited", choose_language, priority=1)
    app.connect("builder-inited", write_script)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
