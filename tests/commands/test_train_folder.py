"""The folder of a run: held by one, kept to its threads, and told in words where it is damaged."""

import json
import os
import platform
import re
import signal
from contextlib import nullcontext
from pathlib import Path

import pytest
import torch

import qkv
from qkv.checkpoint import Checkpoint
from qkv.commands import train
from qkv.commands.train import command
from qkv.trainer import Runtime, TrainingRun, training_run
from tests.helpers.training import SHORT, SMALL, start, write_pairs
from tests.helpers.waiting import WAIT_SECONDS

VERSION = re.escape(qkv.__version__)
RESUME = ["--device", "cpu", "--resume"]


@pytest.fixture
def own(tmp_path):
    return [*SMALL, *SHORT, *write_pairs(tmp_path / "text"), "--out", str(tmp_path / "run")]


@pytest.fixture
def run(tmp_path, own, capsys):
    """The folder of a run that has ended."""
    assert train.main(own) == 0
    capsys.readouterr()
    return tmp_path / "run"


@pytest.fixture
def threads():
    """What a test changes of torch's threads is as it was afterwards."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def resume(run, *more):
    return train.main([*RESUME, *map(str, more), "--out", str(run)])


def test_a_run_goes_on_with_the_threads_that_it_began_with(run, threads, capsys):
    assert json.loads((run / "run.json").read_text())["machine"] == {
        "device": "cpu", "processes": 1, "threads": 1}  # fmt: skip
    torch.set_num_threads(2)
    assert resume(run) == 0
    assert torch.get_num_threads() == 1
    assert "This run began" not in capsys.readouterr().out
    assert resume(run, "--threads", 2) == 0
    assert torch.get_num_threads() == 2
    assert (
        "This run began on cpu (1 process, 1 thread each) and goes on with cpu (1 process, 2 "
        "threads each): the last digits of its numbers may differ."
    ) in capsys.readouterr().out


def test_threads_that_nobody_named_are_kept_too(tmp_path, own, threads):
    torch.set_num_threads(2)
    place = own.index("--threads")
    assert train.main([*own[:place], *own[place + 2 :]]) == 0
    torch.set_num_threads(1)
    assert resume(tmp_path / "run") == 0
    assert torch.get_num_threads() == 2


def test_a_second_run_in_the_same_folder_is_refused(tmp_path, own, run, capsys):
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    with TrainingRun(run, resume=True).lock():
        for call in (lambda: train.main(own), lambda: resume(run)):
            assert call() == 1
            holder = f"process {os.getpid()} on {platform.node()}"
            assert capsys.readouterr().err == (
                f"qkv train: another run is at work in {run} ({holder}): wait for its end, or name "
                "another folder with --out\n"
            )
    assert {path.name: path.read_bytes() for path in run.iterdir()} == before
    assert resume(run) == 0


def test_a_lock_ends_with_its_process_and_not_before(run, capsys):
    code = (
        "import sys, time\nfrom qkv.trainer import TrainingRun\n"
        "with TrainingRun(sys.argv[1], True).lock():\n"
        "    print('held', flush=True)\n    time.sleep(600)\n"
    )
    process = start(code, run)
    assert process.stdout.readline() == "held\n"
    assert resume(run) == 1
    assert f"(process {process.pid} on" in capsys.readouterr().err
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=WAIT_SECONDS)
    assert (run / "run.lock").exists()
    assert resume(run) == 0
    assert not (run / "run.lock").exists()


def test_processes_of_one_run_share_its_folder(own, monkeypatch, run):
    """Only the first of them holds it; the others neither hold nor wait."""
    monkeypatch.setenv("RANK", "1")
    called = []
    monkeypatch.setattr("qkv.trainer.Trainer.fit", lambda *_, **__: called.append(1), raising=False)
    # which would wait for the first
    runtime = Runtime(torch.device("cpu"))
    monkeypatch.setattr("qkv.trainer.runtime.open_runtime", lambda *_: nullcontext(runtime))
    with TrainingRun(run, resume=True).lock():
        assert resume(run) == 0
    assert called == [1]


def test_what_cannot_be_written_is_told_before_anything_is_promised(tmp_path, own, capsys):
    (tmp_path / "run").write_text("a file where a folder is due")
    for out, words in (("run", "run: File exists."), ("run/model", "Not a directory.")):
        assert train.main([*own[:-1], str(tmp_path / out)]) == 1
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.startswith("qkv train: ")
        assert words in said.err


def test_a_folder_that_is_read_only(tmp_path, own, capsys, monkeypatch):
    def refuse(path, data, **_):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(training_run, "atomic_write", refuse)
    assert train.main(own) == 1
    said = capsys.readouterr()
    assert "saved in" not in said.out
    assert said.err == f"qkv train: {tmp_path / 'run' / 'run.json'}: Permission denied.\n"
    assert not (tmp_path / "run").exists()  # it was made for nothing


def test_folders_that_were_made_for_nothing_go_again(tmp_path, own):
    (tmp_path / "mine").mkdir()
    out = tmp_path / "mine" / "a" / "b"
    assert train.main([*own[:-1], str(out), "--max-len", "2"]) == 1
    assert list((tmp_path / "mine").iterdir()) == []


def change(path, edit):
    content = json.loads(path.read_text())
    edit(content)
    path.write_text(json.dumps(content))


def option(section, name, value):
    return lambda run: change(run / "run.json", lambda c: c[section].update({name: value}))


def fact(name, value):
    return lambda run: change(run / "last.json", lambda c: c["metadata"].update({name: value}))


def content(name, data):
    return lambda run: (run / name).write_bytes(data)


def is_pipe(name):
    return lambda run: ((run / name).unlink(), os.mkfifo(run / name))


DAMAGE = [
    (option("model", "dropout", "much"), "run.json is cut short .*dropout must be .*got 'much'"),
    (option("model", "dropout", None), "run.json is cut short .*dropout must be .*got None"),
    (option("model", "n_layers", 1.5), "run.json is cut short .*n_layers must be a whole .*1.5"),
    (option("training", "betas", 3), "run.json is cut short .*betas must be 2 values, got 3"),
    (option("training", "betas", [0.9, 1]), "run.json is cut short .*betas must be .*below 1, got"),
    (option("training", "seed", True), "run.json is cut short .*seed must be a whole .*got True"),
    (option("data", "words", 1), "run.json is cut short .*words must be True or False, got 1"),
    (option("data", "tsv", 1), "run.json is cut short .*tsv must be a str, got 1"),
    (option("model", "norm", {"a": 1}), "run.json is cut short .*norm must be one of"),
    (option("data", "target", None), "--source and --target go together"),
    (option("training", "more", 1), f"its training has more, of which .* qkv {VERSION} has writ"),
    (lambda run: change(run / "run.json", lambda c: c.pop("format")), "'format' is missing"),
    (lambda run: change(run / "run.json", lambda c: c.pop("version")), "'version' is missing"),
    (lambda run: change(run / "run.json", lambda c: c.update(format="qkv run 1")), "its .format. "),
    (lambda run: change(run / "run.json", lambda c: c.update(data=[])), "run.json is cut short"),
    (
        lambda run: change(run / "run.json", lambda c: c["model"].pop("vocab_size")),
        "missing .*_size",
    ),
    (content("run.json", b"[]"), "run.json is cut short or of another kind"),
    (content("run.json", b"[" * 100_000), "run.json is cut short or of another kind"),
    (is_pipe("run.json"), "run.json is no regular file, but a pipe"),
    (content("log.jsonl", b'{"step": 3}\n{"st'), "log.jsonl is cut short or of another kind: take"),
    (content("log.jsonl", b"{}\n"), "log.jsonl is cut short or of another kind"),
    (content("log.jsonl", b"[1]\n"), "log.jsonl is cut short or of another kind"),
    (content("log.jsonl", b'{"step": "3"}\n'), "log.jsonl is cut short or of another kind"),
    (content("log.jsonl", b"\xff\xfe"), "log.jsonl is cut short or of another kind"),
    (is_pipe("log.jsonl"), "log.jsonl is no regular file, but a pipe"),
    (fact("step", "three"), "last.json is of no run: its 'step' is 'three'"),
    (fact("index", -1), "last.json is of no run: its 'index' is -1"),
    (fact("seconds", None), "last.json is of no run: its 'seconds' is None"),
    (fact("best", {"bleu": 1}), r"last.json is of no run: its 'best' is {'bleu': 1}"),
    (is_pipe("last.json"), "last.json is no regular file, but a pipe"),
]


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """The files of a run that has ended, by name."""
    own = tmp_path_factory.mktemp("sound")
    text = write_pairs(own / "text")
    assert train.main([*SMALL, *SHORT, *text, "--out", str(own / "run")]) == 0
    return {path.name: path.read_bytes() for path in (own / "run").iterdir()}


@pytest.mark.parametrize(("damage", "words"), DAMAGE, ids=range(len(DAMAGE)))
def test_a_damaged_run_is_told_in_a_line(tmp_path, sound, capsys, damage, words):
    for name, data in sound.items():
        (tmp_path / name).write_bytes(data)
    damage(tmp_path)
    assert resume(tmp_path) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert re.search(words, said), said


def test_a_run_goes_on_without_writing_where_a_strangers_links_lead(
    tmp_path, own, capsys, monkeypatch
):
    saved = TrainingRun.save

    def interrupted(self, *arguments):
        saved(self, *arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(TrainingRun, "save", interrupted)
        assert train.main(own) == 130
    run, mine = tmp_path / "run", tmp_path / "mine"
    mine.write_text("precious")
    for name in ("best.json", "average.json", "step-6.json", "log.jsonl"):
        (run / name).unlink(missing_ok=True)
        (run / name).symlink_to(mine if name == "best.json" else tmp_path / name)
    assert resume(run) == 0
    assert mine.read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "run", "text"]
    assert Checkpoint.load(run / "best.json")
    (run / "run.lock").symlink_to(mine)
    capsys.readouterr()
    assert resume(run) == 1
    assert f"{run / 'run.lock'} is a link to another file" in capsys.readouterr().err
    assert mine.read_text() == "precious"


@pytest.mark.parametrize("name", ["run.json", "log.jsonl", "last.json", "average.json"])
def test_a_new_run_begins_beside_no_file_of_another(tmp_path, own, capsys, name):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / name).symlink_to(tmp_path / "mine")
    assert train.main(own) == 1
    assert f"holds a run already ({name})" in capsys.readouterr().err
    assert os.listdir(tmp_path / "run") == [name]
    assert not (tmp_path / "mine").exists()


def test_a_run_without_its_log_goes_on(tmp_path, run):
    (run / "log.jsonl").unlink()
    assert resume(run) == 0


def test_control_c_over_a_damaged_checkpoint_is_no_traceback(run, monkeypatch, capsys):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("qkv.commands.train.command.train", stop)
    (run / "last.json").write_text("{")
    assert resume(run) == 130
    assert "last.json is no checkpoint" in capsys.readouterr().err


def test_what_comes_out_of_a_file_cannot_move_the_cursor(run, capsys):
    change(run / "last.json", lambda c: c["model"].update({"\x1b[2Jgone\x9b": 1}))
    assert resume(run) == 1
    said = capsys.readouterr().err
    assert "\\x1b[2Jgone\\x9b" in said
    assert not {"\x1b", "\x9b"} & set(said)
    assert Path(run / "last.json").exists()


def test_neither_the_name_of_a_run_nor_its_machine_moves_the_cursor(tmp_path, run, capsys):
    change(run / "run.json", lambda c: c["machine"].update(device="\x1b]0;mine\x07\x9b2J"))
    run = run.rename(tmp_path / "\x1b[2Jrun")
    assert resume(run) == 0
    said = capsys.readouterr().out
    assert "This run began on \\x1b]0;mine\\x07\\x9b2J (1 process" in said
    assert "The best model is" in said
    assert "\\x1b[2Jrun/best.json" in said
    assert not {"\x1b", "\x07", "\x9b"} & set(said)


def test_an_error_says_plain_text_as_it_is(run, capsys):
    assert Checkpoint.load(run / "best.json")
    command.say("plain 고양이")
    assert capsys.readouterr().err == "plain 고양이\n"
