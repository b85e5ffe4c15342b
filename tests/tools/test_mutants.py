"""Every fault of tools/mutants.toml can be planted, and one that goes unnoticed is reported."""

import ast
import subprocess
from dataclasses import replace

import pytest

from tests.helpers.node import node
from tools import mutants

FAULTS = mutants.read_faults()


def test_every_fault_has_its_own_name():
    names = [fault.name for fault in FAULTS]
    assert len(set(names)) == len(names) >= 20


def check_syntax(name, code):
    if not name.endswith(".js"):
        ast.parse(code)
        return
    command = [node(), "--input-type=module", "--check"]
    subprocess.run(command, input=code, check=True, capture_output=True, text=True)


def test_what_is_no_javascript_is_noticed():
    with pytest.raises(subprocess.CalledProcessError):
        check_syntax("a.js", "const = 1;")


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_can_be_planted_and_has_its_witnesses(fault):
    check_syntax(fault.file, mutants.with_fault(fault))  # a fault of meaning
    assert fault.old != fault.new
    assert (mutants.ROOT / fault.test).is_file()
    assert not fault.chapter or (mutants.ROOT / fault.chapter).is_file()


def test_a_pattern_that_is_gone_is_an_error():
    with pytest.raises(mutants.MutantError, match="found 0 times"):
        mutants.with_fault(replace(FAULTS[0], old="no such line"))


def test_a_copy_holds_the_fault_and_the_tree_does_not(tmp_path):
    fault = FAULTS[0]
    before = (mutants.ROOT / "src/qkv" / fault.file).read_text("utf-8")
    copy = mutants.copy_source(tmp_path, fault)
    assert (copy / "qkv" / fault.file).read_text("utf-8") == mutants.with_fault(fault) != before
    assert (mutants.ROOT / "src/qkv" / fault.file).read_text("utf-8") == before


@pytest.mark.parametrize(
    ("old", "new", "code", "said"),
    [
        ('"layer", ', "", 0, "All 1 faults were noticed."),
        ("as words", "words", 1, "survived"),
    ],
)
def test_only_a_fault_that_goes_unnoticed_fails(tmp_path, monkeypatch, capfd, old, new, code, said):
    witness = tmp_path / "test_norms.py"
    witness.write_text(
        "from qkv.shapes.choices import NORMS\ndef test_two(): assert len(NORMS) == 2\n"
    )
    fault = replace(FAULTS[0], file="shapes/choices.py", test=str(witness), old=old, new=new)
    monkeypatch.setattr(mutants, "read_faults", lambda: [fault])
    assert mutants.main(["--unit-only"]) == code
    assert said in capfd.readouterr().out


def test_a_witness_that_complains_without_a_fault_is_asked_no_further(tmp_path, monkeypatch, capfd):
    witness = tmp_path / "test_nothing.py"
    witness.write_text("def test_nothing(): assert False\n")
    fault = replace(FAULTS[0], test=str(witness))
    monkeypatch.setattr(mutants, "read_faults", lambda: [fault])
    assert mutants.main(["--unit-only"]) == 1
    assert "complains without any fault" in capfd.readouterr().out


def test_an_unknown_name_is_refused(capsys):
    assert mutants.main(["--only", "nothing"]) == 2
    assert "There is no fault nothing" in capsys.readouterr().out
