"""What is measured on a GPU: refused without one; the same code on a processor, in small."""

import pytest
import torch

from qkv.experiments import devices_gpu


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
