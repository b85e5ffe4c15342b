"""An exported folder: whole or not there, checked, and of use to somebody without this package."""

import errno
import json
import os
import re
import sys
from ast import literal_eval
from dataclasses import asdict, replace
from random import Random

import numpy as np
import onnx
import pytest

import qkv.numpy as qn
from qkv.corpus import sentences, split_by_combination
from qkv.onnx import OnnxTransformer, comparison, export, export_onnx
from qkv.onnx.comparison import TOLERANCE, logit_difference
from qkv.pretrained import pretrained
from qkv.text import EOS, PAD, SOS, Tokenizer
from qkv.translator import Translator
from qkv.translator.rooms import find_room
from tests.helpers.onnx_graphs import trace_once
from tests.helpers.processes import run_python
from tests.helpers.rooms import close
from tests.helpers.translators import MAX_LEN, SOURCES, checkpoint

HELD_BACK = 50


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    """The export of the model that ships: what it reports, and its folder."""
    folder = tmp_path_factory.mktemp("onnx") / "shipped"
    with pytest.MonkeyPatch.context() as patch:
        trace_once(patch)
        return export_onnx(pretrained(), folder), folder


@pytest.fixture(scope="module")
def words():
    return Translator.from_checkpoint(checkpoint("words"))


@pytest.fixture(autouse=True)
def traced_once(monkeypatch):
    """What is tested here is the folder."""
    trace_once(monkeypatch)


def opened(folder):
    return OnnxTransformer(folder / "encoder.onnx", folder / "decoder_step.onnx")


def held_back():
    """Token ids (B, S) of sentences that the shipped model was not trained on, of many lengths."""
    _, held = split_by_combination(sentences(), 0.1, Random(0))
    chosen = Random(1).sample(held, HELD_BACK)
    ids = [pretrained().source.encode(" ".join(pair.source), eos=True) for pair in chosen]
    source = np.full((len(ids), max(map(len, ids))), PAD)
    for row, sentence in enumerate(ids):
        source[row, : len(sentence)] = sentence
    assert len({len(sentence) for sentence in ids}) > 4
    return source


def test_greedy_tokens_and_logits_are_those_of_both_rooms_on_held_back_sentences(shipped):
    source, model = held_back(), opened(shipped[1])
    options = {"eos_id": EOS, "pad_id": PAD, "max_new_tokens": pretrained().max_len}
    prefixes = np.full((HELD_BACK, 1), SOS)
    found, _ = qn.greedy(model.start_decoding(source), prefixes, **options)
    logits = model.start_decoding(source).extend(found)
    for name in ("numpy", "torch"):
        room = find_room(pretrained(name).model)
        inputs = [room.from_numpy(ids) for ids in (source, prefixes)]
        with room.model.inference_mode() as twin:
            tokens, _ = room.functions.greedy(twin.start_decoding(inputs[0]), inputs[1], **options)
            np.testing.assert_array_equal(found, room.to_numpy(tokens))
            close(logits, room.to_numpy(twin(inputs[0], tokens)), "float32")
        assert logit_difference(model, room, source, found) < TOLERANCE


def test_the_report_says_what_was_written_and_how_close_it_is(shipped):
    report, folder = shipped
    assert report.folder == folder
    assert set(report.models) == {"encoder.onnx", "decoder_step.onnx"}
    assert set(report.differences) == {"numpy", "torch"}
    assert max(report.differences.values()) <= TOLERANCE
    for name, model in report.models.items():
        assert (folder / name).read_bytes() == model.SerializeToString()


def test_the_vocabularies_and_the_sizes_stand_beside_them(shipped):
    report, folder = shipped
    assert {path.name for path in folder.iterdir()} == set(export.FILES)
    for side in ("source", "target"):
        tokens = getattr(pretrained(), side).tokens
        assert tuple(json.loads((folder / f"{side}.json").read_text("utf-8"))["tokens"]) == tokens
        assert Tokenizer.load(folder / f"{side}.json").tokens == tokens
    config = json.loads((folder / "config.json").read_text("utf-8"))
    assert config["format"] == "qkv onnx 1"
    assert config["model"] == asdict(pretrained().model.config)
    assert config["max_len"] == pretrained().max_len
    assert config["versions"] == report.versions
    assert config["special_tokens"] == {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}


