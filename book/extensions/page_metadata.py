"""What search engines and messengers read of a page: description, social card, sitemap.

All of it needs absolute addresses, so there is none of it while the site has no address
(public_addresses.py). The canonical link beside it is Sphinx's own, from ``html_baseurl``. A page's
card is its own first figure that says in words what it shows. Any other page has that of a chapter.
"""

import re
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape as escape_xml

from docutils import nodes
from other_editions import editions_of, folder_of, locale_of
from PIL import Image, ImageOps
from slim_output.figures import quantize
from sphinx.application import Sphinx

from qkv.language import ENGLISH, gettext

SIZE = (1200, 630)  # what messengers show uncropped
LARGEST = 2  # times: a figure is not blown up beyond that
MARGIN = 24
CARDS = "_cards"
FIGURE_OF_THE_BOOK = "chapters/03_attention"  # whose card pages without a figure show
SENTENCE_END = re.compile(r"(?<=[.?!])\s+")
TIMES = re.compile(r"(\D+\d+){3}\D*")  # Read: 33 minutes. Exercises: 24. Going further: 38.
DESCRIPTION = 200  # characters; a first sentence may have more
TAGS = re.compile(r'<meta (?:property="og:|name="(?:description"|twitter:))[^>]*>')


def describe(doctree: nodes.document) -> str:
    """The first sentences of the first paragraph: as many as fit, and one at least."""
    for paragraph in doctree.findall(nodes.paragraph):
        has_times = TIMES.fullmatch(paragraph[0].astext())
        if has_times or not isinstance(paragraph.parent, nodes.section):
            continue
        text, *more = SENTENCE_END.split(" ".join(paragraph.astext().split()))
        for sentence in more:
            if len(text) + 1 + len(sentence) > DESCRIPTION:
                break
            text = f"{text} {sentence}"
        return text
    return ""


def draw_card(picture: Path, card: Path) -> None:
    """Write a picture, whole, into the middle of a white card."""
    image = Image.open(picture).convert("RGBA")
    width, height = (
        min(LARGEST * side, limit - 2 * MARGIN)
        for side, limit in zip(image.size, SIZE, strict=True)
    )
    image = ImageOps.contain(image, (width, height), Image.Resampling.LANCZOS)
    sheet = Image.new("RGBA", SIZE, "white")
    sheet.alpha_composite(image, ((SIZE[0] - image.width) // 2, (SIZE[1] - image.height) // 2))
    card.parent.mkdir(parents=True, exist_ok=True)
    buffer = BytesIO()
    sheet.save(buffer, "PNG")
    card.write_bytes(quantize(buffer.getvalue()))


def first_figure(app: Sphinx, doctree: nodes.document) -> tuple[Path, str] | None:
    """File and alt text of the first figure that has one."""
    files = {name: source for source, name in app.builder.images.items()}
    for image in doctree.findall(nodes.image):
        source = files.get(Path(image["uri"]).name)
        if image.get("alt") and source and source.endswith(".png"):
            return Path(app.srcdir, source), image["alt"]
    return None


def image_tags(app: Sphinx, page: str, doctree: nodes.document) -> dict[str, str]:
    """The page's card, which is written here, or that of the chapter; none if there is neither."""
    card = f"{CARDS}/{page}.png"
    if figure := first_figure(app, doctree):
        picture, alt = figure
        draw_card(picture, Path(app.outdir, card))
    else:
        Path(app.outdir, card).unlink(missing_ok=True)  # of a figure that the page had before
        if FIGURE_OF_THE_BOOK not in app.env.found_docs:
            return {}
        card = f"{CARDS}/{FIGURE_OF_THE_BOOK}.png"
        alt = gettext(
            "Words of a sentence: the query of one of them, the keys and values of others"
        )
    address, (width, height) = app.config.html_baseurl + card, map(str, SIZE)
    return {"image": address, "image:width": width, "image:height": height, "image:alt": alt}


def add_tags(
    app: Sphinx, page: str, _: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    site = app.config.html_baseurl
    if not site or doctree is None:
        return
    description = describe(doctree)
    graph = {
        "title": app.env.titles[page].astext(),
        "type": "website" if page == app.config.root_doc else "article",
        "locale": locale_of(app.config.language),
        "url": context["pageurl"],
        "site_name": app.config.html_title,
        "description": description,
        **image_tags(app, page, doctree),
    }
    named = {"description": description, "twitter:card": "summary_large_image"}
    tags = [
        f'<meta property="og:{name}" content="{escape(str(value))}">'
        for name, value in graph.items()
    ]
    tags += [f'<meta name="{name}" content="{escape(text)}">' for name, text in named.items()]
    context["metatags"] = "\n".join([context.get("metatags", ""), *tags, ""])


def write_sitemap(app: Sphinx, error: Exception | None) -> None:
    """List the address of every page for search engines, in each language; English does for all."""
    site = app.config.html_baseurl
    if error or app.builder.format != "html" or not site or app.config.language != ENGLISH:
        return
    pages = sorted(map(app.builder.get_target_uri, app.env.found_docs))
    folders = list(map(folder_of, editions_of(Path(app.confdir))))
    addresses = [site + folder + page for folder in folders for page in pages]
    lines = [f"<url><loc>{escape_xml(address)}</loc></url>" for address in addresses]
    head = '<?xml version="1.0" encoding="utf-8"?>'
    schema = "http://www.sitemaps.org/schemas/sitemap/0.9"
    text = "\n".join([head, f'<urlset xmlns="{schema}">', *lines, "</urlset>", ""])
    Path(app.outdir, "sitemap.xml").write_text(text, encoding="utf-8")


def tags_of(page: Path) -> str:
    """The tags of a page that is written, for one that leads on to it."""
    return "\n".join(TAGS.findall(page.read_text(encoding="utf-8")))


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("html-page-context", add_tags)
    app.connect("build-finished", write_sitemap)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
