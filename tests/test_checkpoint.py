"""A checkpoint in its folder: whole or not there, the same on its return; nothing in it runs."""

import dataclasses
import errno
import hashlib
import json
import os
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import qkv.numpy as qn
import qkv.torch as qt
from qkv import checkpoint, files
from qkv.bridge import copy_parameters, state_dict
from qkv.checkpoint import Checkpoint
from qkv.config import TransformerConfig
from qkv.text import train_bpe, train_character_level, train_word_level

LINES = ["the cat sat on the mat", "고양이가 매트 위에 앉았다", "a cat", "the mat"]
WORDS = train_word_level(LINES)
PIECES = train_bpe(LINES, 60)
CONFIG = TransformerConfig(
    len(WORDS), d_model=6, n_heads=2, d_ff=5, n_layers=1, dropout=0.1, pad_id=0
)
SIDES = {"source": WORDS, "target": WORDS}


def make(seed=0, config=CONFIG, metadata=None, optimizer=False, **sides):
    sides = SIDES | sides
    state = state_dict(qn.Transformer(config, rng=np.random.default_rng(seed)))
    moments = {f"m.{name}": value * 2 for name, value in state.items()} if optimizer else None
    return Checkpoint(config, state, **sides, metadata=metadata or {}, optimizer=moments)


def same(one, other):
    assert one.config == other.config
    assert one.metadata == other.metadata
    assert (one.source.digest, one.target.digest) == (other.source.digest, other.target.digest)
    for mine, theirs in ((one.parameters, other.parameters), (one.optimizer, other.optimizer)):
        assert (mine is None) == (theirs is None)
        if mine is not None:
            assert sorted(mine) == sorted(theirs)
            for name in mine:
                assert mine[name].dtype == theirs[name].dtype
                np.testing.assert_array_equal(mine[name], theirs[name])


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def parts(folder, role):
    return [name for name in names(folder) if name.startswith(role)]


def test_a_checkpoint_comes_back(tmp_path):
    metadata = {"step": 3, "scores": {"loss": 0.1, "bleu": 36.0}, "text": "고양이", "none": None}
    saved = make(metadata=metadata, optimizer=True)
    saved.save(tmp_path / "run" / "last.json")
    same(Checkpoint.load(tmp_path / "run" / "last.json", optimizer=True), saved)
    found = Checkpoint.load(str(tmp_path / "run"))
    assert found.optimizer is None
    assert found.metadata == metadata


OPTIONS = {
    "activation": "gelu_tanh",
    "norm_eps": 0.125,
    "bias": False,
    "feed_forward_bias": False,
    "norm_bias": False,
    "causal": False,
}


def test_options_come_back_and_a_file_from_before_them_means_what_it_meant(tmp_path):
    changed = dataclasses.replace(CONFIG, **OPTIONS)
    saved = make(config=changed)
    saved.save(tmp_path / "last.json")
    same(Checkpoint.load(tmp_path), saved)
    assert not any(name.endswith(".bias") for name in saved.parameters)
    make().save(tmp_path / "last.json")
    content = json.loads((tmp_path / "last.json").read_text())
    for name in ("norm_eps", "feed_forward_bias", "norm_bias", "causal"):
        del content["model"][name]
    (tmp_path / "last.json").write_text(json.dumps(content))
    found = Checkpoint.load(tmp_path)
    assert found.config == CONFIG
    qn.Transformer(found.config).load_state_dict(found.parameters)


def test_a_field_that_this_version_does_not_know_is_named(tmp_path):
    make().save(tmp_path / "last.json")
    content = json.loads((tmp_path / "last.json").read_text())
    content["model"]["placement"] = content["model"].pop("norm_first")
    (tmp_path / "last.json").write_text(json.dumps(content))
    words = "its \"model\" has 'placement', which this version of qkv does not know"
    with pytest.raises(ValueError, match=re.escape(words)):
        Checkpoint.load(tmp_path)


