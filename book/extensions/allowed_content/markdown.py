"""What Markdown may hold: text, tables, formulas, code, and links that lead to pages.

It is read by the parser that the build reads it with, so a directive or a role is seen wherever the
build would see one. A directive can show any file of the machine or fetch an address; a link to a
file copies that file into the book.
"""

import posixpath
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

from allowed_content.html import html_problems

WITH_MARKDOWN = {"container", "course", "facts", "glossary"}  # whose content is Markdown again
DIRECTIVES = {"bibliography", "chapters", "citation", "experiments", "explorer", "figures"}
DIRECTIVES |= {"results"} | WITH_MARKDOWN
# Of book/extensions/teaching.py: they read chapters, and show no file. No chapter has a role.
ROLES = {"chapter", "exercise", "lesson", "question", "set", "state", "times", "wrong"}
TOKENS = re.compile(
    "inline|text|softbreak|hardbreak|hr|image|(code|math|html)_(inline|block)|math_inline_double|"
    "math_block_label|amsmath|fence|colon_fence|myst_(role|target|line_comment|block_break)|"
    "footnote_(ref|anchor)|"
    "(paragraph|heading|em|strong|link|list_item|bullet_list|ordered_list|blockquote|table|thead|"
    "tbody|tr|th|td|dl|dt|dd|footnote|footnote_block|footnote_reference)_(open|close)"
)
SCHEMES = {"https", "http"}
FOLDERS = ("book", "chapters", "benchmarks/results")  # where pictures may lie


class MarkdownRules:
    """The rules for the Markdown of one page.

    Args:
        parser: the build's own.
        page: its name, such as "chapters/03_attention".
        pages: the names of all pages, which links may lead to.
        source: the folder of the book.
    """

    def __init__(self, parser: MarkdownIt, page: str, pages: Collection[str], source: Path) -> None:
        self.parser, self.page, self.pages, self.source = parser, page, pages, source
        self.is_chapter = page.startswith("chapters/")

    def problems(self, text: str) -> Iterator[str]:
        """What the page may not hold, each with the mend."""
        defined: dict[str, Any] = {}
        yield from self._problems(self.parser.parse(text, defined))
        # Another cell may use it, which is read by itself here.
        for label in defined.get("references", {}):
            yield f"the definition of the link {label!r}: write the address where it is used"

    def _problems(self, tokens: Sequence[Token]) -> Iterator[str]:
        for token in tokens:
            if not TOKENS.fullmatch(token.type):
                yield f"{token.type.replace('_', ' ')} is nothing that a page can hold: take it out"
            elif token.type in ("html_block", "html_inline"):
                for tag in html_problems(token.content):
                    yield f"HTML {tag!r}: write Markdown, or <details> and plain tags alone"
            elif token.type in ("fence", "colon_fence"):
                yield from self._fence(token)
            elif token.type == "myst_role" and (self.is_chapter or token.meta["name"] not in ROLES):
                yield f"the role {{{token.meta['name']}}}: write a link; [[one](in brackets)] cites"
            elif token.type == "link_open":
                yield from self._link(str(token.attrs["href"]))
            elif token.type == "image":
                yield from self._image(str(token.attrs["src"]))
            yield from self._problems(token.children or [])

    def _fence(self, token: Token) -> Iterator[str]:
        name = "".join(token.info.split()[:1])
        directive = name.strip("{}")
        if token.type == "fence" and not re.search(r"[{&\\]", name):
            return  # code
        if self.is_chapter or name != f"{{{directive}}}" or directive not in DIRECTIVES:
            yield f"the directive {name!r}: a page shows what stands in it, no files or addresses"
            return
        if directive in WITH_MARKDOWN:
            # What a definition holds is indented, and read without that.
            lines = "\n".join(line.strip() for line in token.content.splitlines())
            yield from dict.fromkeys([*self.problems(token.content), *self.problems(lines)])

    def _link(self, href: str) -> Iterator[str]:
        address = urlsplit(href)
        if href.startswith("#") or address.scheme in SCHEMES:
            return
        target = self._inside(address.path) if not address.scheme + address.netloc else ""
        if target not in self.pages and target.rpartition(".")[0] not in self.pages:
            yield f"a link to {href!r}: lead to a page of the book, a place in it, or https://"

    def _image(self, src: str) -> Iterator[str]:
        here = not urlsplit(src).scheme and not urlsplit(src).netloc
        file = (self.source / self._inside(src)).resolve()
        inside = any(file.is_relative_to(self.source.resolve() / name) for name in FOLDERS)
        if not (here and inside) or file.suffix not in (".png", ".svg"):
            yield f"a picture from {src!r}: show a .png or .svg that lies in {' or '.join(FOLDERS)}"

    def _inside(self, path: str) -> str:
        """A path that the page writes, from the folder of the book."""
        folder = PurePosixPath("/", self.page).parent
        return posixpath.normpath(posixpath.join(folder, unquote(path))).lstrip("/")
