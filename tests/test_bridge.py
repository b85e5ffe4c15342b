"""Parameters go to the other room and back, and to a file and back, whole or not at all."""

import os
import pickle
import stat

import numpy as np
import pytest
import torch
from safetensors.torch import load_file as torch_load_file
from safetensors.torch import save_file as torch_save_file

import qkv.numpy as qn
import qkv.torch as qt
from qkv.bridge import copy_gradients, copy_parameters, load_state_dict, save_state_dict, state_dict
from tests.helpers.processes import run_python
from tests.helpers.rooms import close


class NumpyNest(qn.Layer):
    """A list, a layer that stands in two places, a square matrix, one without bias."""

    def __init__(self, rng, dtype=np.float64):
        super().__init__()
        self.blocks = [qn.Linear(5, 7, rng=rng, dtype=dtype), qn.Linear(7, 7, rng=rng, dtype=dtype)]
        self.last = qn.Linear(7, 3, False, rng=rng, dtype=dtype)
        self.again = self.blocks[1]
        self.table = qn.LearnedPositions(11, 5, rng=rng, dtype=dtype)
        for _, value in self.named_parameters():
            value[...] = rng.standard_normal(value.shape)

    def __call__(self, x):
        return self.last(self.again(self.blocks[1](self.blocks[0](x))))


class TorchNest(qt.Layer):
    def __init__(self, dtype=torch.float64):
        super().__init__()
        blocks = qt.Linear(5, 7, dtype=dtype), qt.Linear(7, 7, dtype=dtype)
        self.blocks = torch.nn.ModuleList(blocks)
        self.last = qt.Linear(7, 3, False, dtype=dtype)
        self.again = self.blocks[1]
        self.table = qt.LearnedPositions(11, 5, dtype=dtype)

    def forward(self, x):
        return self.last(self.again(self.blocks[1](self.blocks[0](x))))


@pytest.fixture
def nests():
    return NumpyNest(np.random.default_rng(0)), TorchNest()


NAMES = ["blocks.0.weight", "blocks.0.bias", "blocks.1.weight", "blocks.1.bias", "last.weight"]
NAMES.append("table.weight")


def same(state, other):
    """Two states are equal in names, values, shapes and dtypes."""
    assert list(state) == list(other)
    for name, value in state.items():
        assert value.dtype == other[name].dtype
        np.testing.assert_array_equal(value, other[name])


def test_parameters_go_to_torch_and_back(nests):
    layer, module = nests
    x = np.random.default_rng(1).standard_normal((2, 3, 5))
    copy_parameters(layer, module)
    close(module(torch.tensor(x)).detach(), layer(x))
    np.testing.assert_array_equal(module.blocks[1].weight.detach(), layer.again.params["weight"].T)
    np.testing.assert_array_equal(module.table.weight.detach(), layer.table.params["weight"])
    other = NumpyNest(np.random.default_rng(2))
    copy_parameters(module, other)
    same(other.state_dict(), layer.state_dict())
    assert sorted(other.state_dict()) == sorted(NAMES)
    same(state_dict(module), layer.state_dict())
    fresh = TorchNest()
    copy_parameters(layer.state_dict(), fresh)  # a state does as well
    same(state_dict(fresh), layer.state_dict())


def test_what_is_copied_is_not_shared(nests):
    layer, module = nests
    source = layer.state_dict()
    states = state_dict(layer), state_dict(module), state_dict(source)
    before = [{name: value.copy() for name, value in state.items()} for state in states]
    copy_parameters(NumpyNest(np.random.default_rng(3)), module)
    for _, value in (*layer.named_parameters(), *source.items()):
        value += 1
    for state, copy in zip(states, before, strict=True):
        same(state, copy)
    copy_parameters(layer, module)
    before = state_dict(module)
    for _, value in layer.named_parameters():
        value += 1
    same(state_dict(module), before)


