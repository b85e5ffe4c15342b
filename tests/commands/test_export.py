"""`qkv export`: a trained model in, ONNX files out, and a clear word about what cannot be."""

import json
import os
import re
import shutil
import sys
from dataclasses import asdict, replace

import numpy as np
import onnx
import onnxscript
import pytest
import torch
from safetensors import safe_open

import qkv
from qkv.commands import export, train
from qkv.commands.export import main
from qkv.javascript import model_file as model_files
from qkv.onnx import export as folders
from qkv.text import Tokenizer
from qkv.translator import Translator
from tests.helpers.onnx_graphs import trace_once
from tests.helpers.training import SHORT, SMALL, write_pairs
from tests.helpers.translators import checkpoint


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("checkpoint")
    checkpoint("words").save(folder / "best.json")
    return folder


@pytest.fixture
def run(capsys, monkeypatch):
    """Call it; its status, and what it wrote to either stream."""
    trace_once(monkeypatch)  # each model

    def call(*arguments):
        try:
            status = main([*map(str, arguments)])
        except SystemExit as end:
            status = end.code
        return status, *capsys.readouterr()

    return call


@pytest.fixture
def refused(run):
    """Call it; the one line that it says."""

    def call(*arguments):
        status, out, err = run(*arguments)
        assert (status, out) == (1, "")
        assert err.count("\n") == 1
        assert err.startswith("qkv export: ")
        return err

    return call


def test_the_model_that_ships_is_exported_and_checked(run, tmp_path):
    folder = tmp_path / "onnx"
    status, out, err = run("pretrained", "--onnx", folder)
    assert (status, err) == (0, "")
    assert out.splitlines()[0] == (
        f"opset 20, ONNX IR 9, qkv {qkv.__version__}, onnx {onnx.__version__}, "
        f"torch {torch.__version__}, onnxscript {onnxscript.__version__}, NumPy {np.__version__}"
    )
    assert "  in  source (B, S)\n" in out
    assert "  in  past_keys.0 (N, 2, length, 32)\n" in out
    assert "  out logits (N, T, 525)\n" in out
    differences = re.search(
        r"Checked: logits by onnxruntime differ by at most (\S+) from the NumPy room and "
        r"(\S+) from the torch room, of the largest\.\n",
        out,
    )
    assert all(0 < float(value) < 1e-5 for value in differences.groups())
    assert out.endswith(f"{folder / 'README.md'} shows how to run them.\n")
    assert {path.name for path in folder.iterdir()} == set(folders.FILES)


def test_what_train_saves_is_exported(run, tmp_path):
    pairs = write_pairs(tmp_path / "text")
    choices = ["--no-norm-first", "--positions", "learned", "--activation", "gelu"]
    choices += ["--separate-vocabularies", "--n-decoder-layers", "2"]
    own = [*SMALL, *SHORT, "--words", *choices, "--out", str(tmp_path / "model")]
    assert train.main([*pairs, *own]) == 0
    status, out, _ = run(tmp_path / "model", "--onnx", tmp_path / "onnx")
    assert status == 0
    assert "Checked: " in out


def test_without_onnxruntime_it_says_that_nothing_was_checked(run, saved, tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "find_spec", lambda name: None)
    status, out, _ = run(saved, "--onnx", tmp_path / "onnx")
    assert status == 0
    assert (
        "\nNot checked: there is no onnxruntime here. pip install 'qkv[onnx]' brings it; then "
        "export again.\n"
    ) in out