@pytest.mark.parametrize(("placement", "norm_first"), [("post", False), ("pre", True)])
def test_a_model_is_read_by_the_former_names_of_its_fields(tmp_path, placement, norm_first):
    config = dataclasses.replace(CONFIG, norm_first=norm_first)
    make(config=config).save(tmp_path / "last.json")
    content = json.loads((tmp_path / "last.json").read_text())
    model = content["model"]
    del model["norm_first"]
    model |= {"norm_placement": placement, "tie": model.pop("tie_word_embeddings")}
    (tmp_path / "last.json").write_text(json.dumps(content))
    assert Checkpoint.load(tmp_path).config == config
    content["model"]["norm_placement"] = "both"
    (tmp_path / "last.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match="norm_first must be True or False, got 'both'"):
        Checkpoint.load(tmp_path)


def test_its_model_says_the_same_in_both_rooms(tmp_path):
    make().save(tmp_path / "best.json")
    found = Checkpoint.load(tmp_path)
    ours = qn.Transformer(found.config)
    ours.load_state_dict(found.parameters)
    theirs = qt.Transformer(found.config)
    copy_parameters(found.parameters, theirs)
    ids = np.array([[4, 5, 6, 2]])
    with torch.no_grad():
        told = theirs.eval()(torch.tensor(ids), torch.tensor(ids))
    np.testing.assert_allclose(ours.eval()(ids, ids), told.numpy(), rtol=1e-5, atol=1e-5)
    # and saved from torch it is the same again
    Checkpoint(CONFIG, state_dict(theirs), WORDS, WORDS).save(tmp_path / "last.json")
    assert len(parts(tmp_path, "parameters")) == 1


def test_two_vocabularies_stay_two(tmp_path):
    config = TransformerConfig(
        len(PIECES),
        len(WORDS),
        d_model=6,
        n_heads=2,
        d_ff=5,
        n_layers=1,
        tie_word_embeddings="target",
    )
    saved = make(config=config, source=PIECES)
    saved.save(tmp_path / "last.json")
    same(Checkpoint.load(tmp_path), saved)


def test_best_and_last_share_what_is_the_same(tmp_path):
    make(optimizer=True).save(tmp_path / "last.json")
    make(metadata={"bleu": 1}).save(tmp_path / "best.json")
    assert len(parts(tmp_path, "parameters")) == 1
    make(1, optimizer=True).save(tmp_path / "last.json")
    assert len(parts(tmp_path, "parameters")) == 2
    same(Checkpoint.load(tmp_path / "best.json"), make(metadata={"bleu": 1}))
    make(1).save(tmp_path / "best.json")
    assert names(tmp_path) == [
        "best.json",
        "last.json",
        *parts(tmp_path, "optimizer"),
        *parts(tmp_path, "parameters"),
        *parts(tmp_path, "source"),
        *parts(tmp_path, "target"),
    ]
    assert [len(parts(tmp_path, role)) for role in ("optimizer", "parameters")] == [1, 1]


def test_a_folder_stands_for_the_best_then_the_average_then_the_last(tmp_path):
    for n, name in enumerate(("last", "average", "best")):
        make(metadata={"n": n}).save(tmp_path / f"{name}.json")
        assert Checkpoint.load(tmp_path).metadata == {"n": n}


def test_a_folder_without_one_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"holds no checkpoint: one of best\.json, average\.json"):
        Checkpoint.load(tmp_path)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        Checkpoint.load(tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["last", "last.safetensors", "source-0123456789abcdef.json"])
def test_it_is_not_saved_under_a_name_that_it_would_sweep_or_not_find(tmp_path, name):
    with pytest.raises(ValueError, match="path must be a name such as"):
        make().save(tmp_path / name)
    assert names(tmp_path) == []


