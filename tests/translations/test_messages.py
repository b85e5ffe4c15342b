"""What of a Markdown source or a code cell is a message, and how a translation is put back."""

from __future__ import annotations

import nbformat
import pytest

from tools.translations.code import columns, same_code, translate_code, words_of_code
from tools.translations.markdown import (
    BLOCK,
    INSIDE,
    TITLE,
    messages_of_markdown,
    pieces,
    translate_markdown,
)
from tools.translations.notebooks import translate_notebook, with_language
from tools.translations.package import words_of_exercises
from tools.translations.pages import translate_rst

MARKDOWN = """\
# Masks

A **mask** of $x_{\\text{model}}$
in two lines.

<details>
<summary>Guess, then open.</summary>

- one
- two

</details>

$$
x = 1
$$

$$
M = 0 \\text{ where allowed}
$$

```python
x = 1
```

```python
x = 1  # a number
```

(a-target)=
:::{note}
:class: tip
Inside it.
:::

`code` $x$ 12
"""
MESSAGES = [
    "Masks",
    "A **mask** of $x_{\\text{model}}$\nin two lines.",
    "<summary>Guess, then open.</summary>",
    "- one\n- two",
    "$$\nM = 0 \\text{ where allowed}\n$$",
    "```python\nx = 1  # a number\n```",
    "Inside it.",
]


def test_blocks_of_markdown_are_messages_and_their_marks_are_not():
    assert messages_of_markdown(MARKDOWN) == MESSAGES
    assert "".join(text for text, _ in pieces(MARKDOWN)) == MARKDOWN


def test_a_title_and_what_a_directive_holds_are_told_from_a_block():
    found = {how: [] for how in (TITLE, INSIDE, BLOCK)}
    translate_markdown(MARKDOWN, lambda text, how: found[how].append(text) or text)
    assert (found[TITLE], found[INSIDE]) == (["Masks"], ["Inside it."])


CODE = '''\
def f(x):
    """Twice x."""
    # What is returned
    # is a number.
    return 2 * x  # (B, S) twice


print("row AI:", f"{f(1):.2f} is twice {1}", x["key name"], end="")
ax.set_title("a long title "
             "in two lines", color="dark red")
check("masks-1", values.sum(axis=1))
n = 1  # (B, S)
'''
WORDS = [
    "Twice x.",
    "What is returned is a number.",
    "(B, S) twice",
    "row AI:",
    "{f(1):.2f} is twice {1}",
    "a long title in two lines",
]


def test_words_of_code_are_messages_and_code_is_not():
    assert [words.message for words in words_of_code(CODE)] == WORDS


def test_a_translation_is_put_back_where_its_words_stood():
    hangul = {
        "Twice x.": "x의 두 배.",
        "What is returned is a number.": "돌려주는 값은 수이다. " * 5,
        "{f(1):.2f} is twice {1}": "{1}의 두 배는 {f(1):.2f}",
        "a long title in two lines": "두 줄로 된 긴 제목 " * 5 + "끝",
    }
    result = translate_code(CODE, lambda text: hangul.get(text, text))
    assert same_code(CODE, result)
    assert '"""x의 두 배."""' in result
    assert 'f"{1}의 두 배는 {f(1):.2f}"' in result
    assert max(map(columns, result.splitlines())) <= 90
    [title] = [
        words for words in words_of_code(result.replace("두", "ab")) if "제목" in words.message
    ]
    assert title.message == hangul["a long title in two lines"].replace("두", "ab")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ('print("a", x)', 'print("가", x)', True),
        ('print(f"{a} of {b}")', 'print(f"{b} 중 {a}")', True),
        ('print(f"{a} of {b}")', 'print(f"{b} 중 {b}")', False),
        ("x = 1", "x = 2", False),
        ("f(x)  # twice", "f(x)  # 두 배", True),
    ],
)
def test_code_is_compared_without_its_words(one, other, same):
    assert same_code(one, other) == same


def test_a_notebook_without_translations_is_english_and_says_so():
    cells = [
        nbformat.v4.new_markdown_cell("# Masks\n\nOne paragraph.", id="masks-01"),
        nbformat.v4.new_code_cell(
            'import qkv.numpy as qn\n\nstyle()\nprint("one word")  # two words',
            id="masks-02",
            metadata={"mystnb": {"image": {"alt": "A picture"}}},
        ),
    ]
    notebook = nbformat.v4.new_notebook(cells=cells)
    known = {"A picture": "그림", "one word": "한 단어"}
    asked = []

    def translate(text, place=""):
        asked.append((text, place))
        return known.get(text)

    prose, code = translate_notebook(notebook, "ko", translate).cells
    assert prose.source.startswith("# Masks (English)\n\n<div class=")
    assert 'lang="en">\n\nOne paragraph.\n\n</div>' in prose.source
    assert code.metadata.mystnb.image.alt == "그림"
    assert code.source == (
        'import qkv\nimport qkv.numpy as qn\n\nqkv.set_language("ko")\nstyle()\n'
        'print("한 단어")  # two words'
    )
    assert ("one word", "masks-02") in asked
    assert notebook.cells[1].metadata.mystnb.image.alt == "A picture"


def test_the_language_is_chosen_before_the_style():
    source = "import numpy as np\n\nfrom qkv.plot import style\n\nstyle()\nx = 1"
    assert with_language(source, "ko").splitlines() == [
        *("import numpy as np", "", "import qkv", "from qkv.plot import style", ""),
        *('qkv.set_language("ko")', "style()", "x = 1"),
    ]


def test_the_strings_of_several_words_are_an_exercises_messages():
    source = (
        '"""A module."""\nA = "one"\nB = ("two words " "more")\nC = f"two words {x}"\nD = ", "\n'
    )
    assert list(words_of_exercises(source)) == ["two words more"]


def test_a_title_in_restructured_text_is_underlined_to_its_width():
    source = "The library\n===========\n\nSome words.\n\n.. automodule:: qkv\n   :members:\n"
    result = translate_rst(source, lambda text: {"The library": "라이브러리"}.get(text, "말."))
    assert result == "라이브러리\n==========\n\n말.\n\n.. automodule:: qkv\n   :members:\n"
