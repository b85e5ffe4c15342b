"""A public call checks its arguments, in its own name; what it calls inside checks none again."""

import inspect
import sys
import threading

import numpy as np
import pytest
import torch

import qkv.numpy as qn
import qkv.torch as qt
from qkv.config import TransformerConfig
from qkv.numpy.attention import scaled_dot_product as numpy_attention
from qkv.torch.attention import scaled_dot_product as torch_attention
from tests.helpers.models import build, config_of, texts, twins
from tests.helpers.rooms import ROOMS, close

X = np.ones((2, 5, 12), np.float32)
MASK = np.ones((2, 5), bool)
CHECKS = ("/qkv/shapes/", "/checks.py")


def calls_of(run):
    """How many Python functions of the package run(), and how many of these are checks."""
    files = []

    def count(frame, event, _):
        if event == "call" and "/qkv/" in frame.f_code.co_filename.replace("\\", "/"):
            files.append(frame.f_code.co_filename.replace("\\", "/"))

    sys.setprofile(count)
    try:
        run()
    finally:
        sys.setprofile(None)
    return len(files), sum(any(part in file for part in CHECKS) for file in files)


@pytest.mark.parametrize("mode", ["train", "eval"])
@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_a_forward_makes_few_calls_and_most_of_them_compute(room, to, mode):
    config = TransformerConfig(17, d_model=12, n_heads=3, d_ff=7, n_layers=1, dropout=0.0, pad_id=0)
    model, ids = build(room, config, "encoder-decoder"), [to(a) for a in texts(config)]
    getattr(model, mode)()
    model(*ids)  # each notation of shapes is read once
    calls, checks = calls_of(lambda: model(*ids))
    assert calls <= 240
    assert checks <= calls / 4


@pytest.mark.parametrize("attention", [numpy_attention, torch_attention])
def test_the_formula_of_attention_is_at_most_eight_lines(attention):
    source = inspect.getsource(attention.attention_formula)
    body = source.partition('"""')[2].partition('"""')[2].strip("\n")
    assert len(body.splitlines()) <= 8
    assert "check" not in body


def layer_of(room, kind, **options):
    return getattr(room, kind)(12, 3, 7, **options)


NAMED = {
    "EncoderLayer: x must be (B, T, d_model) = (B, T, 12), got (2, 5, 11)": lambda r, m: layer_of(
        r, "EncoderLayer"
    )(m(X[..., 1:])),
    "EncoderLayer: x must be (B, T, d_model) = (B, T, 12), got (5, 12): one sentence is x[None]": (
        lambda r, m: layer_of(r, "EncoderLayer")(m(X[0]))
    ),
    "EncoderLayer: mask must broadcast to (B, H, T, S) = (2, 3, 5, 5), got (2, 5)": lambda r, m: (
        layer_of(r, "EncoderLayer")(m(X), mask=m(MASK))
    ),
    "Encoder: x must be float32 as w_q.weight is, got float64": lambda r, m: r.Encoder(
        [layer_of(r, "EncoderLayer")]
    )(m(X.astype(float))),
    "DecoderLayer: memory_mask must broadcast to (B, H, T, S) = (2, 3, 5, 5), got (2, 5)": (
        lambda r, m: layer_of(r, "DecoderLayer")(m(X), m(X), memory_mask=m(MASK))
    ),
    "Decoder: memory must be (B, S, d_model) = (2, S, 12), got (1, 5, 12)": lambda r, m: r.Decoder(
        [layer_of(r, "DecoderLayer")]
    )(m(X), m(X[:1])),
    "FeedForward: x must be (..., d_model) = (..., 12), got (2, 5, 11)": lambda r, m: r.FeedForward(
        12, 7
    )(m(X[..., 1:])),
    "Transformer.encode: source must be in [0, vocab_size) = [0, 17), got 17 at source[1, 0]": (
        lambda r, m: build(r, config_of("as in the paper"), "encoder-decoder").encode(
            m(np.array([[1], [17]]))
        )
    ),
    "Transformer.decode: target_mask must broadcast to (B, H, T, S) = (2, 3, 5, 5), got (2, 5)": (
        lambda r, m: build(r, config_of("as in the paper"), "encoder-decoder").decode(
            m(np.ones((2, 5), int)), m(X), target_mask=m(MASK)
        )
    ),
    "DecoderOnly: mask must broadcast to (B, H, T, S) = (2, 3, 5, 5), got (2, 5)": lambda r, m: (
        build(r, config_of("as in the paper"), "decoder-only")(
            m(np.ones((2, 5), int)), mask=m(MASK)
        )
    ),
    "EncoderOnly: token_types must be in [0, vocab_size) = [0, 2), got 2": lambda r, m: (
        r.EncoderOnly(config_of("post, last norm"))(
            m(np.ones((2, 5), int)), token_types=m(np.full((2, 5), 2))
        )
    ),
    "DecodingState: start + T must be at most max_len = 11, got 12": lambda r, m: (
        build(r, config_of("learned positions"), "decoder-only")
        .eval()
        .start_decoding()(m(np.ones((2, 12), int)))
    ),
}


