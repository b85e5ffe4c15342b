"""The messages of a code cell: what it prints, draws and says in strings, and its comments."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

WIDTH = 84  # columns of a line that is wrapped anew; a syllable of Hangul takes two
WORD = re.compile(r"[A-Za-z]{2,}")
FIELD = re.compile(r"\{[^{}]*\}")
OPENING = re.compile(r"(?i)(?P<prefix>[rbfu]*)(?P<quote>\"\"\"|'''|\"|')")
PRAGMA = re.compile(r"#\s*(noqa|type:|fmt:)")
# Arguments that are code wherever they stand; what else is a word, a translator says by leaving it.
CODE_KEYWORD = re.compile(
    "alpha|axis|c|cmap|colou?rs?|dtype|ec|edgecolor|facecolor|fc|fmt|fontstyle|fontweight|ha|hatch|"
    "indexing|invalid|kind|labelcolor|linestyle|loc|ls|marker|mode|ord|over|role|rotation_mode|"
    "side|style|transform|va|verticalalignment|weight|which"
)
CODE_CALL = re.compile(
    "astype|check|einsum|errstate|getattr|hasattr|import_module|manual_seed|open|setattr|seterr|"
    "split|spines|stored_result|tick_params"
)


@dataclass(frozen=True)
class Words:
    """A message and where it stands: offsets of the text that its translation replaces."""

    message: str
    start: int
    end: int
    kind: str  # "string", "docstring" or "comment"
    prefix: str = ""
    quote: str = ""
    indent: int = 0  # column of its first character


def words_of_code(source: str) -> list[Words]:
    """The messages of a cell, in the order in which they stand.

    Strings side by side are one message, and so are comments in lines of their own that follow each
    other. A string with no word, or where only code can stand, is none.
    """
    code = strings_that_are_code(source)
    offsets = line_offsets(source)
    tokens = [
        token
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT)
    ]
    found: list[Words] = []
    position = 0
    while position < len(tokens):
        group = group_at(tokens, position)
        position += len(group) or 1
        if not group:
            continue
        start = offsets[group[0].start[0]] + group[0].start[1]
        end = offsets[group[-1].end[0]] + group[-1].end[1]
        if group[0].type == tokenize.COMMENT:
            text = " ".join(token.string.lstrip("#").strip() for token in group)
            if WORD.search(text) and not PRAGMA.match(group[0].string):
                found.append(Words(text, start, end, "comment", indent=group[0].start[1]))
        elif group[0].start not in code and (words := words_of_strings(group, start, end)):
            found.append(words)
    return found


def group_at(tokens: list[tokenize.TokenInfo], position: int) -> list[tokenize.TokenInfo]:
    """Strings side by side, or comments that follow each other in lines of their own."""
    first = tokens[position]
    group = [first]
    if first.type == tokenize.STRING:
        for token in tokens[position + 1 :]:
            if token.type != tokenize.STRING:
                break
            group.append(token)
        return group
    if first.type != tokenize.COMMENT:
        return []
    if first.line[: first.start[1]].strip():
        return group  # beside code
    for token in tokens[position + 1 :]:
        alone = token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip()
        same = token.start[1] == first.start[1] and token.start[0] == group[-1].start[0] + 1
        if not (alone and same):
            break
        group.append(token)
    return group


def words_of_strings(group: list[tokenize.TokenInfo], start: int, end: int) -> Words | None:
    parts = [opened(token.string) for token in group]
    text = "".join(body for _, _, body in parts)
    prefix = max((prefix for prefix, _, _ in parts), key=len)
    quote = parts[0][1]
    formatted = "f" in prefix.lower()
    words = FIELD.sub("", text) if formatted else text
    if "b" in prefix.lower() or not WORD.search(words):
        return None
    kind = "docstring" if len(quote) == 3 else "string"
    return Words(text, start, end, kind, prefix, quote, group[0].start[1])


def opened(string: str) -> tuple[str, str, str]:
    """The prefix, the quotes and the body of a string as it stands in the source."""
    match = OPENING.match(string)
    assert match, string
    quote = match["quote"]
    return match["prefix"], quote, string[match.end() : -len(quote)]


def line_offsets(source: str) -> dict[int, int]:
    """{number of a line, from 1: offset of its first character}."""
    offsets, total = {}, 0
    for number, line in enumerate(source.splitlines(keepends=True), start=1):
        offsets[number] = total
        total += len(line)
    offsets[len(offsets) + 1] = total
    return offsets


def strings_that_are_code(source: str) -> set[tuple[int, int]]:
    """Where strings stand that can be no words: subscripts, certain arguments."""
    lines = source.splitlines()
    found: set[tuple[int, int]] = set()

    def note(node: ast.AST) -> None:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Constant | ast.JoinedStr):
                column = len(lines[inner.lineno - 1].encode()[: inner.col_offset].decode())
                found.add((inner.lineno, column))

    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Subscript):
            note(node.slice)
        elif isinstance(node, ast.keyword) and CODE_KEYWORD.fullmatch(node.arg or ""):
            note(node.value)
        elif isinstance(node, ast.Call) and node.args:
            name = ast.unparse(node.func).rpartition(".")[2]
            if CODE_CALL.fullmatch(name):
                note(node.args[0])
    return found


def translate_code(source: str, translate: Callable[[str], str]) -> str:
    """The source with each message replaced by its translation, wrapped anew where it was."""
    for words in reversed(words_of_code(source)):
        text = translate(words.message)
        if text != words.message:
            source = source[: words.start] + written(words, text, source) + source[words.end :]
    return source


def written(words: Words, text: str, source: str) -> str:
    """A translation as code: a comment, or a string in as many lines as it needs."""
    several = "\n" in source[words.start : words.end]
    if words.kind == "docstring":
        return f"{words.prefix}{words.quote}{text}{words.quote}"
    break_ = "\n" + " " * words.indent
    if words.kind == "comment":
        lines = wrapped(text, WIDTH - words.indent - 2) if alone(words, source) else [text]
        return break_.join(f"# {line}" for line in lines)
    room = WIDTH - words.indent - 3 if several else 10_000
    return break_.join(
        f"{words.prefix}{words.quote}{line}{words.quote}" for line in wrapped(text, room, " ")
    )


def alone(words: Words, source: str) -> bool:
    return not source[: words.start].rpartition("\n")[2].strip()


def wrapped(text: str, room: int, kept: str = "") -> list[str]:
    """The text in lines of at most so many columns, broken at spaces that stand outside fields.

    Args:
        kept: what stands at the end of a line in the place of the space that is taken there.
    """
    lines = [""]
    for word in re.findall(r"(?:\{[^{}]*\}|[^\s])+\s*|\s+", text):
        if lines[-1] and columns(lines[-1] + word.rstrip()) > room:
            lines.append("")
        lines[-1] += word
    return lines if kept else [line.rstrip() for line in lines]


def columns(text: str) -> int:
    """How many columns a text takes where Hangul is twice as wide as a Latin letter."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def same_code(one: str, other: str) -> bool:
    """Whether two sources differ in words alone: strings, their order in an f-string, comments."""
    return tree(one) == tree(other)


def tree(source: str) -> str:
    parsed = ast.parse(source)
    for node in ast.walk(parsed):
        if isinstance(node, ast.JoinedStr):
            fields = [value for value in node.values if isinstance(value, ast.FormattedValue)]
            node.values = sorted(fields, key=ast.dump)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = ""
    return ast.dump(parsed)
