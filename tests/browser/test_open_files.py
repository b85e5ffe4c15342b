"""A reader's own model from files: both kinds open and compute; what is no model is refused."""

from __future__ import annotations

import json
import struct
from base64 import b64encode
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import load, save

from qkv.bridge import to_bytes
from qkv.commands import export, train
from qkv.javascript.model_file import SIZE_LIMIT, model_file
from qkv.translator import Translator
from tests.browser.conftest import LARGE, Watch
from tests.browser.model_page import NumPyRoom, ask_opened, write_page
from tests.helpers.training import PAIRS, SHORT, SMALL, write_pairs
from tests.helpers.translators import checkpoint

CLOSE = 1e-4
LONGEST_SENTENCE = 300  # characters, whatever the file holds
LONG = "a" * 100_000
DECODE = """const decode = (files) => files.map(([name, text]) =>
  new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], name));"""
TRY = f"""async (all) => {{
  {DECODE}
  const {{ openFiles }} = await qkvModel.loadEngine();
  return Promise.all(all.map((files) => openFiles(decode(files)).then(
    (translator) => ({{ parameters: translator.parameterCount }}),
    ({{ name, kind, message }}) => ({{ name, kind, message }}))));
}}"""
KINDS = {
    "words": ["--words", "--positions", "learned", "--no-norm-first"],
    "bpe": [
        "--vocab-size",
        "60",
        "--norm",
        "rms",
        "--positions",
        "rotary",
        "--activation",
        "swiglu",
    ],
}


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    home = write_page(tmp_path_factory.mktemp("model"))
    context, watch = browser.new_context(**LARGE), Watch(home.parent.as_uri())
    context.on("page", watch.follow)
    page = context.new_page()
    page.goto(home.as_uri())
    yield page
    context.close()
    watch.check()


def encoded(files):
    return [[name, b64encode(data).decode()] for name, data in files.items()]


def opened(page, *chosen):
    """What the page says of each choice of files: the size of a model, or an error."""
    return page.evaluate(TRY, [encoded(files) for files in chosen])


def refusal(page, data):
    """The sentence by which a file is refused."""
    (found,) = opened(page, {"a": data})
    return sentence(found)


def sentence(found):
    assert (found.get("name"), found.get("kind")) == ("InputError", "file"), found
    assert found["message"].endswith(".")
    assert len(found["message"]) < LONGEST_SENTENCE
    return found["message"]


@pytest.fixture(scope="module", params=KINDS)
def folder(request, tmp_path_factory):
    """What `qkv train` has written after a few steps."""
    home = tmp_path_factory.mktemp(request.param)
    own = [*SMALL, *SHORT, *KINDS[request.param], "--out", str(home / "model")]
    assert train.main([*write_pairs(home / "text"), *own]) == 0
    return home / "model"


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def rounded(translator):
    """The same with its parameters rounded to float16."""
    for _, value in translator.model.named_parameters():
        value[...] = value.astype(np.float16)
    return translator


@pytest.mark.parametrize("way", ["folder", "float32", "float16"])
def test_what_train_saves_answers_in_the_page_as_in_the_room(page, folder, way, tmp_path):
    translator = Translator.from_checkpoint(folder)
    files = contents(folder)
    if way != "folder":
        file = tmp_path / "mine.safetensors"
        assert export.main([str(folder), "--safetensors", str(file), "--dtype", way]) == 0
        files = {file.name: file.read_bytes()}
    if way == "float16":
        translator = rounded(translator)
    room = NumPyRoom(translator)
    uniforms = [0.5] * translator.max_len
    common = {"options": {}, "sampling": {"uniforms": uniforms}, "search": {"beamSize": 2}}
    asked = [{"text": pair[0], **common} for pair in PAIRS[:3]]
    opened = "(await qkvModel.loadEngine()).openFiles(decode(files))"
    how = f"await (async (files) => {{ {DECODE} return {opened}; }})(content)"
    for answer in ask_opened(page, how, asked, encoded(files)):
        assert answer["ids"] == translator.source.encode(asked[0]["text"], eos=True).tolist()
        asked.pop(0)
        tokens, _ = room.greedy(answer["ids"])
        assert answer["tokens"] == tokens
        expected = room.numbers(answer["ids"], tokens)
        np.testing.assert_allclose(answer["numbers"], expected, rtol=0, atol=CLOSE)


@pytest.fixture(scope="module")
def trained():
    return checkpoint("words")


@pytest.fixture(scope="module")
def good(trained):
    return model_file(Translator.from_checkpoint(trained))