@pytest.mark.parametrize(("room", "to"), ROOMS)
@pytest.mark.parametrize("words", NAMED)
def test_what_is_refused_is_named_after_the_call_that_was_made(words, room, to):
    with pytest.raises(ValueError) as refusal:  # noqa: PT011 (the whole beginning is compared)
        NAMED[words](room, to)
    assert str(refusal.value).startswith(words)


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_after_a_call_that_failed_the_next_one_is_checked(room, to):
    model = twins("as in the paper")[0 if room is qn else 1]
    layer, ids = model.encoder.layers[0], [to(a) for a in texts(model.config)]

    class Failure(Exception):
        pass

    def fail(*_, **__):
        raise Failure

    if room is qn:
        model.output = fail
    else:
        model.output.register_forward_hook(fail)
    with pytest.raises(Failure):
        model(*ids)
    with pytest.raises(ValueError, match="EncoderLayer: x must be"):
        layer(to(np.ones((2, 5, 11))))


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_a_call_in_another_thread_is_checked_on_its_own(room, to):
    """While one thread is inside a model, a sub-layer called by a second one refuses bad input."""
    model = twins("as in the paper")[0 if room is qn else 1]
    said = []

    def other():
        try:
            model.encoder.layers[0](to(np.ones((2, 5, 11))))
        except ValueError as error:
            said.append(str(error))

    def meanwhile(*_):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()

    inner = model.encoder.layers[1].feed_forward
    if room is qn:
        model.encoder.layers[1].feed_forward = lambda x: (meanwhile(), inner(x))[1]
    else:
        inner.register_forward_hook(meanwhile)
    model(*(to(a) for a in texts(model.config)))
    assert len(said) == 1
    assert said[0].startswith("EncoderLayer: x must be")


@pytest.mark.parametrize(("room", "to"), ROOMS)
def test_the_sublayer_that_add_norm_is_given_checks_for_itself(room, to):
    """It is the caller's own, of which AddNorm knows nothing."""
    add_norm, linear = room.AddNorm(12), room.Linear(11, 12)
    with pytest.raises(ValueError, match=r"Linear: x must be \(\.\.\., d_in\) = \(\.\.\., 11\)"):
        add_norm(to(X), linear)
    with pytest.raises(ValueError, match=r"AddNorm: sublayer\(x\) must be \(2, 5, 12\)"):
        add_norm(to(X), lambda x: x[:, 1:])


def test_hooks_come_before_the_check():
    """They may change what a layer gets, as mixed precision does."""
    layer = qt.EncoderLayer(12, 3, 7)
    layer.register_forward_pre_hook(lambda module, args: (args[0].float(),))
    assert layer(torch.ones(2, 5, 12, dtype=torch.float64)).dtype == torch.float32


@pytest.mark.parametrize("kind", ["the whole model", "a layer inside"])
def test_a_model_compiles_whole(kind):
    model = twins("as in the paper")[1].eval()
    ids = [torch.from_numpy(a) for a in texts(model.config)]
    expected = model(*ids)
    compiled = model if kind == "the whole model" else model.encoder.layers[0]
    compiled.compile(backend="aot_eager", fullgraph=True)
    close(model(*ids).detach(), expected.detach())


def test_each_checked_method_is_a_code_of_its_own():
    """A compiler compiles one code eight times and then no more."""
    methods = qt.EncoderLayer.forward, qt.DecoderLayer.forward, qt.FeedForward.forward
    assert len({id(method.__code__) for method in methods}) == len(methods)


def test_a_model_is_exported_with_a_batch_of_any_size():
    model = twins("as in the paper")[1].eval()
    ids = tuple(torch.from_numpy(a) for a in texts(model.config, B=3))
    batch = {0: torch.export.Dim("B", min=2)}
    exported = torch.export.export(model, ids, dynamic_shapes=(batch, batch)).module()
    more = tuple(torch.from_numpy(a) for a in texts(model.config, B=5))
    close(exported(*more).detach(), model(*more).detach())
