"""What the build writes for the model in the page: three scripts, small, that only compute."""

from __future__ import annotations

import gzip
import importlib
import json
import re
import sys
from base64 import b64decode
from graphlib import CycleError
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from qkv.bridge import from_bytes
from qkv.javascript.bundle import in_order_of_imports, minify
from qkv.javascript.scripts import ROOM
from qkv.pretrained import pretrained

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "book" / "extensions"))
model_in_page = importlib.import_module("model_in_page")
MODULES = [*sorted(ROOM.glob("*.js")), ROOT / "book" / "assets" / "load_model.js"]
LIMIT = 1_200_000  # bytes of all three, compressed


@pytest.fixture(scope="module")
def scripts():
    return model_in_page.model_scripts()


def test_the_build_writes_them_for_pages_alone(tmp_path, scripts):
    for format in ("html", "latex"):
        app = SimpleNamespace(builder=SimpleNamespace(format=format), outdir=tmp_path / format)
        model_in_page.write_loader(app)
        model_in_page.write_large(app, None)
    assert not (tmp_path / "latex").exists()
    folder = tmp_path / "html" / "_static" / "model"
    assert {path.name: path.read_text("utf-8") for path in folder.iterdir()} == scripts


def test_they_are_small(scripts):
    sizes = {name: len(gzip.compress(text.encode(), 9)) for name, text in scripts.items()}
    assert sum(sizes.values()) < LIMIT
    assert sizes["engine.js"] < 18_000
    assert sizes["load_model.js"] < 1_000  # the only one that a page loads unasked


def test_the_loader_names_the_others_by_their_content(scripts):
    for name in ("engine.js", "parameters.js"):
        checksum = sha256(scripts[name].encode()).hexdigest()[:8]
        assert f'"{name}?v={checksum}"' in scripts["load_model.js"]
    assert "{{" not in scripts["load_model.js"]


def test_the_parameters_are_those_that_ship(scripts):
    content = json.loads(scripts["parameters.js"].partition("=")[2].rstrip(";\n"))
    translator = pretrained()
    stored = from_bytes(b64decode(content["parameters"]), "parameters.js")
    for name, value in translator.model.state_dict().items():
        np.testing.assert_array_equal(stored.pop(name), value)
    assert stored == {}
    assert tuple(content["source"]["tokens"]) == translator.source.tokens
    assert content["source"]["language"] == "English"
    assert tuple(content["target"]["tokens"]) == translator.target.tokens
    assert content["max_len"] == translator.max_len == 16


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_a_module_is_short_and_asks_nobody(path):
    text = path.read_text("utf-8")
    assert len(text.splitlines()) <= 150
    assert max(map(len, text.splitlines())) <= 112
    assert not re.search(
        r"\beval\b|new Function|\bfetch\b|XMLHttp|import\(|innerHTML|Worker|//\w", text
    )


def test_every_module_is_in_the_engine_and_none_is_lost_on_the_way(scripts):
    order = [path.stem for path in in_order_of_imports(ROOM)]
    assert sorted(order) == sorted(path.stem for path in ROOM.glob("*.js"))
    for name in order:
        assert scripts["engine.js"].count(f"const {name}_js = (() => {{") == 1
    assert order.index("softmax") < order.index("scaled_dot_product") < order.index("multi_head")
    assert not re.search(r"^(import|export) ", scripts["engine.js"], re.MULTILINE)


def test_a_circle_of_imports_is_refused(tmp_path):
    (tmp_path / "a.js").write_text('import { b } from "./b.js";\nexport const a = b;\n')
    (tmp_path / "b.js").write_text('import { a } from "./a.js";\nexport const b = a;\n')
    with pytest.raises(CycleError):
        in_order_of_imports(tmp_path)


def test_comments_are_left_out_and_code_that_looks_like_one_stays():
    text = (
        "/**\n * What.\n */\n  f(a * b, /x/); // note\n// gone\n\n/* head */\nconst c = d\n  * e;\n"
    )
    assert minify(text) == "f(a * b, /x/); // note\nconst c = d\n* e;\n"