@pytest.mark.parametrize(("norm_first", "placement"), [(False, "post"), (True, "pre")])
def test_a_file_is_read_by_the_former_names_of_its_fields(page, trained, norm_first, placement):
    config = replace(trained.config, norm_first=norm_first, final_norm=True)
    trained = replace(trained, config=config)
    translator = Translator.from_checkpoint(trained)

    def rename(metadata, _):
        model = metadata["model"]
        assert model.pop("norm_first") == norm_first
        model |= {"norm_placement": placement, "tie": model.pop("tie_word_embeddings")}

    former = changed_file(model_file(translator), rename)
    opened = "(await qkvModel.loadEngine()).openFiles(decode(files))"
    how = f"await (async (files) => {{ {DECODE} return {opened}; }})(content)"
    sampling = {"uniforms": [0.5] * translator.max_len}
    common = {"options": {}, "sampling": sampling, "search": {"beamSize": 2}}
    asked = [{"text": PAIRS[0][0], **common}]
    (answer,) = ask_opened(page, how, asked, encoded({"a": former}))
    tokens, _ = NumPyRoom(translator).greedy(answer["ids"])
    expected = NumPyRoom(translator).numbers(answer["ids"], tokens)
    np.testing.assert_allclose(answer["numbers"], expected, rtol=0, atol=CLOSE)
    other = changed_file(former, put("model", norm_placement="both"))
    assert "norm_first must be false or true" in refusal(page, other)


TWO_BYTES = {  # by dtype: from bits to float32, and the bits of infinity
    "F16": (lambda bits: bits.view(np.float16).astype(np.float32), 0x7C00),
    "BF16": (lambda bits: (bits.astype(np.uint32) << 16).view(np.float32), 0x7F80),
}