def test_the_receiver_keeps_its_dtype(nests):
    layer, _ = nests
    short = TorchNest(torch.bfloat16)
    copy_parameters(layer, short)
    assert {p.dtype for p in short.parameters()} == {torch.bfloat16}
    assert {x.dtype for x in state_dict(short).values()} == {np.dtype(np.float32)}
    other = NumpyNest(np.random.default_rng(4), np.float32)
    copy_parameters(short, other)
    assert {x.dtype for x in other.state_dict().values()} == {np.dtype(np.float32)}
    close(other.last.params["weight"], layer.last.params["weight"], "bfloat16")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda s: s.pop("last.weight"), "last.weight is missing"),
        (lambda s: s.update(more=s["last.weight"]), "more is not a parameter of this model"),
        (
            lambda s: s.update({"last.weight": s["last.weight"].T}),
            r"last.weight must be \(7, 3\), got \(3, 7\)",
        ),
        (
            lambda s: s.update({"last.weight": [1.0]}),
            "last.weight must be an array of numbers, got",
        ),
        (
            lambda s: s.update({"last.weight": np.array(["a"])}),
            "last.weight must be an array of num",
        ),
        (
            lambda s: s.update({"last.weight": torch.ones(7, 3)}),
            "a torch module can be passed whole",
        ),
        (lambda s: s.update({3: s["last.weight"]}), "names must be text, got 3"),
    ],
)
def test_a_state_that_does_not_fit_is_refused_by_name_and_changes_nothing(nests, change, words):
    layer, module = nests
    before, state = state_dict(module), layer.state_dict()
    change(state)
    with pytest.raises(ValueError, match=words):
        copy_parameters(state, module)
    same(state_dict(module), before)


def test_what_holds_no_parameters_is_refused(nests):
    layer, module = nests
    with pytest.raises(ValueError, match="target must be a layer or a torch module, got dict"):
        copy_parameters(module, layer.state_dict())
    with pytest.raises(ValueError, match=r"Linear\.load_state_dict: weight is missing"):
        copy_parameters(module, qn.Linear(5, 7))
    with pytest.raises(ValueError, match="copy_parameters: weight is missing"):
        copy_parameters(layer, qt.Linear(5, 7))
    for target in nests:
        with pytest.raises(ValueError, match="state_dict: model must have parameters, got int"):
            copy_parameters(3, target)


def test_parameters_go_to_a_model_of_the_same_room(nests):
    layer, module = nests
    for source, target in ((layer, NumpyNest(np.random.default_rng(2))), (module, TorchNest())):
        copy_parameters(source, target)
        same(state_dict(target), state_dict(source))


def go_back(layer, module):
    """The same random gradient from above goes back through both nests."""
    rng = np.random.default_rng(1)
    x, dout = rng.standard_normal((2, 3, 5)), rng.standard_normal((2, 3, 3))
    module(torch.tensor(x)).backward(torch.tensor(dout))
    layer(x)
    for part in (layer.last, layer.again, layer.again, layer.blocks[0]):
        dout = part.backward(dout)


def test_gradients_go_to_torch_and_back(nests):
    layer, module = nests
    copy_parameters(layer, module)
    go_back(layer, module)
    expected = {name: value.copy() for name, value in layer.named_gradients()}
    assert module.table.weight.grad is None  # nothing came back to it
    other, fresh = NumpyNest(np.random.default_rng(2)), TorchNest()
    for gradient in (value for _, value in other.named_gradients()):
        gradient[...] = 7  # what was there is replaced
    copy_gradients(module, other)
    for name, gradient in other.named_gradients():
        close(gradient, expected[name])
    copy_gradients(layer, fresh)
    for name in ("blocks.0", "blocks.1", "last"):
        part, theirs = fresh.get_submodule(name), module.get_submodule(name)
        np.testing.assert_array_equal(part.weight.grad.T, expected[f"{name}.weight"])
        close(part.weight.grad, theirs.weight.grad)
    assert not fresh.table.weight.grad.any()
    for same_room, source in ((NumpyNest(np.random.default_rng(3)), layer), (TorchNest(), module)):
        copy_gradients(source, same_room)
        back = NumpyNest(np.random.default_rng(4))
        copy_gradients(same_room, back)
        for name, gradient in back.named_gradients():
            close(gradient, expected[name])


