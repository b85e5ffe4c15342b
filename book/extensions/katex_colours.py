r"""Colour the letters of query, key, value and output in a formula's LaTeX.

``Q K V O`` are coloured wherever they stand (``W_Q`` too), ``q k v o`` only at base level: the k
of ``d_k`` or of ``\sum_k`` is a name or an index. Text is left alone, and so is
``\mathnormal{k}``, the way to keep a letter plain.
"""

import re
from collections.abc import Iterator

ROLES = {"q": "query", "k": "key", "v": "value", "o": "output"}
# Commands whose first argument is text, a name or a length, not a formula's letters.
OPAQUE = re.compile(
    r"\\(?:begin|color|end|hskip|hspace|htmlClass|kern|label|math(?:cal|normal|rm|tt)|mbox"
    r"|operatorname\*?|tag|text(?:bf|color|it|rm|tt)?)"
)
SIZES = {r"\left", r"\big", r"\bigl", r"\Big", r"\Bigl", r"\,", r"\!"}
TOKEN = re.compile(r"\\operatorname\*|\\[A-Za-z]+|\\.|.", re.DOTALL)


def colour(latex: str) -> str:
    r"""Return the formula with ``{\htmlClass{qkv-query}{Q}}`` for each coloured letter."""
    tokens = [match.group() for match in TOKEN.finditer(latex)]
    return "".join(_coloured(tokens))


def _coloured(tokens: list[str]) -> Iterator[str]:
    groups: list[bool] = [False]  # for each open brace: is it inside a subscript or superscript?
    script = False  # the next atom is one
    position = 0
    while position < len(tokens):
        token = tokens[position]
        position += 1
        if token in "_^":
            script = True
        elif token == "{":
            groups.append(groups[-1] or script)
            script = False
        elif token == "}":
            groups = groups[:-1] or [False]
        elif OPAQUE.fullmatch(token):
            end = _end_of_argument(tokens, position)
            token += "".join(tokens[position:end])
            position, script = end, False
        elif not token.isspace():
            if _is_coloured(token, groups[-1] or script, tokens[position:]):
                token = rf"{{\htmlClass{{qkv-{ROLES[token.lower()]}}}{{{token}}}}}"
            script = False
        yield token


def _is_coloured(token: str, in_script: bool, rest: list[str]) -> bool:
    if token == "O" and not in_script:
        # O(n²) is an order of growth, not the output.
        following = next((t for t in rest if not t.isspace() and t not in SIZES), "")
        return following not in ("(", "[")
    return token.lower() in ROLES and (token.isupper() or not in_script)


def _end_of_argument(tokens: list[str], start: int) -> int:
    while start < len(tokens) and tokens[start].isspace():
        start += 1
    if start >= len(tokens) or tokens[start] != "{":
        return min(start + 1, len(tokens))
    depth = 0
    for index in range(start, len(tokens)):
        depth += {"{": 1, "}": -1}.get(tokens[index], 0)
        if depth == 0:
            return index + 1
    return len(tokens)