@pytest.mark.parametrize("dtype", TWO_BYTES)
def test_numbers_of_two_bytes_are_read_as_they_are(page, good, dtype):
    to_float32, infinity = TWO_BYTES[dtype]
    header, numbers = split(good)
    for name, entry in header.items():
        if name != "__metadata__":
            offsets = [offset // 2 for offset in entry["data_offsets"]]
            entry.update(dtype=dtype, data_offsets=offsets)
    first, last = (offset // 2 for offset in header["source_embedding.weight"]["data_offsets"])
    bits = np.linspace(0, infinity - 1, last - first).astype(np.uint16)  # from 0 to the largest
    bits[::2] |= 0x8000  # their sign
    short = np.zeros(len(numbers) // 4, np.uint16)
    short[first:last] = bits
    script = f"""async (files) => {{
      {DECODE}
      const translator = await (await qkvModel.loadEngine()).openFiles(decode(files));
      return [...translator.model.sourceTable.data];
    }}"""
    found = page.evaluate(script, encoded({"a": joined(header, short.tobytes())}))
    np.testing.assert_array_equal(np.float32(found), to_float32(bits))
    for wrong in (infinity, infinity + 1, infinity | 0x8000):
        short[first] = wrong
        assert "NaN or infinity" in refusal(page, joined(header, short.tobytes()))


def split(data):
    (length,) = struct.unpack("<Q", data[:8])
    return json.loads(data[8 : 8 + length]), data[8 + length :]


def joined(header, numbers):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + numbers


NO_MODEL = {
    "empty.safetensors": (b"", "is empty"),
    "cat.png": (b"\x89PNG\r\n\x1a\n" + bytes(50), "is a picture"),
    "cat.jpg": (b"\xff\xd8\xff\xe0" + bytes(50), "is a picture"),
    "notes.txt": ("The cat sat. 고양이".encode(), "is a text"),
    "older.txt": ("고양이".encode("euc-kr"), "is a text"),
    "package.json": (b'{"name": "x", "files": [1, 2, 3]}', "is JSON of something else"),
    "model.pt": (b"PK\x03\x04" + bytes(50), "a checkpoint of PyTorch"),
    "pytorch_model.bin": (b"\x80\x02}q\x00." + bytes(50), "qkv export CHECKPOINT --safetensors"),
    "old": (b"\x80\x02}q\x00." + bytes(50), "a checkpoint of PyTorch"),
    "a.zip": (b"PK\x03\x04" + bytes(50), "is an archive"),
    "decoder.onnx": (b"\x08\x0a" + bytes(50), "a model in ONNX"),
    "gpt2.safetensors": (save({"wte.weight": np.ones((3, 2))}), "without configuration"),
    "parameters-0123456789abcdef.safetensors": (
        save({"a": np.ones(2, np.float32)}),
        "is one part of a checkpoint",
    ),
    "noise": (bytes(range(255, 0, -1)), "header is cut short"),
    "short": (b"\xff\xfe\x00", "it is cut short"),
    "best.json": (b'{"format": "qkv checkpoint 1"}', "older version of qkv"),
    "last.json": (b"[]", "is no checkpoint of qkv train"),
}


def test_what_is_no_model_is_called_by_its_name(page):
    found = opened(page, *({name: data} for name, (data, _) in NO_MODEL.items()))
    for (name, (_, words)), one in zip(NO_MODEL.items(), found, strict=True):
        assert words in sentence(one), name


def test_files_of_a_folder_are_taken_in_their_order_and_named_where_they_are_missing(
    page, trained, tmp_path
):
    trained.save(tmp_path / "last.json")
    last = contents(tmp_path)
    (parameters,) = (name for name in last if name.startswith("parameters"))
    half = {name: value * 0 + 1 for name, value in trained.parameters.items()}
    replace(trained, parameters=half).save(tmp_path / "best.json")
    best_alone = {"best.json": (tmp_path / "best.json").read_bytes()}
    complete, some, missing, nothing = opened(
        page,
        contents(tmp_path),
        {**last, **best_alone},  # the parts of last.json alone
        {name: data for name, data in last.items() if name != parameters},
        {"a.txt": b"a", "b.txt": b"b"},
    )
    assert complete["parameters"] == some["parameters"]
    assert sentence(missing) == (
        f"Files are missing: last.json goes with {parameters}. Choose them together."
    )
    assert "Here is no model to open" in sentence(nothing)


def changed_file(good, change):
    header, numbers = split(good)
    metadata = {
        name: text if name == "format" else json.loads(text)
        for name, text in header.pop("__metadata__").items()
    }
    tensors = {name: value.copy() for name, value in load(joined(header, numbers)).items()}
    change(metadata, tensors)
    texts = {n: v if n == "format" else json.dumps(v) for n, v in metadata.items()}
    return to_bytes(tensors, texts)


def fill(name, value):
    return lambda _, tensors: tensors[name].__setitem__(0, value)


def put(part, **values):
    return lambda metadata, _: metadata[part].update(values)


CHANGES = {
    "nan": (fill("source_embedding.weight", np.nan), "weight holds NaN or infinity"),
    "infinity": (fill("encoder.norm.weight", np.inf), "holds NaN or infinity"),
    "alibi": (put("model", positions="alibi"), 'got "alibi"'),
    "causal": (put("model", causal=False), "causal must be true"),
    "no size": (put("model", d_ff=0), "d_ff must be a whole number above 0"),
    "heads": (put("model", n_heads=5), "n_heads must divide d_model"),
    "fewer layers": (put("model", n_layers=1), "layers.1.cross_attention"),
    "more layers": (put("model", n_layers=3), "layers.2.self_attention.w_q.weight is missing"),
    "shape": (put("model", d_ff=65), "must be (32,65), got (32,64)"),
    "layers": (put("model", n_layers=10**15), "2000000000000000 layers"),
    "decoder": (put("model", n_decoder_layers=0.5), "n_decoder_layers must be"),
    "epsilon": (put("model", norm_eps="1"), "norm_eps must be above 0"),
    "width": (put("model", d_k=3, positions="rotary"), "d_k must be even"),
    "tie_word_embeddings": (put("model", tie_word_embeddings="all"), "two vocabularies"),
    "version": (lambda m, _: m.update(format="qkv model 2"), "another version of qkv"),
    "length": (lambda m, _: m.update(max_len=10**9), "max_len must be a whole number from 1"),
    "no length": (lambda m, _: m.pop("max_len"), "max_len must be a whole number from 1"),
    "no configuration": (lambda m, _: m.pop("model"), "This is no model"),
    "no target": (lambda m, _: m.pop("target"), "This is no model"),
    "fewer tokens": (lambda m, _: m["source"]["tokens"].pop(), "another size"),
    "special tokens": (lambda m, _: m["source"]["tokens"].reverse(), "must begin with <pad>"),
    "numbers": (lambda m, _: m["source"]["tokens"].__setitem__(5, 7), "must be texts"),
    "twice": (
        lambda m, _: m["source"]["tokens"].__setitem__(5, m["source"]["tokens"][6]),
        "stands once",
    ),
    "long token": (
        lambda m, _: m["source"]["tokens"].__setitem__(5, "a" * 1001),
        "A token has more than 1000 characters",
    ),
    "marks": (
        lambda m, _: m["source"]["tokens"].__setitem__(5, "a" + "\u0301" * 31),
        "more than 30 marks on one",
    ),
    "merges": (put("source", merges=7), "merges must be texts"),
    "proto": (lambda _, t: t.update({"__proto__": np.ones(1, np.float32)}), "it holds __proto__"),
    "deep proto": (
        lambda _, t: t.update({"__proto__.polluted": np.ones(1, np.float32)}),
        "it holds __proto__.polluted",
    ),
    "whole numbers": (lambda _, t: t.update({"a": np.ones(1, np.int64)}), 'a has dtype "I64"'),
    "long choice": (put("model", positions=LONG), "aaaa…"),
    "long size": (put("model", d_ff=[LONG]), "aaaa…"),
    "long length": (lambda m, _: m.update(max_len=[LONG]), "max_len must be a whole number"),
    "long name": (lambda _, t: t.update({LONG: np.ones(1, np.float32)}), "aaaa…, which a model"),
    "no name": (lambda _, t: t.update({"": np.ones(1, np.float32)}), "which a model of these"),
}


def test_a_model_that_does_not_fit_is_refused_by_what_does_not(page, good):
    files = [{"a": changed_file(good, change)} for change, _ in CHANGES.values()]
    for (name, (_, words)), found in zip(CHANGES.items(), opened(page, *files), strict=True):
        assert words in sentence(found), name
    assert page.evaluate("({}).polluted === undefined")


def entry(dtype="F32", shape=(1,), offsets=(0, 4)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def hostile(tensors):
    return joined({"__metadata__": {"format": "qkv model 1"}, **tensors}, bytes(8))


def test_a_hostile_header_is_refused_at_once(page, good):
    header, numbers = split(good)
    name = "encoder.norm.weight"

    def with_entry(**change):
        changed = {**header, name: {**header[name], **change}}
        return joined(changed, numbers)

    start, end = header[name]["data_offsets"]
    cases = [
        (struct.pack("<Q", 2**63) + b"{" + bytes(50), "header is cut short"),
        (struct.pack("<Q", 40) + b"{" + bytes(20), "header is cut short"),
        (joined(b"{" + b"[" * 50_000, b""), "header cannot be read"),
        (joined(b"{\xff}", b""), "header cannot be read"),
        (with_entry(data_offsets=[-4, end]), "does not say where"),
        (with_entry(data_offsets=[start, 1e300]), "does not say where"),
        (with_entry(data_offsets="no"), "does not say where"),
        (with_entry(data_offsets=[0, end - start]), "does not begin where"),
        (with_entry(shape=[2**52, 2**52]), "not of the size"),
        (with_entry(shape=[-32, -1]), "does not say where"),
        (with_entry(shape=[1] * 10_000), "does not say where"),
        (with_entry(dtype="constructor"), "save it as float32"),
        (with_entry(dtype={"toString": 1}), "save it as float32"),
        (with_entry(dtype=LONG), "save it as float32"),
        (joined({**header, "__metadata__": {"format": {"toString": 1}}}, numbers), "be texts"),
        (joined({**header, name: None}, numbers), "does not say where"),
        (good + b"more", "more follows"),
        (good[:-1], "is cut short"),
    ]
    found = opened(page, *({"a": data} for data, _ in cases))
    for (_, words), one in zip(cases, found, strict=True):
        assert words in sentence(one)


def test_a_file_beyond_the_limit_is_refused_unread(page):
    script = """async (size) => {
      const { openFiles } = await qkvModel.loadEngine();
      const arrayBuffer = async () => { throw new Error("read"); };
      const file = { name: "large.safetensors", size, arrayBuffer };
      const ask = () => openFiles([file]).catch(({ kind, message }) => ({ kind, message }));
      const large = await ask();
      file.size -= 1;
      return [large, await ask()];
    }"""
    large, within = page.evaluate(script, SIZE_LIMIT + 1)
    said = "large.safetensors has 201 MB; the page opens files of up to 200 MB."
    assert large == {"kind": "file", "message": said}
    assert within["message"] == "large.safetensors cannot be read: read."


@settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_a_file_cut_or_changed_anywhere_opens_or_is_refused(page, good, data):
    """Twenty files a time: half cut short, half with bits flipped, mostly in the header."""
    header = 8 + struct.unpack("<Q", good[:8])[0]
    files = []
    for _ in range(10):
        files.append({"a": good[: data.draw(st.integers(0, len(good) - 1))]})
        flipped = bytearray(good)
        for place in data.draw(st.lists(st.integers(0, header), min_size=1, max_size=3)):
            flipped[place] ^= 1 << data.draw(st.integers(0, 7))
        files.append({"a": bytes(flipped)})
    for n, found in enumerate(opened(page, *files)):
        if n % 2 == 0 or "name" in found:
            sentence(found)