def test_a_step_by_gradients_from_the_other_room_is_that_room_s_own(nests):
    """What they are for: autograd's gradients, the NumPy room's optimizer."""
    layer, module = nests
    copy_parameters(layer, module)
    go_back(NumpyNest(np.random.default_rng(5)), module)
    copy_gradients(module, layer)
    qn.AdamW(layer, lr=0.1).step()
    qt.AdamW(module, lr=0.1).step()
    for name, value in state_dict(module).items():
        close(value, layer.state_dict()[name])


def test_gradients_take_the_receiver_s_dtype_and_leave_what_is_frozen(nests):
    layer, module = nests
    go_back(layer, module)
    expected = dict(layer.named_gradients())["last.weight"]
    short = TorchNest(torch.bfloat16)
    short.blocks[0].requires_grad_(False)
    copy_gradients(layer, short)
    assert short.blocks[0].weight.grad is None
    assert short.last.weight.grad.dtype == torch.bfloat16
    other = NumpyNest(np.random.default_rng(4), np.float32)
    other.blocks[1].requires_grad["bias"] = False
    other.blocks[1].grads["bias"][...] = 7
    copy_gradients(short, other)
    assert (other.blocks[1].grads["bias"] == 7).all()
    gradients = dict(other.named_gradients())
    assert {value.dtype for value in gradients.values()} == {np.dtype(np.float32)}
    close(gradients["last.weight"], expected, "bfloat16")
    assert not gradients["blocks.0.weight"].any()  # frozen there, and so without one


def test_gradients_that_do_not_fit_are_refused_and_change_nothing(nests):
    layer, module = nests
    go_back(layer, module)
    before = module.last.weight.grad.clone()
    with pytest.raises(ValueError, match=r"copy_gradients: blocks\.0\.weight is missing"):
        copy_gradients(qn.Linear(5, 7), module)
    with pytest.raises(ValueError, match=r"weight must be \(5, 7\), got \(7, 5\)"):
        copy_gradients(qt.Linear(7, 5), qn.Linear(5, 7))
    with pytest.raises(ValueError, match="target must be a layer or a torch module, got dict"):
        copy_gradients(module, layer.state_dict())
    layer.last(np.ones((2, 7)))
    with pytest.raises(ValueError, match="every call must have had its backward, got 1 of last"):
        copy_gradients(layer, module)
    assert torch.equal(module.last.weight.grad, before)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64", "bool", ">f4"])
def test_a_state_comes_back_from_its_file(tmp_path, dtype):
    state = {
        "table.weight": np.arange(6).reshape(2, 3).astype(dtype),
        "turned": np.arange(6).reshape(2, 3).astype(dtype).T,
        "strided": np.arange(12).astype(dtype)[::2],
        "one": np.array(1, dtype),
        "none": np.ones((0, 3), dtype),
    }
    save_state_dict(tmp_path / "state.safetensors", state)
    found = load_state_dict(str(tmp_path / "state.safetensors"))
    assert set(found) == set(state)
    for name, value in found.items():
        assert value.dtype == np.dtype(dtype).newbyteorder("=")
        assert value.shape == state[name].shape
        np.testing.assert_array_equal(value, state[name])
        value[...] = 0  # it is the caller's own


def test_both_rooms_write_the_same_file(tmp_path, nests):
    layer, module = nests
    copy_parameters(layer, module)
    save_state_dict(tmp_path / "a", layer)
    save_state_dict(tmp_path / "b", module)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    other = NumpyNest(np.random.default_rng(5))
    other.load_state_dict(load_state_dict(tmp_path / "a"))
    same(other.state_dict(), layer.state_dict())


