"""The JavaScript room and a model's parameters as scripts, which any page may load."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from qkv.bridge import to_bytes
from qkv.corpus import glosses, sentences
from qkv.javascript.bundle import as_plain_script, in_order_of_imports
from qkv.javascript.sentence_automaton import sentence_automaton
from qkv.pretrained.lenient_tokenizer import LenientTokenizer
from qkv.translator import Translator

ROOM = Path(__file__).parent


def engine_files() -> list[Path]:
    """The engine's files, in the order of their imports; the last is index.js, which exports it."""
    index = ROOM / "index.js"
    return [file for file in in_order_of_imports(ROOM) if file != index] + [index]


def engine_script() -> str:
    """The engine as a script, which puts what index.js exports into globalThis.qkvEngine."""
    return as_plain_script("qkvEngine", engine_files())


def checkpoint_content(translator: Translator) -> dict[str, Any]:
    """What the page's `Translator` takes beside the parameters, for JSON."""
    content: dict[str, Any] = {"model": asdict(translator.model.config)}
    content["max_len"] = translator.max_len
    for side in ("source", "target"):
        content[side] = json.loads(getattr(translator, side).to_bytes())
    if isinstance(translator.source, LenientTokenizer):
        content["source"]["language"] = translator.source.language
    return content


def page_content(translator: Translator) -> dict[str, Any]:
    """The same with the grammar's sentences and glosses, for the model that was trained on it."""
    content = checkpoint_content(translator)
    if isinstance(translator.source, LenientTokenizer):
        content["sentences"] = grammar(translator.source.tokens)
        content["glosses"] = dict(glosses())
    return content


@cache
def grammar(tokens: tuple[str, ...]) -> dict[str, list[Any]]:
    """All English sentences of the grammar, for suggestions; `tokens` holds the words by id."""
    return sentence_automaton((pair.source for pair in sentences()), tokens.index)


def parameters_script(translator: Translator) -> str:
    """A script that puts a translator into globalThis.qkvParameters: safetensors in base64."""
    content = page_content(translator)
    content["parameters"] = b64encode(to_bytes(translator.model)).decode()
    return f"globalThis.qkvParameters = {json.dumps(content)};\n"