@pytest.mark.parametrize("library", ["onnx", "torch", "onnxscript"])
def test_without_what_it_needs_it_says_how_to_get_it(library, refused, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    said = refused("nothing", "--onnx", tmp_path / "onnx")
    assert said == f"qkv export: ONNX files need {library}: pip install 'qkv[onnx]'\n"


def test_on_a_terminal_it_says_what_it_does(run, saved, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    status, _, err = run(saved, "--onnx", tmp_path / "onnx")
    assert status == 0
    assert err.splitlines() == [*export.STEPS.values()]


def test_a_model_that_is_not_there_is_refused_as_by_translate(refused, tmp_path):
    missing = tmp_path / "missing"
    said = refused(missing, "--onnx", tmp_path / "onnx")
    assert said == f"qkv export: {missing}: No such file or directory\n"
    missing.mkdir()
    said = refused(missing, "--onnx", tmp_path / "onnx")
    assert "holds no checkpoint: one of best.json" in said
    (missing / "best.json").write_text("{")
    said = refused(missing, "--onnx", tmp_path / "onnx")
    assert "best.json is no checkpoint: it is cut short or of another kind" in said
    assert os.listdir(tmp_path) == ["missing"]


def test_a_folder_that_cannot_be_is_refused(refused, saved, tmp_path):
    said = refused(saved, "--onnx", tmp_path / "no" / "onnx")
    folder = tmp_path / "no" / "onnx"
    assert said == f"qkv export: {folder} cannot be written: name a folder in one that is there\n"


def test_the_folder_of_the_model_is_no_place_for_it(refused, saved):
    before = sorted(os.listdir(saved))
    assert "holds what is no export (best.json): name another" in refused(saved, "--onnx", saved)
    assert "name another" in refused(saved, "--onnx", saved, "--overwrite")
    assert sorted(os.listdir(saved)) == before


def test_an_export_is_replaced_when_it_is_asked_to(run, refused, saved, tmp_path):
    folder = tmp_path / "onnx"
    assert run(saved, "--onnx", folder)[0] == 0
    said = refused("pretrained", "--onnx", folder)
    assert said == (
        f"qkv export: {folder} holds an export already: name another folder, or pass --overwrite\n"
    )
    before = (folder / "source.json").read_bytes()
    assert run("pretrained", "--onnx", folder, "--overwrite")[0] == 0
    assert (folder / "source.json").read_bytes() != before


def test_a_model_that_cannot_write_token_by_token_is_refused_by_its_option(refused, tmp_path):
    trained = checkpoint("words")
    config = replace(trained.config, causal=False)
    replace(trained, config=config).save(tmp_path / "model" / "best.json")
    said = refused(tmp_path / "model", "--onnx", tmp_path / "onnx")
    assert said.startswith("qkv export: the configuration must have causal=True, got False: ")
    assert os.listdir(tmp_path) == ["model"]


@pytest.mark.parametrize("arguments", [[], ["pretrained"], ["--onnx", "folder"]])
def test_both_a_model_and_a_folder_are_needed(arguments, run):
    status, _, err = run(*arguments)
    assert status == 2
    assert "required" in err


def read_model_file(path):
    """Its metadata, parsed, and its parameters."""
    with safe_open(path, "numpy") as file:
        metadata = file.metadata()
        assert metadata.pop("format") == "qkv model 1"
        parsed = {name: json.loads(text) for name, text in metadata.items()}
        return parsed, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_one_file_holds_the_whole_model(dtype, run, saved, tmp_path):
    path = tmp_path / "mine.safetensors"
    status, out, err = run(saved, "--safetensors", path, "--dtype", dtype)
    assert (status, err) == (0, "")
    assert out.startswith(f"{path} ({path.stat().st_size / 1e6:.2f} MB, {dtype})\n")
    metadata, parameters = read_model_file(path)
    trained = checkpoint("words")
    assert sorted(metadata) == ["max_len", "model", "source", "target"]
    assert metadata["model"] == json.loads(json.dumps(asdict(trained.config)))
    assert metadata["max_len"] == trained.metadata["max_len"]
    for side in ("source", "target"):
        text = json.dumps(metadata[side]).encode()
        assert Tokenizer.from_bytes(text, path).tokens == getattr(trained, side).tokens
    assert sorted(parameters) == sorted(trained.parameters)
    for name, value in trained.parameters.items():
        np.testing.assert_array_equal(parameters[name], value.astype(dtype), name)


def test_one_file_of_the_model_that_ships_names_its_language(run, tmp_path):
    path = tmp_path / "book.safetensors"
    assert run("pretrained", "--safetensors", path)[0] == 0
    assert read_model_file(path)[0]["source"]["language"] == "English"


def test_one_file_is_replaced_when_it_is_asked_to(run, refused, saved, tmp_path):
    path = tmp_path / "mine.safetensors"
    path.write_bytes(b"mine")
    said = refused(saved, "--safetensors", path)
    assert said == (
        f"qkv export: {path} is there already: name another file, or pass --overwrite\n"
    )
    assert path.read_bytes() == b"mine"
    assert run(saved, "--safetensors", path, "--overwrite")[0] == 0
    assert path.stat().st_size > 1000
    assert os.listdir(tmp_path) == ["mine.safetensors"]


def test_one_file_is_written_over_no_file_of_the_model(refused, saved, tmp_path):
    shutil.copytree(saved, model := tmp_path / "model")
    before = {path: path.read_bytes() for path in model.iterdir()}
    for path in before:
        for checkpoint_path in (model, model / "best.json"):
            said = refused(checkpoint_path, "--safetensors", path, "--overwrite")
            assert said == (
                f"qkv export: --safetensors {path} would write over what is read: name another "
                "file\n"
            )
    assert {path: path.read_bytes() for path in model.iterdir()} == before


def test_one_file_that_cannot_be_written_is_refused(refused, saved, tmp_path):
    for path in (tmp_path, tmp_path / "no" / "mine.safetensors"):
        said = refused(saved, "--safetensors", path)
        assert said == (
            f"qkv export: {path} cannot be written: name a file in a folder that is there\n"
        )
    said = refused(saved, "--onnx", tmp_path / "onnx", "--dtype", "float16")
    assert said == "qkv export: --dtype goes with --safetensors: leave it out\n"
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"positions": "alibi"}, "the page computes no model with alibi positions"),
        ({"causal": False}, "the page computes no model with causal=False"),
    ],
)
def test_one_file_is_refused_for_what_the_page_does_not_compute(change, words, refused, tmp_path):
    trained = checkpoint("words")
    config = replace(trained.config, **change)
    replace(trained, config=config).save(tmp_path / "model" / "best.json")
    assert words in refused(tmp_path / "model", "--safetensors", tmp_path / "mine.safetensors")
    assert os.listdir(tmp_path) == ["model"]