def test_the_readme_names_every_version_input_and_output(shipped):
    report, folder = shipped
    text = (folder / "README.md").read_text("utf-8")
    assert "$" not in text
    for name, version in report.versions.items():
        assert f"{name} {version}" in text
    rows = set(re.findall(r"^\| `(.+)` \| (in|out) \| `(.+)` \|", text, re.M))
    assert rows == {
        (file, way, value.name)
        for file, model in report.models.items()
        for way, values in (("in", model.graph.input), ("out", model.graph.output))
        for value in values
    }


def run_loop(folder, texts):
    """The loop of a README over these texts, run where there is no qkv and no torch."""
    (code,) = re.findall(r"```python\n(.*?)```", (folder / "README.md").read_text("utf-8"), re.S)
    (line,) = re.findall(r"^text = .*\n", code, re.M)
    alone = f"import sys; sys.modules['qkv'] = sys.modules['torch'] = None\ncode = {code!r}\n"
    loop = f"for text in {texts!r}:\n    exec(code.replace({line!r}, f'text = {{text!r}}\\n'))"
    return run_python(alone + loop, cwd=folder, env={**os.environ, "PYTHONUTF8": "1"})


def run_readme(folder, texts):
    """What it prints of each."""
    run = run_loop(folder, texts)
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def test_the_loop_in_the_readme_translates_without_this_package(shipped):
    example = "The cat sat on the mat"
    assert f"text = {example!r}\n" in (shipped[1] / "README.md").read_text("utf-8")
    texts = [example, *(pretrained().source.decode(ids) for ids in held_back()[:20])]
    found = run_readme(shipped[1], texts)
    assert found == pretrained().translate(texts)
    assert found[0] == "고양이가 매트 위에 앉았다"


def test_the_loop_in_the_readme_says_that_a_text_is_too_long(shipped):
    fits, room = "The cat sat on the mat", pretrained().max_len
    assert len(run_readme(shipped[1], [" ".join(["the"] * (room - 1))])) == 1
    run = run_loop(shipped[1], [fits, " ".join(["the"] * room)])
    assert run.returncode == 1
    assert run.stdout.splitlines() == pretrained().translate([fits])
    sentence = f"The text has {room + 1} tokens with <eos>; the model reads at most {room}."
    assert run.stderr.splitlines() == [sentence]


@pytest.mark.parametrize("kind", ["words", "bpe", "bpe without merges", "characters"])
def test_the_loop_in_the_readme_knows_each_kind_of_vocabulary(kind, tmp_path):
    stored = checkpoint(kind.removesuffix(" without merges"))
    if kind.endswith("without merges"):
        stored = replace(stored, source=Tokenizer(stored.source.tokens, ()))
    translator = Translator.from_checkpoint(stored)
    export_onnx(translator, tmp_path / "onnx")
    texts = [*SOURCES, "The mouse read rice."]  # and a word that it does not know
    texts = [text for text in texts if translator.count_tokens(text) <= MAX_LEN]
    assert len(texts) > 4
    assert run_readme(tmp_path / "onnx", texts) == translator.translate(texts)
    said = (tmp_path / "onnx" / "README.md").read_text("utf-8")
    assert f"MAX_LEN = 1, 2, 3, {MAX_LEN}\n" in said
    needed = ["numpy", "onnxruntime"] + ["tokenizers"] * kind.startswith("bpe")
    assert f"It needs `pip install {' '.join(needed)}`, and runs in this folder:" in said


def example(translator, folder):
    """The text that the loop of its README begins with."""
    export_onnx(translator, folder, overwrite=True)
    (text,) = re.findall(r"^text = (.*)$", (folder / "README.md").read_text("utf-8"), re.M)
    return literal_eval(text)