def test_others_read_our_files_and_we_read_theirs(tmp_path, nests):
    layer, _ = nests
    save_state_dict(tmp_path / "ours", layer)
    theirs = torch_load_file(tmp_path / "ours")
    for name, value in layer.named_parameters():
        np.testing.assert_array_equal(theirs[name].numpy(), value)
    torch_save_file({"x": torch.arange(6.0).reshape(2, 3)}, tmp_path / "theirs")
    np.testing.assert_array_equal(load_state_dict(tmp_path / "theirs")["x"], [[0, 1, 2], [3, 4, 5]])


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, nests, monkeypatch):
    layer, _ = nests
    path = tmp_path / "state"
    save_state_dict(path, layer)
    before = path.read_bytes()

    def broken(*_):
        raise OSError("disk full")

    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, broken)
            with pytest.raises(OSError, match="disk full"):
                save_state_dict(path, {"x": np.ones(3)})
        assert path.read_bytes() == before
        assert os.listdir(tmp_path) == ["state"]
    with pytest.raises(ValueError, match="x must be an array of numbers"):
        save_state_dict(path, {"x": None})
    assert path.read_bytes() == before
    save_state_dict(path, {"x": np.ones(3)})
    assert list(load_state_dict(path)) == ["x"]
    assert os.listdir(tmp_path) == ["state"]
    plain = tmp_path / "plain"
    plain.touch()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_a_file_cut_short_anywhere_is_refused_by_name(tmp_path):
    path = tmp_path / "state.safetensors"
    save_state_dict(path, {"weight": np.arange(6.0).reshape(2, 3), "bias": np.ones(3)})
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(
            ValueError, match=r"load_state_dict: .*state\.safetensors is no safetensors"
        ):
            load_state_dict(path)
    path.write_bytes(whole + b"more")
    with pytest.raises(ValueError, match="is no safetensors file"):
        load_state_dict(path)


class Trap:
    """Unpickled, it would make a folder."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_a_foreign_file_is_refused_and_never_unpickled(tmp_path):
    path, trap = tmp_path / "foreign", tmp_path / "sprung"
    with path.open("wb") as file:
        pickle.dump(Trap(trap), file)
    foreign = [path.read_bytes()]
    np.save(path.with_suffix(".npy"), np.array([Trap(trap)]), allow_pickle=True)
    foreign.append(path.with_suffix(".npy").read_bytes())
    torch.save({"x": torch.ones(3), "trap": Trap(trap)}, path)
    foreign += [path.read_bytes(), b"words\n" * 50, bytes(1000), b"\xff" * 1000]
    for content in foreign:
        path.write_bytes(content)
        with pytest.raises(
            ValueError, match="foreign is no safetensors file: it is cut short or of"
        ):
            load_state_dict(path)
    assert not trap.exists()


def test_a_dtype_that_numpy_lacks_is_refused_by_name(tmp_path):
    torch_save_file({"x": torch.ones(3, dtype=torch.bfloat16)}, tmp_path / "short")
    with pytest.raises(ValueError, match=r"short has a dtype that NumPy lacks: .*BF16"):
        load_state_dict(tmp_path / "short")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        load_state_dict(tmp_path / "nowhere")


def test_files_need_no_torch(tmp_path, nests):
    layer, _ = nests
    save_state_dict(tmp_path / "state", layer)
    found = run_python(
        "import sys; sys.modules['torch'] = None\n"
        "import numpy as np, qkv.numpy as qn, qkv.bridge as bridge\n"
        "state = bridge.load_state_dict(sys.argv[1])\n"
        "layer = qn.Linear(5, 7, dtype=np.float64)\n"
        "layer.load_state_dict({n: state[f'blocks.0.{n}'] for n in ('weight', 'bias')})\n"
        "bridge.save_state_dict(sys.argv[1], layer)\n"
        "print(sorted(bridge.load_state_dict(sys.argv[1])))",
        tmp_path / "state",
    )
    assert found.stdout.strip() == "['bias', 'weight']", found.stderr
    again = load_state_dict(tmp_path / "state")
    np.testing.assert_array_equal(again["weight"], layer.blocks[0].params["weight"])


def test_the_bridge_imports_neither_torch_nor_safetensors_and_says_what_is_missing(tmp_path):
    (tmp_path / "state").write_bytes(b"")
    found = run_python(
        "import sys, qkv.bridge\n"
        "print([m for m in ('torch', 'safetensors') if m in sys.modules])\n"
        "sys.modules['safetensors'] = None\n"
        "try: qkv.bridge.load_state_dict(sys.argv[1])\n"
        "except ImportError as error: print(error)",
        tmp_path / "state",
    )
    words = "files of parameters need safetensors: pip install safetensors"
    assert found.stdout.splitlines() == ["[]", words], found.stderr