def test_numbers_that_float16_lacks_are_refused_by_name(refused, run, tmp_path):
    trained = checkpoint("words")
    name = "encoder.norm.weight"
    large = {**trained.parameters, name: trained.parameters[name] + np.float32(1e6)}
    replace(trained, parameters=large).save(tmp_path / "best.json")
    path = tmp_path / "mine.safetensors"
    said = refused(tmp_path, "--safetensors", path, "--dtype", "float16")
    assert said == f"qkv export: {name} has no finite numbers in float16: pass float32\n"
    assert not path.exists()
    assert run(tmp_path, "--safetensors", path)[0] == 0


def test_a_file_larger_than_the_page_opens_is_refused(refused, saved, tmp_path, monkeypatch):
    monkeypatch.setattr(model_files, "SIZE_LIMIT", 1_000_000 // 100)
    said = refused(saved, "--safetensors", tmp_path / "mine.safetensors")
    assert "the page opens files of up to" in said
    assert os.listdir(tmp_path) == []


def test_ctrl_c_ends_it_with_nothing_written(run, saved, tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(folders, "compare", interrupted)
    status, _, err = run(saved, "--onnx", tmp_path / "onnx")
    assert (status, err) == (130, "\nStopped: nothing is written.\n")
    assert os.listdir(tmp_path) == []


def test_too_little_memory_is_told_in_a_sentence(refused, saved, tmp_path, monkeypatch):
    def exhausted(*_):
        raise MemoryError

    monkeypatch.setattr(Translator, "from_checkpoint", exhausted)
    assert "out of memory" in refused(saved, "--onnx", tmp_path / "onnx")


def test_a_name_that_would_move_the_cursor_is_shown(refused, tmp_path):
    assert "\\x1b[2J" in refused("\x1b[2J", "--onnx", tmp_path / "onnx")