@pytest.mark.parametrize("kind", ["words", "bpe", "characters"])
def test_the_loop_in_the_readme_begins_with_a_text_of_the_models_own(kind, tmp_path):
    stored = checkpoint(kind)
    own = replace(stored, metadata={**stored.metadata, "example": "The dog slept."})
    assert example(Translator.from_checkpoint(own), tmp_path / "onnx") == "The dog slept."


@pytest.mark.parametrize("text", [None, 3, "", "The dog ☃.", "The dog " * 40, "\ud800"])
def test_an_example_that_cannot_be_read_is_left_out(text, tmp_path):
    stored = checkpoint("words")
    folder = tmp_path / "onnx"
    own = replace(stored, metadata={**stored.metadata, "example": text})
    found = example(Translator.from_checkpoint(own), folder)
    assert found == example(Translator.from_checkpoint(stored), folder)
    assert found != text


def test_the_same_model_gives_the_same_bytes_from_either_room(shipped, tmp_path):
    """One model to what traces, which knows no rooms, and one to whoever reads the folder."""
    export_onnx(pretrained("torch"), tmp_path / "again")
    for name in export.FILES:
        assert (tmp_path / "again" / name).read_bytes() == (shipped[1] / name).read_bytes()


def test_an_empty_folder_is_filled_and_a_link_leads_to_it(words, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    export_onnx(words, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert {path.name for path in (tmp_path / "empty").iterdir()} == set(export.FILES)
    assert sorted(os.listdir(tmp_path)) == ["empty", "link"]


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_folder_of_other_things_is_left_alone(overwrite, words, tmp_path):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "diary.txt").write_text("dear")
    with pytest.raises(ValueError, match=r"holds what is no export \(diary\.txt\): name another"):
        export_onnx(words, tmp_path, overwrite=overwrite)
    assert sorted(os.listdir(tmp_path)) == ["config.json", "diary.txt"]


def test_an_export_is_replaced_only_where_that_is_asked_for(words, tmp_path):
    folder = tmp_path / "onnx"
    export_onnx(words, folder)
    (folder / "README.md").write_text("mine")
    with pytest.raises(ValueError, match=r"holds an export already: .* pass overwrite=True"):
        export_onnx(words, folder)
    assert (folder / "README.md").read_text() == "mine"
    export_onnx(words, folder, overwrite=True)
    assert (folder / "README.md").read_text("utf-8") != "mine"
    assert os.listdir(tmp_path) == ["onnx"]


@pytest.mark.parametrize("path", ["file.txt", "nowhere/onnx"])
def test_a_place_that_can_be_no_folder_is_refused(path, words, tmp_path):
    (tmp_path / "file.txt").write_text("text")
    with pytest.raises(ValueError, match=r"cannot be written: name a folder in one that is there"):
        export_onnx(words, tmp_path / path)
    assert os.listdir(tmp_path) == ["file.txt"]


def test_an_error_names_the_folder_and_not_the_one_that_is_moved_there(words, tmp_path):
    folder = tmp_path / ("x" * 250)  # a name may have 255 bytes, and the other's is longer
    with pytest.raises(OSError, match=r"x{250}") as caught:
        export_onnx(words, folder)
    assert caught.value.filename == str(folder)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt()])
@pytest.mark.parametrize("function", ["fsync", "replace"])
@pytest.mark.parametrize("earlier", [False, True])
def test_what_breaks_off_leaves_everything_as_it_was(
    error, function, earlier, words, tmp_path, monkeypatch
):
    folder = tmp_path / "onnx"
    if earlier:
        export_onnx(words, folder)
        (folder / "README.md").write_text("mine")
    real, calls = getattr(os, function), []

    def failing(*arguments):
        calls.append(arguments)
        if len(calls) == (2 if earlier or function == "fsync" else 1):  # the first moves the old
            raise error
        return real(*arguments)

    monkeypatch.setattr(os, function, failing)
    with pytest.raises(type(error)):
        export_onnx(words, folder, overwrite=True)
    assert os.listdir(tmp_path) == (["onnx"] if earlier else [])
    if earlier:
        assert (folder / "README.md").read_text() == "mine"
        assert {path.name for path in folder.iterdir()} == set(export.FILES)


