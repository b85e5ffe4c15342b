"""What is measured on a GPU: refused without one; the same code on a processor, in small."""

import pytest
import torch

from qkv.experiments import devices_gpu, stored_results
from qkv.experiments.stored_results import stored_result


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_it_is_refused():
    with pytest.raises(RuntimeError, match="torch finds no CUDA GPU here"):
        devices_gpu.measure()


def test_its_figures_on_a_processor():
    figures = devices_gpu.measure_on(torch.device("cpu"), "a processor", small=True)
    devices_gpu.check(figures)
    assert figures["name"] == "a processor"
    assert figures["difference"]["float32"] < figures["difference"]["float16"]
    assert set(figures["step"]) == {"float32", "bfloat16", "compiled"}


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_fresh_small_run_on_a_gpu():
    devices_gpu.check(devices_gpu.measure(small=True))


def test_a_stored_result_holds_if_there_is_one():
    if (stored_results.RESULTS / "devices_gpu.json").exists():
        devices_gpu.check(stored_result("devices_gpu").figures)
