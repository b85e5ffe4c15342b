"""A search in Korean: words with particles find what stands there without, in index and query."""

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sphinx.application import Sphinx

from tests.helpers.node import node

ROOT = Path(__file__).parents[2]
EXTENSIONS = ROOT / "book" / "extensions"
sys.path.append(str(EXTENSIONS))
korean_search = importlib.import_module("korean_search")

# Nouns of the book, each with what may hang on it.
NOUNS = """
어텐션 마스크 임베딩 소프트맥스 헤드 쿼리 인코더 디코더 패딩 스케일링 토큰 벡터 행렬 가중치 기울기
키 값 층 행 열 길이 차원 정규화 잔차 온도 확률 손실 학습률 softmax Attention d_k queries fp16
"""
HUNG_ON = ["", "을", "를", "에서는", "으로부터", "들의", "마다", "입니다", "이라는"]
WORDS = [noun + ending for noun in NOUNS.split() for ending in HUNG_ON]
ASKED = {
    "어텐션을": "어텐션",
    "마스크의": "마스크",
    "임베딩에서": "임베딩",
    "소프트맥스로": "소프트맥스",
    "헤드마다": "헤드",
    "쿼리와": "쿼리",
    "인코더는": "인코더",
    "패딩을": "패딩",
    "스케일링이": "스케일링",
    "토큰으로": "토큰",
    "값으로는": "값",
    "키에서는": "키",
    "길이는": "길이",
    "벡터들은": "벡터",
    "스케일링합니다": "스케일링",
}
CHAPTERS = {
    "chapters/03_attention": "쿼리, 키, 값",
    "chapters/05_masks": "보이는 것만 보기",
    "chapters/11_training": "마스크와 학습",
}
GLOSSARY = """
어텐션
  **attention** · 값을 섞습니다. · 3장

마스크
  **mask** · 어디를 볼지 정합니다. · 5장

배율 (크기)
  **scale (a factor)** · 곱하는 수입니다.
"""
LOOK_UP = """
const vm = require("vm"), { readFileSync } = require("fs");
const nothing = () => null;
const document = { getElementById: nothing, documentElement: { dataset: {} } };
const page = { document, window: {}, location: {}, _ready: nothing };
const context = vm.createContext({ ...page, SPHINX_HIGHLIGHT_ENABLED: false });
const run = (text) => vm.runInContext(text, context);
const [folder, ...asked] = process.argv.slice(1);
for (const name of ["language_data", "searchtools", "search_page"])
  run(readFileSync(`${folder}/_static/${name}.js`, "utf8"));
run(readFileSync(`${folder}/searchindex.js`, "utf8"));
console.log(JSON.stringify(asked.map((words) => {
  context.words = words;
  const results = run("Search._performSearch(...Search._parseQuery(words))").reverse();
  return results.map(([page, , anchor]) => page + anchor);
})));
"""


def in_node(script: str, *arguments: str) -> Any:
    command = [node(), "-e", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def indexed(language: Any, text: str) -> list[str]:
    return [language.stem(word) for word in language.split(text)]


def test_the_index_and_a_query_take_the_same_from_every_word() -> None:
    language = korean_search.SearchKorean({})
    assert len(WORDS) > 200
    script = f"""{language.js_splitter_code}\n{language.js_stemmer_code}
    const stemmer = new Stemmer();
    const stem = (word) => stemmer.stemWord(word.toLowerCase());
    const texts = JSON.parse(process.argv[1]);
    console.log(JSON.stringify(texts.map((text) => splitQuery(text).map(stem))))"""
    decomposed = "\u1106\u1161\u1109\u1173\u110f\u1173를"  # as a Mac names its files
    texts = [*WORDS, " ".join(WORDS), "softmax(QKᵀ)를, 2개의 √d_k로!", decomposed]
    assert in_node(script, json.dumps(texts)) == [indexed(language, text) for text in texts]
    assert indexed(language, decomposed) == ["마스크"]


@pytest.mark.parametrize("word", ASKED)
def test_particles_and_endings_come_off(word: str) -> None:
    language = korean_search.SearchKorean({})
    assert indexed(language, word) == indexed(language, ASKED[word]) == [ASKED[word]]


def test_words_part_where_hangul_begins_and_lone_particles_are_none() -> None:
    language = korean_search.SearchKorean({})
    assert language.split("softmax를 d_k로 이 BERT입니다, 3차원") == [
        *["softmax", "d_k", "BERT", "3", "차원"]
    ]
    assert indexed(language, "Queries의") == ["queri"]
    assert not language.word_filter("것")
    assert language.word_filter("값")


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A small Korean book, built."""
    folder = tmp_path_factory.mktemp("book")
    for page, title in CHAPTERS.items():
        path = (folder / page).with_suffix(".md")
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"# {title}\n\n여기서 어텐션을 마스크로 가립니다.\n", encoding="utf-8")
    (folder / "chapters" / "02_embedding.md").write_text("# 글에서 벡터로\n\n## 토큰의 쓸모\n\n글.")
    glossary = f"# 용어집\n\n```{{glossary}}\n{GLOSSARY.strip()}\n```\n"
    pages = "\n".join(["glossary", "chapters/02_embedding", *CHAPTERS])
    toc = f"# 책\n\n## 패딩의 자리\n\n```{{toctree}}\n{pages}\n```\n"
    (folder / "glossary.md").write_text(glossary, encoding="utf-8")
    (folder / "index.md").write_text(toc, encoding="utf-8")
    settings = {
        "extensions": ["myst_parser", "korean_search", "glossary_terms"],
        "html_theme": "basic",
        "language": "ko",
        "html_static_path": [str(ROOT / "book" / "assets" / "search_page.js")],
    }
    out = folder / "html"
    app = Sphinx(folder, None, out, folder / "trees", "html", settings, status=None, warning=None)
    app.build()
    return str(out)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("어텐션을", "chapters/03_attention"),
        ("Attention", "chapters/03_attention"),
        ("마스크의", "chapters/05_masks"),
        ("mask", "chapters/05_masks"),
        ("배율은", "glossary#"),
        ("scale", "glossary#"),
        ("토큰으로", "chapters/02_embedding"),
        ("패딩을", "index"),
        ("이 앞에", ""),
    ],
)
def test_a_query_leads_to_the_chapter_of_a_term_or_else_to_its_entry(
    book: str, asked: str, found: str
) -> None:
    results = in_node(LOOK_UP, book, asked)[0]
    assert results[0].startswith(found) if found else not results


def test_the_entry_follows_and_then_other_chapters_in_reading_order(book: str) -> None:
    (results,) = in_node(LOOK_UP, book, "마스크를")
    pages = [result.partition("#")[0] for result in results]
    assert pages[:3] == ["chapters/05_masks", "glossary", "chapters/11_training"]
    assert set(pages[3:]) == {"chapters/03_attention", "glossary", "index"}


def test_a_heading_is_found_as_it_stands_with_its_inner_particles(book: str) -> None:
    (results,) = in_node(LOOK_UP, book, "토큰의 쓸모는")
    assert any(result.startswith("chapters/02_embedding#") for result in results)
