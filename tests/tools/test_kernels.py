"""Which kernels this processor can run, and that telling a library to run them does so."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tools import processors
from tools.kernels import Setting, another, cpu_features, probe, settings
from tools.processors import Result, check_stored, choose, product, show

OLD = {"SSE3": True, "SSE42": True}
HASWELL = {**OLD, "AVX": True, "AVX2": True, "FMA3": True}
SKYLAKE = {**HASWELL, "AVX512_SKX": True}


def names(features: dict[str, bool], library: str) -> list[str]:
    return [setting.name for setting in settings(features) if setting.backend == library]


def product_of_mkl(seen: str) -> str:
    return seen.partition("MKL ")[2].partition(";")[0]


def test_only_what_the_processor_can_run() -> None:
    assert names({}, "OpenBLAS") == names({}, "ATen") == []
    assert names(OLD, "OpenBLAS") == ["Prescott", "Nehalem"]
    assert names(OLD, "ATen") == ["ATen-default"]
    assert names(HASWELL, "OpenBLAS")[2:] == ["Sandybridge", "Haswell"]
    assert names(SKYLAKE, "OpenBLAS")[4:] == ["SkylakeX"]
    assert names(SKYLAKE, "ATen") == ["ATen-default", "ATen-avx2", "ATen-avx512"]
    assert names({}, "threads") == ["threads-1", "threads-2"]


def test_every_setting_here_takes_effect() -> None:
    """OpenBLAS, ATen and oneDNN are asked; MKL rounds otherwise."""
    assert cpu_features()
    own = probe()
    for setting in settings():
        seen = probe(setting)
        assert setting.shows in seen, setting.name
        if setting.backend == "MKL" and cpu_features().get("AVX2"):
            assert product_of_mkl(seen) != product_of_mkl(own)


def test_another_kernel_is_not_the_one_that_runs_anyway() -> None:
    every = settings(HASWELL)
    assert another(every, "OpenBLAS Haswell; ATen AVX2; ").environment == {
        "OPENBLAS_CORETYPE": "Sandybridge",
        "ATEN_CPU_CAPABILITY": "default",
    }
    assert another(every, "OpenBLAS Sandybridge; ").name == "Nehalem ATen-default"
    assert another(settings(OLD), "OpenBLAS Nehalem; ").name == "Prescott ATen-default"
    assert another(settings({}), "OpenBLAS ARMV8; ").name == "threads-1"


def test_the_product_takes_one_setting_of_each_library() -> None:
    every = settings(HASWELL)
    joined = product(every)
    assert len(joined) == 4 * 2 * 1 * 1 * 2
    assert len({setting.name for setting in joined}) == len(joined)
    assert joined[0].environment["OPENBLAS_CORETYPE"] == "Prescott"
    assert joined[0].environment["OMP_NUM_THREADS"] == "1"
    assert joined[-1].environment["ATEN_CPU_CAPABILITY"] == "avx2"


def test_an_unknown_setting_is_refused_with_those_there_are() -> None:
    every = settings(OLD)
    assert [setting.name for setting in choose(every, ["Nehalem"])] == ["Nehalem"]
    with pytest.raises(ValueError, match="no setting 'Zen' here; there are Prescott, Nehalem, A"):
        choose(every, ["Zen"])


def test_what_would_be_stored_anew_is_named_by_chapter(monkeypatch: pytest.MonkeyPatch) -> None:
    said = "04_scaling.ipynb: unchanged (9 s)\n11_training.ipynb: would change (30 s)\n"
    called = []

    def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        called.append((command[1:], options["env"]["OPENBLAS_CORETYPE"]))
        return subprocess.CompletedProcess(command, 1, said)

    monkeypatch.setattr(subprocess, "run", run)
    setting = Setting("Old", "OpenBLAS", (("OPENBLAS_CORETYPE", "Prescott"),), "")
    names = ("04_scaling", "11_training", "14_families")
    found = check_stored(setting, [Path(f"chapters/{name}.ipynb") for name in names])
    assert [result.failed for result in found] == [(), ("would change (30 s)",), ("did not run",)]
    assert called == [(["tools/run_notebooks.py", "--check", *names], "Prescott")]


def test_the_table_counts_chapters_and_names_cells(capsys: pytest.CaptureFixture[str]) -> None:
    old, new = (Setting(name, "OpenBLAS", (), "") for name in ("Old", "New"))
    results = [Result(old, "07_add_norm", ()), Result(old, "14_families", ("Cell 40",))]
    results += [Result(new, "07_add_norm", ()), Result(new, "14_families", ())]
    console = processors.Console(width=100)
    assert show(results, console) == 1
    said = capsys.readouterr().out
    assert "Cell 40" in said
    assert "3 passed, 1 failed" in said
    assert show(results[2:], console) == 0
