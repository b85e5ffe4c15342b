"""Runtime: two processes take the gradients that one takes of the whole batch; devices by name."""

import platform

import numpy as np
import pytest
import torch
from torch.cuda._utils import _get_device_index

import qkv.torch as qt
from qkv.text import collate
from qkv.trainer import Runtime, RuntimeConfig, TrainingConfig, TranslationLoss
from qkv.trainer.loop import learning_rate_schedule, training_loop
from qkv.trainer.loss import batch_tensors
from qkv.trainer.runtime import open_runtime, select_device
from qkv.trainer.step_batches import StepBatches
from tests.helpers.kernels import FusedAttentionDtypes
from tests.helpers.models import config_of
from tests.helpers.tolerances import TOLERANCE
from tests.helpers.training import start

CPU = torch.device("cpu")
TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")


class Noted:
    """An optimizer that only notes the gradients."""

    def __init__(self, model):
        self.model, self.seen = model, []

    def step(self, lr):
        self.seen.append({n: p.grad.clone() for n, p in self.model.named_parameters()})


def gradients(runtime):
    """Those of some steps in float64: of even and odd batches, of one row, of several batches."""
    config = config_of("as in the paper")
    rng = np.random.default_rng(0)
    pairs = [tuple(rng.integers(4, 17, rng.integers(2, 9)) for _ in "ab") for _ in range(12)]
    lengths = np.array([(len(s), len(t) - 1) for s, t in pairs])
    model = qt.Transformer(config, rng=torch.Generator().manual_seed(1), dtype=torch.float64)
    training = TrainingConfig(max_grad_norm=0.5, schedule="noam", warmup=9, learning_rate=1.0)
    optimizer = Noted(model)
    loss_module = runtime.prepare(TranslationLoss(model, 0.1).train())
    schedule = learning_rate_schedule(training.resolved(1, 4.0), config.d_model)
    rows = ([range(8)], [range(5)], [[3]], [range(3), range(4, 7), [8], range(9, 12)])
    plan = [StepBatches([np.array(index) for index in batches], lengths) for batches in rows]
    steps = training_loop(loss_module, optimizer, pairs, plan, training, runtime, schedule)
    losses = [float(runtime.all_reduce(result.loss_sum)) for result in steps]
    return losses, optimizer.seen


def test_two_processes_take_the_gradients_of_one(tmp_path):
    path = tmp_path / "found.pt"
    code = tmp_path / "two.py"
    code.write_text(
        "import sys, torch, test_trainer_runtime as own\n"
        "from qkv.trainer import RuntimeConfig, open_runtime\n"
        "with open_runtime(RuntimeConfig(device='cpu', threads=1)) as runtime:\n"
        "    found = own.gradients(runtime)\n"
        "    if runtime.is_main_process: torch.save(found, sys.argv[1])\n"
    )
    process = start("", *TORCHRUN, code, path)
    said = process.communicate(timeout=300)
    assert process.returncode == 0, said[1]
    losses, found = torch.load(path, weights_only=True)
    expected_losses, expected = gradients(Runtime(CPU))
    # for the log, losses are added up in float32
    np.testing.assert_allclose(losses, expected_losses, rtol=TOLERANCE["float32"])
    assert len(found) == len(expected) == 4
    for one, other in zip(found, expected, strict=True):
        assert max(float(x.abs().max()) for x in other.values()) > 1e-3
        for name, gradient in other.items():
            torch.testing.assert_close(
                one[name], gradient, rtol=0, atol=TOLERANCE["float64"], msg=name
            )


def test_on_a_cpu_bfloat16_stays_off_the_fused_attention():
    """Forward and backward of a model: the kernel, which is slow in bfloat16, is given float32."""
    config = config_of("as in the paper", pad_id=0)
    pairs = [(np.array([4, 5, 6]), np.array([1, 7, 2])), (np.array([5]), np.array([1, 2]))]
    loss_module = TranslationLoss(qt.Transformer(config), 0.1).train()
    batch = batch_tensors(collate(pairs, range(2)), CPU)
    with FusedAttentionDtypes() as fused:
        with Runtime(CPU, RuntimeConfig(bf16=True)).autocast():
            assert torch.is_autocast_enabled("cpu")
            loss = loss_module(*batch)
        loss.backward()
    attentions = config.n_layers + 2 * config.decoder_layers
    assert fused.forward == fused.backward == [torch.float32] * attentions
    assert not torch.is_autocast_enabled("cpu")
    with Runtime(CPU).autocast():
        assert not torch.is_autocast_enabled("cpu")


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="asks glibc")
def test_what_is_freed_is_not_fetched_anew():
    code = """
import resource
import numpy as np
from qkv.trainer.runtime import tune_malloc

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

tune_malloc()
for _ in range(3):
    before = faults()
    [np.ones(2**20) for _ in range(8)]  # 8 MB each, 2,048 pages
print(faults() - before)
"""
    said = start(code).communicate(timeout=120)[0]
    assert int(said) < 1000


def test_devices_by_name(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert str(select_device("auto", None)) == "cuda"
    assert str(select_device("auto", 1)) == "cuda:1"
    assert str(select_device("cuda", 0)) == "cuda:0"
    assert str(select_device("cuda:1", None)) == "cuda:1"
    assert str(select_device("cpu", 1)) == "cpu"
    with pytest.raises(ValueError, match=r"there is no cuda:2 here, only 1 cpu and 2 cuda"):
        select_device("cuda:2", None)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert str(select_device("auto", None)) in ("cpu", "mps")


@pytest.mark.parametrize(("name", "chosen"), [("auto", []), ("cuda", []), ("cuda:1", [1])])
def test_a_gpu_without_a_number_is_the_current_one(name, chosen, monkeypatch):
    numbers = []

    def set_device(device):
        numbers.append(_get_device_index(device))  # as PyTorch reads it; raises without a number

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_device", set_device)
    with open_runtime(RuntimeConfig(device=name)) as runtime:
        assert runtime.device.type == "cuda"
    assert numbers == chosen
