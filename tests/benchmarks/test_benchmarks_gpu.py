"""The benchmarks that need a GPU, in small on a CPU: they run through, and store nothing."""

import gzip
import importlib
import sys
from pathlib import Path

import pytest
import torch

from qkv.corpus import sentences
from qkv.trainer import RuntimeConfig, TrainingConfig

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
gpu, multi30k, kernel = map(importlib.import_module, ("gpu", "multi30k_gpu", "triton_attention"))

CPU = torch.device("cpu")


def test_a_small_run_measures_all_that_a_large_one_does():
    figures = gpu.measure(gpu.SMALL, CPU)
    assert set(figures["matrix"]) == {"float32", "bfloat16"}
    assert len(figures["decoding"]) == 2 * len(gpu.SMALL.batches)
    assert len(figures["attention"]) == 2 * len(gpu.SMALL.lengths) * len(gpu.SMALL.widths)
    assert len(figures["training"]) == 2
    rows = figures["decoding"] + figures["attention"] + figures["training"]
    numbers = [value for row in rows for value in row.values() if not isinstance(value, str)]
    assert min(numbers) > 0
    text = gpu.table(figures)
    assert text.startswith("# ")
    assert text.count("| float32 |") == text.count("| bfloat16 |") == len(rows) // 2


def test_operations_are_counted_over_the_time_of_a_call(monkeypatch):
    """4 n² d_k a head, 3.5 times that with backward; 2 n³ for the product; B T tokens."""
    monkeypatch.setattr(gpu, "seconds", lambda *_: 0.5)
    assert gpu.matrix_rates(gpu.SMALL, CPU)["float32"] == 2 * 64**3 / 0.5
    first = next(gpu.attention(gpu.SMALL, CPU))
    assert first["forward"] == 4 * 2 * 32**2 * 8 / 0.5
    assert first["with backward"] == 3.5 * first["forward"]
    rates = [row["tokens a second"] for row in gpu.decoding(gpu.SMALL, CPU)]
    assert rates == [2 * B * gpu.SMALL.tokens for B in (1, 2, 1, 2)]


@pytest.mark.parametrize("module", [gpu, multi30k, kernel])
def test_without_a_gpu_nothing_is_measured_and_nothing_stored(
    module, monkeypatch, capsys, tmp_path
):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(module, "measure", None, raising=False)
    monkeypatch.setattr(module, "save_results", None)
    monkeypatch.setattr(sys, "argv", ["benchmark"])
    if module is multi30k:
        monkeypatch.setattr(module, "folder_of", lambda _: tmp_path)
    module.main()
    assert "There is no NVIDIA GPU here. Nothing was measured." in capsys.readouterr().out


def test_multi30k_is_trained_and_translated(tmp_path):
    pairs = sentences()[:60]
    for name, part in (("train", pairs), ("val", pairs[:6]), ("test_2016_flickr", pairs[:6])):
        for language, side in (("de", "source"), ("en", "target")):
            lines = "".join(" ".join(getattr(pair, side)) + "\n" for pair in part)
            (tmp_path / f"{name}.{language}.gz").write_bytes(gzip.compress(lines.encode()))
    figures = multi30k.measure(
        tmp_path,
        {"d_model": 16, "n_heads": 2, "d_ff": 32, "n_layers": 1},
        TrainingConfig(steps=4, validate_every=2),
        RuntimeConfig(device="cpu", threads=1),
    )
    assert set(figures["bleu"]) == {"greedy", "beam 4"}
    assert [point["step"] for point in figures["validation"]] == [2, 4]
    assert "d_model=16" in multi30k.table(figures)


def test_the_kernels_share_of_each_way_is_a_share_of_speed():
    sizes = {"tokens": 64, "d_model": 32, "rounds": 2, "product": 128}
    setting = {"direction": "forward", "n": 16, "d_k": 8, "causal": True, "dtype": "float16"}
    rates = {"Triton": 60.0, "default": 80.0, "flash": 40.0}
    row = {**setting, "milliseconds": dict.fromkeys(rates, 1.0), "tflops": rates}
    text = kernel.table({"sizes": sizes, "products": {"float16": 120.0}, "rows": [row]})
    assert text.endswith("| yes | 16 | 1.000 | 60 | 50% | 75% | 150% | not here |\n")