@pytest.mark.parametrize("role", ["last.json", "source", "target", "parameters", "optimizer"])
def test_a_file_cut_short_changed_or_missing_is_named(tmp_path, role):
    make(optimizer=True).save(tmp_path / "last.json")
    path = tmp_path / (role if role == "last.json" else parts(tmp_path, role)[0])
    whole = path.read_bytes()
    middle = len(whole) // 2
    changed = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    damaged = [whole[:n] for n in (0, 1, middle, len(whole) - 1)]
    for data in damaged if role == "last.json" else [*damaged, changed, whole + b" "]:
        path.write_bytes(data)
        with pytest.raises(ValueError, match=rf"Checkpoint\.load: .*{re.escape(path.name)} is"):
            Checkpoint.load(tmp_path, optimizer=True)
    path.unlink()
    with pytest.raises(FileNotFoundError, match=path.name):
        Checkpoint.load(tmp_path / "last.json", optimizer=True)


def test_a_damaged_part_is_written_again(tmp_path):
    make().save(tmp_path / "last.json")
    (tmp_path / parts(tmp_path, "parameters")[0]).write_bytes(b"cut")
    make().save(tmp_path / "best.json")
    same(Checkpoint.load(tmp_path / "last.json"), make())


def test_a_vocabulary_of_another_model_is_refused(tmp_path):
    for side in ("source", "target"):
        with pytest.raises(ValueError, match=f"vocabulary of the {side} must have {len(WORDS)} to"):
            make(**{side: PIECES})
    make().save(tmp_path / "last.json")
    PIECES.save(tmp_path / "other")
    other = make(
        config=TransformerConfig(len(PIECES), d_model=6, n_heads=2, d_ff=5, n_layers=1),
        source=PIECES,
        target=PIECES,
    )
    other.save(tmp_path / "best.json")
    content = json.loads((tmp_path / "last.json").read_text())
    content["files"]["source"] = json.loads((tmp_path / "best.json").read_text())["files"]["source"]
    (tmp_path / "last.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match=r"vocabulary of the source must have .* another model"):
        Checkpoint.load(tmp_path / "last.json")


def test_a_model_of_another_size_does_not_take_it(tmp_path):
    make().save(tmp_path / "last.json")
    content = json.loads((tmp_path / "last.json").read_text())
    content["model"]["d_ff"] = 7
    (tmp_path / "last.json").write_text(json.dumps(content))
    found = Checkpoint.load(tmp_path)
    with pytest.raises(ValueError, match=r"w_1.weight must be \(6, 7\), got \(6, 5\)"):
        qn.Transformer(found.config).load_state_dict(found.parameters)


def test_one_of_the_older_format_is_refused_and_says_so(tmp_path):
    make().save(tmp_path / "last.json")
    content = json.loads((tmp_path / "last.json").read_text())
    content["facts"] = content.pop("metadata")
    (tmp_path / "last.json").write_text(json.dumps(content | {"format": "qkv checkpoint 1"}))
    words = r'last\.json was written by an older version of qkv, in the format "qkv checkpoint 1": '
    with pytest.raises(ValueError, match=words + "train the model again"):
        Checkpoint.load(tmp_path)


def test_without_the_state_of_the_optimizer_training_does_not_go_on(tmp_path):
    make().save(tmp_path / "last.json")
    with pytest.raises(ValueError, match="holds no state of the optimizer"):
        Checkpoint.load(tmp_path, optimizer=True)


class Full:
    """A file that takes some bytes, and then what `count` lets through."""

    def __init__(self, file, count):
        self.file, self.count = file, count

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def write(self, data):
        self.file.write(data[:7])
        self.count()
        self.file.write(data[7:])

    def __getattr__(self, name):
        return getattr(self.file, name)


@pytest.mark.parametrize("call", ["fsync", "replace", "write"])
def test_a_full_disk_leaves_what_was_there(tmp_path, monkeypatch, call):
    """Full after none, one, … of the five files: vocabularies, parameters, optimizer, last.json."""
    old = make(metadata={"step": 1}, optimizer=True)
    old.save(tmp_path / "last.json")
    before = names(tmp_path)
    other = train_word_level([line.replace("cat", "dog") for line in LINES])
    new = make(1, metadata={"step": 2}, optimizer=True, source=other, target=other)
    for after in range(5):
        left = [after]

        def count(left=left):
            left[0] -= 1
            if left[0] < 0:
                raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as patch:
            if call == "write":

                def open_full(path, mode, true=open, count=count, **more):
                    file = true(path, mode, **more)
                    return Full(file, count) if "x" in mode else file

                patch.setattr(files, "open", open_full, raising=False)
            else:
                true = getattr(os, call)
                patch.setattr(os, call, lambda *own, true=true, n=count: (n(), true(*own)))
            with pytest.raises(OSError, match="No space left"):
                new.save(tmp_path / "last.json")
        assert names(tmp_path) == before
        same(Checkpoint.load(tmp_path, optimizer=True), old)
    new.save(tmp_path / "last.json")
    same(Checkpoint.load(tmp_path, optimizer=True), new)
    assert len(names(tmp_path)) == len(before)


KILLED = """
import os, signal, sys
from dataclasses import replace
from qkv.checkpoint import Checkpoint

old = Checkpoint.load(sys.argv[1], optimizer=True)
left, true = int(sys.argv[2]), os.fsync


def kill(*own):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    true(*own)


os.fsync = kill
states = [{name: x + 1 for name, x in s.items()} for s in (old.parameters, old.optimizer)]
replace(old, parameters=states[0], optimizer=states[1]).save(sys.argv[1])
"""


def test_killed_while_saving_the_old_one_stays_and_the_rest_is_swept(tmp_path):
    old = make(metadata={"step": 1}, optimizer=True)
    for whole in range(3):  # parameters, optimizer, last.json: killed in the next
        folder = tmp_path / str(whole)
        old.save(folder / "last.json")
        before = names(folder)
        run = subprocess.run(
            [sys.executable, "-c", KILLED, str(folder / "last.json"), str(whole)],
            env={**os.environ, "PYTHONPATH": ":".join(filter(None, sys.path))},
            timeout=120,
        )
        assert run.returncode == -9
        assert len(names(folder)) == len(before) + whole + 1
        assert sum(name.endswith(".part") for name in names(folder)) == 1
        same(Checkpoint.load(folder, optimizer=True), old)
        new = make(1, metadata={"step": 2}, optimizer=True)
        new.save(folder / "last.json")
        assert len(names(folder)) == len(before)
        same(Checkpoint.load(folder, optimizer=True), new)


def test_what_is_no_part_of_a_checkpoint_is_not_swept(tmp_path):
    own = ["log.jsonl", "notes.json", "list.json", "deep.json", "run.json", "thesis.part"]
    for name, text in zip(own, ["{}", "no json", "[]", "[" * 10**5, "{}", "mine"], strict=True):
        (tmp_path / name).write_text(text)
    kept = "parameters-0123456789abcdef.safetensors"
    (tmp_path / kept).write_text("of a later format")
    listing = {"format": "qkv checkpoint 3", "files": {"parameters": kept, "else": [1]}}
    (tmp_path / "later.json").write_text(json.dumps(listing))
    stray = "optimizer-0123456789abcdef.safetensors"
    (tmp_path / stray).write_text("of none")
    make().save(tmp_path / "last.json")
    assert {*own, kept, "later.json"} < set(names(tmp_path))
    assert stray not in names(tmp_path)


class Trap:
    """Unpickled, it would make a folder."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_a_folder_with_the_name_of_a_checkpoint_stands_in_no_ones_way(tmp_path):
    (tmp_path / "notes.json").mkdir()
    make(0).save(tmp_path / "last.json")
    make(1).save(tmp_path / "last.json")
    assert len(parts(tmp_path, "parameters")) == 1
    same(Checkpoint.load(tmp_path), make(1))


def test_what_a_checkpoint_that_cannot_be_read_names_is_not_swept(tmp_path, monkeypatch):
    make(0).save(tmp_path / "best.json")
    read = checkpoint.read_regular_file

    def refuse(path):
        if path.name == "best.json":
            raise PermissionError(13, "Permission denied", str(path))
        return read(path)

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "read_regular_file", refuse)
        with pytest.raises(PermissionError):
            make(1).save(tmp_path / "last.json")
    for n, name in enumerate(("best", "last")):
        same(Checkpoint.load(tmp_path / f"{name}.json"), make(n))


def test_nothing_is_unpickled(tmp_path):
    trap = pickle.dumps(Trap(tmp_path / "sprung"))
    (tmp_path / "last.json").write_bytes(trap)
    with pytest.raises(ValueError, match="is no checkpoint"):
        Checkpoint.load(tmp_path)
    for role in ("source", "parameters", "optimizer"):
        make(optimizer=True).save(tmp_path / "last.json")
        content = json.loads((tmp_path / "last.json").read_text())
        digest = hashlib.sha256(trap).hexdigest()[:16]  # whoever means ill can count it too
        ending = content["files"][role].partition(".")[2]
        content["files"][role] = f"{role}-{digest}.{ending}"
        (tmp_path / content["files"][role]).write_bytes(trap)
        (tmp_path / "last.json").write_text(json.dumps(content))
        with pytest.raises(ValueError, match=r"no safetensors file|no vocabulary"):
            Checkpoint.load(tmp_path, optimizer=True)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    "name",
    [
        "../secret.json",
        "/etc/passwd",
        "source-0123456789abcdef.json/../../secret",
        "parameters-0123456789abcdef.safetensors",
        "source-0123456789ABCDEF.json",
        "source-0123456789abcdef.json\n",
        "last.json",
        "",
        ".",
        "\0",
        7,
        None,
        ["source-0123456789abcdef.json"],
    ],
)
def test_names_that_lead_elsewhere_are_refused(tmp_path, name):
    make().save(tmp_path / "last.json")
    content = json.loads((tmp_path / "last.json").read_text())
    content["files"]["source"] = name
    (tmp_path / "last.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match=r'last\.json is no checkpoint: .*its "files" call the so'):
        Checkpoint.load(tmp_path)


def shaken(content, data):
    """The content with something put in the place of something else."""
    anything = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
        max_leaves=4,
    )
    value = data.draw(anything)
    where = data.draw(st.sampled_from(["all", "top", "model", "files"]))
    if where == "all":
        return value
    at = content if where == "top" else content[where]
    name = data.draw(st.sampled_from(sorted(at)))
    if data.draw(st.booleans()):
        at[name] = value
    else:
        del at[name]
    return content


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_json_of_any_shape_is_read_or_refused_in_words(tmp_path_factory, data):
    folder = tmp_path_factory.getbasetemp() / "shaken"
    if not folder.exists():
        make().save(folder / "last.json")
    content = shaken(json.loads((folder / "last.json").read_text()), data)
    (folder / "best.json").write_text(json.dumps(content))
    said = ""
    try:
        Checkpoint.load(folder)
    except ValueError as error:
        said = str(error)
    assert re.search(r"^$|best\.json is no checkpoint: it is cut short|vocabulary of the", said)
    make().save(folder / "last.json")  # cleaning up, it meets the other


@pytest.mark.parametrize("text", ["[" * 10**5, '{"a":' * 10**5, "\xff", "NaN", '"text"', "12"])
def test_what_is_hardly_json_is_refused_in_words(tmp_path, text):
    (tmp_path / "last.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(ValueError, match=r"last\.json is no checkpoint: it is cut short"):
        Checkpoint.load(tmp_path)


def test_facts_that_json_cannot_hold_are_refused_before_anything_is_written(tmp_path):
    with pytest.raises(TypeError, match="not JSON serializable"):
        make(metadata={"loss": torch.tensor(1.0)}).save(tmp_path / "run" / "last.json")
    assert names(tmp_path) == []


@pytest.mark.parametrize("role", ["last.json", "source", "parameters"])
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_pipe_or_an_endless_device_is_refused_and_not_waited_for(tmp_path, role, kind):
    make().save(tmp_path / "last.json")
    path = tmp_path / (role if role == "last.json" else parts(tmp_path, role)[0])
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    with pytest.raises(ValueError, match=f"{path.name} is no regular file, but a {kind}"):
        Checkpoint.load(tmp_path)
    if role == "last.json":
        make().save(tmp_path / "best.json")  # cleaning up, it meets the other
        same(Checkpoint.load(tmp_path / "best.json"), make())
    else:
        with pytest.raises(ValueError, match="is no regular file"):
            make().save(tmp_path / "best.json")


@pytest.mark.parametrize("kind", [qt.Adam, qt.AdamW])
def test_the_optimizer_of_torch_goes_in_and_comes_back(tmp_path, kind):
    """As a reader writes it: what state_dict gives is saved, and load_state_dict takes it back."""
    model = qt.Transformer(CONFIG, rng=torch.Generator().manual_seed(0))
    ids = torch.tensor([[4, 5, 6, 2]])

    def step(optimizer, model):
        model.zero_grad()
        model.eval()(ids, ids).square().sum().backward()
        optimizer.step()

    optimizer = kind(model, lr=0.01)
    step(optimizer, model)
    saved = Checkpoint(CONFIG, state_dict(model), WORDS, WORDS, {}, optimizer.state_dict())
    saved.save(tmp_path / "last.json")
    found = Checkpoint.load(tmp_path, optimizer=True)
    same(found, saved)

    again = qt.Transformer(CONFIG)
    copy_parameters(found.parameters, again)
    other = kind(again, lr=0.01)
    other.load_state_dict(found.optimizer)
    step(optimizer, model)
    step(other, again)
    for (name, one), two in zip(model.named_parameters(), again.parameters(), strict=True):
        torch.testing.assert_close(one, two, rtol=0, atol=0, msg=name)
    assert other.steps == 2
    assert len(other.optimizer.state_dict()["state"]) == len(list(again.parameters()))


def test_the_optimizer_of_numpy_goes_in_and_comes_back(tmp_path):
    model = qn.Transformer(CONFIG, rng=np.random.default_rng(0))
    optimizer = qn.Adam(model, lr=0.01)
    for gradient in model.grads.values():
        gradient += 3.0
    optimizer.step()
    Checkpoint(CONFIG, state_dict(model), WORDS, WORDS, {}, optimizer.state_dict()).save(
        tmp_path / "last.json"
    )
    found = Checkpoint.load(tmp_path, optimizer=True)
    other = qn.Adam(model, lr=0.01)
    other.load_state_dict(found.optimizer)
    for name, value in optimizer.state_dict().items():
        np.testing.assert_array_equal(other.state_dict()[name], value, name)


def test_a_model_of_characters_is_saved_with_its_sizes_and_spells_its_text(tmp_path):
    text = "to be,  or not\n\tto be"
    letters = train_character_level([text])
    config = TransformerConfig(len(letters), d_model=6, n_heads=2, d_ff=5, n_layers=1, pad_id=0)
    model = qn.DecoderOnly(config, rng=np.random.default_rng(0))
    Checkpoint(config, state_dict(model), letters, letters).save(tmp_path / "last.json")
    found = Checkpoint.load(tmp_path)
    assert found.source.characters
    assert found.source.digest == letters.digest
    again = qn.DecoderOnly(found.config)
    again.load_state_dict(found.parameters)
    ids = found.source.encode(text)
    assert len(ids) == len(text)
    np.testing.assert_array_equal(again.eval()(ids[None]), model.eval()(ids[None]))
    assert found.target.decode(ids) == text