@pytest.mark.parametrize("fault", [1e-2, np.nan])
def test_a_graph_that_computes_something_else_is_not_written(fault, words, tmp_path, monkeypatch):
    build = export.decoder_step_model

    def with_fault(*model):
        graph = onnx.ModelProto.FromString(build(*model).SerializeToString())
        (bias,) = (
            array
            for array in graph.graph.initializer
            if array.name.endswith("decoder.layers.1.self_attention.w_v.bias")
        )
        changed = onnx.numpy_helper.to_array(bias) + np.float32(fault)
        bias.CopyFrom(onnx.numpy_helper.from_array(changed, bias.name))
        return graph

    monkeypatch.setattr(export, "decoder_step_model", with_fault)
    with pytest.raises(ValueError, match=r"must be what the numpy room does, got a difference of"):
        export_onnx(words, tmp_path / "onnx")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("wrong", ["numpy", "torch"])
def test_a_room_that_computes_something_else_is_named(wrong, words, tmp_path, monkeypatch):
    build = comparison.build_model

    def with_fault(config, parameters, room):
        name = "decoder.layers.1.cross_attention.w_v.bias"
        fault = np.float32(1e-2 if room == wrong else 0)
        return build(config, parameters | {name: parameters[name] + fault}, room)

    monkeypatch.setattr(comparison, "build_model", with_fault)
    with pytest.raises(ValueError, match=rf"must be what the {wrong} room does, got a difference"):
        export_onnx(words, tmp_path / "onnx")
    assert os.listdir(tmp_path) == []


def test_a_model_too_large_for_one_file_is_refused_before_it_is_built(words, tmp_path, monkeypatch):
    monkeypatch.setattr(export, "MAX_BYTES", 1000)
    monkeypatch.setattr(export, "encoder_model", None)
    with pytest.raises(ValueError, match=r"parameters must be less than 2 GiB, got 0\.0 GiB: one"):
        export_onnx(words, tmp_path / "onnx")


def test_without_onnxruntime_it_is_written_and_not_checked(words, tmp_path, monkeypatch):
    monkeypatch.setattr(export, "find_spec", lambda name: None)
    assert export_onnx(words, tmp_path / "onnx").differences is None
    assert {path.name for path in (tmp_path / "onnx").iterdir()} == set(export.FILES)


def test_what_is_missing_is_named_with_how_to_get_it(words, shipped, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ImportError, match=r"needs onnxruntime: pip install 'qkv\[onnx\]'"):
        opened(shipped[1])
    for library in ("onnxscript", "torch", "onnx"):
        monkeypatch.setitem(sys.modules, library, None)
        with pytest.raises(ImportError, match=rf"need {library}: pip install 'qkv\[onnx\]'"):
            export_onnx(words, tmp_path / "onnx")
        assert os.listdir(tmp_path) == []


def test_to_import_the_package_and_to_run_its_files_needs_no_torch(shipped):
    code = (
        "import sys\n"
        "for name in ('torch', 'onnx', 'onnxscript'): sys.modules[name] = None\n"
        "import numpy as np\n"
        "from qkv.onnx import OnnxTransformer\n"
        f"model = OnnxTransformer(*{[str(shipped[1] / name) for name in shipped[0].models]!r})\n"
        "print(model.start_decoding(np.array([[4, 2]])).extend(np.array([[1]])).shape)\n"
    )
    found = run_python(code)
    assert found.stdout == f"(1, 1, {len(pretrained().target)})\n", found.stderr


def test_to_import_the_package_needs_no_onnxruntime():
    assert (
        run_python("import sys; sys.modules['onnxruntime'] = None; import qkv.onnx").returncode == 0
    )


def test_what_is_done_next_is_said_before_it_is_done(words, tmp_path, monkeypatch):
    said = []
    export_onnx(words, tmp_path / "onnx", progress=said.append)
    assert said == ["encoder.onnx", "decoder_step.onnx", "comparison"]
