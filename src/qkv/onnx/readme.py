"""The README of an exported folder: what its files take and give, and a greedy loop to run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from qkv.text import SPECIAL_TOKENS, UNK, Tokenizer
from qkv.translator import Translator

if TYPE_CHECKING:
    from onnx import ModelProto, ValueInfoProto

__all__ = ["axes", "readme"]

DTYPES = {7: "int64", 9: "bool", 1: "float32"}  # as onnx.TensorProto counts them
EXAMPLE = "The cat sat on the mat"  # of a model that has no example, and knows the words
WORDS, CHARACTERS, BPE = "words", "characters", "bpe"
ENCODE = {
    WORDS: "ids = [source.index(word) if word in source else UNK for word in text.split()]",
    CHARACTERS: "ids = [source.index(c) if c in source else UNK for c in text]",
    BPE: """\
from tokenizers import Tokenizer, models, pre_tokenizers

merges = [tuple(merge.split()) for merge in read("source.json")["merges"]]
numbers = {token: n for n, token in enumerate(source)}
bpe = Tokenizer(models.BPE(vocab=numbers, merges=merges, unk_token="<unk>"))
spaces = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
bpe.pre_tokenizer = pre_tokenizers.Sequence([spaces, pre_tokenizers.Punctuation()])
ids = bpe.encode(text).ids""",
}
DECODE = {
    WORDS: 'print(" ".join(target[n] for n in written))',
    CHARACTERS: 'print("".join(target[n] for n in written))',
    BPE: 'print(" ".join("".join(target[n] for n in written).replace("▁", " ").split()))',
}


def readme(
    models: Mapping[str, ModelProto],
    versions: Mapping[str, str],
    translator: Translator,
) -> str:
    """The text of README.md.

    Args:
        models: by the names of their files.
        versions: of what wrote them, by name.
        translator: that is exported.
    """
    source, target = translator.source, translator.target
    template = (files("qkv.onnx") / "templates" / "README.md").read_text("utf-8")
    return Template(template).substitute(
        versions=", ".join(f"{name} {version}" for name, version in versions.items()),
        values="\n".join(_rows(models)),
        text=repr(_example(translator)),
        packages="numpy onnxruntime tokenizers" if _kind(source) == BPE else "numpy onnxruntime",
        max_len=translator.max_len,
        encode=ENCODE[_kind(source)],
        decode=DECODE[_kind(target)],
    )


def axes(value: ValueInfoProto) -> str:
    """The shape of an input or an output, such as "(B, S, 64)"."""
    sizes = [axis.dim_param or str(axis.dim_value) for axis in value.type.tensor_type.shape.dim]
    return f"({', '.join(sizes)})"


def _rows(models: Mapping[str, ModelProto]) -> Iterator[str]:
    """A row of the table for each input and output."""
    for file, model in models.items():
        for way, values in (("in", model.graph.input), ("out", model.graph.output)):
            for value in values:
                dtype = DTYPES[value.type.tensor_type.elem_type]
                yield f"| `{file}` | {way} | `{value.name}` | {dtype} | {axes(value)} |"


def _kind(tokenizer: Tokenizer) -> str:
    if tokenizer.characters:
        return CHARACTERS
    return WORDS if tokenizer.merges is None else BPE


def _example(translator: Translator) -> str:
    """A text that the model can read; a few of its tokens where no better one is known."""
    source = translator.source
    for text in (translator.example, EXAMPLE):
        if isinstance(text, str) and _can_read(translator, text):
            return text
    first = len(SPECIAL_TOKENS)
    return source.decode(range(first, min(first + 3, len(source))))


def _can_read(translator: Translator, text: str) -> bool:
    try:
        ids = translator.source.encode(text, eos=True)
    except ValueError:  # a tokenizer that refuses what it does not know
        return False
    return UNK not in ids and 1 < len(ids) <= translator.max_len
