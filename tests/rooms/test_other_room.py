"""The other room's arrays are refused in one sentence, by all that takes arrays."""

import numpy as np
import pytest
import torch

import qkv.numpy as qn
import qkv.torch as qt
from qkv.config import TransformerConfig
from tests.helpers.decoding import table
from tests.helpers.rooms import qkv, tensor

CONFIG = TransformerConfig(
    9, d_model=6, n_heads=2, d_ff=7, n_layers=1, max_len=8, dropout=0.0, tie_word_embeddings="none"
)
X, X3, IDS = np.ones((2, 6), np.float32), np.ones((2, 3, 6), np.float32), np.array([[1, 2, 3]] * 2)
HEADS = np.ones((2, 1, 3, 4), np.float32)
Q, K, V = qkv(S=5)
DOUT, ONES, MASK = np.ones((2, 3, 5, 13)), np.ones(6, np.float32), np.ones((1, 1, 5, 5), bool)
LOGITS, TARGETS = np.ones((3, 7)), np.array([1, 2, 3])
START = np.array([[1], [2]])
W = np.ones((7, 2)), np.ones((7, 2)), np.ones(2)


def search(name, **options):
    def call(room, to):
        own = np.asarray if room is qn else tensor
        return getattr(room, name)(
            table(0, 5, own), to(START), eos_id=0, max_new_tokens=2, **options
        )

    return call


def decoding(room):
    own = np.asarray if room is qn else tensor
    return room.Transformer(CONFIG).eval().start_decoding(own(IDS))


# A call for each public name that takes arrays, of arrays made by `to`.
CALLS = {
    "additive_attention": lambda r, to: r.additive_attention(*map(to, (Q, K, V, *W))),
    "average_checkpoints": lambda r, to: r.average_checkpoints([{"a": to(ONES)}]),
    "beam_search": search("beam_search"),
    "blockwise_attention": lambda r, to: r.blockwise_attention(*map(to, (Q, K, V))),
    "exhaustive_search": search("exhaustive_search"),
    "combine_masks": lambda r, to: r.combine_masks(to(MASK)),
    "cross_entropy": lambda r, to: r.cross_entropy(to(LOGITS), to(TARGETS)),
    "dropout": lambda r, to: r.dropout(to(X), to(X > 0), 0.5),
    "embedding": lambda r, to: r.embedding(to(IDS), to(np.ones((4, 7)))),
    "gelu": lambda r, to: r.gelu(to(X)),
    "greedy": search("greedy"),
    "top_k_filtering": lambda r, to: r.top_k_filtering(to(LOGITS), 2),
    "top_p_filtering": lambda r, to: r.top_p_filtering(to(LOGITS), 0.5),
    "layer_norm": lambda r, to: r.layer_norm(to(X), to(ONES), bias=to(ONES)),
    "linear": lambda r, to: r.linear(to(X), weight=to(X.T)),
    "log_softmax": lambda r, to: r.log_softmax(to(X)),
    "linformer_attention": lambda r, to: r.linformer_attention(
        *map(to, (Q, K, V, np.eye(5), np.eye(5)))
    ),
    "merge_heads": lambda r, to: r.merge_heads(to(HEADS)),
    "padding_mask": lambda r, to: r.padding_mask(to(IDS), 0),
    "prefix_mask": lambda r, to: r.prefix_mask(to(IDS[0]), 5),
    "performer_attention": lambda r, to: r.performer_attention(*map(to, (Q, K, V, np.eye(7)))),
    "relu": lambda r, to: r.relu(to(X)),
    "rms_norm": lambda r, to: r.rms_norm(to(X), to(ONES)),
    "rotary": lambda r, to: r.rotary(to(X)),
    "sample": search("sample"),
    "scaled_dot_product_attention": lambda r, to: r.scaled_dot_product_attention(
        *map(to, (Q, K, V)), mask=to(MASK)
    ),
    "silu": lambda r, to: r.silu(to(X)),
    "softmax": lambda r, to: r.softmax(to(X)),
    "split_heads": lambda r, to: r.split_heads(to(X), 2),
    "AddNorm": lambda r, to: r.AddNorm(6)(to(X), lambda x: x),
    "Decoder": lambda r, to: r.Transformer(CONFIG).eval().decoder(to(X3), to(X3)),
    "DecoderLayer": lambda r, to: r.DecoderLayer(6, 2, 7)(to(X3), to(X3)),
    "DecoderOnly": lambda r, to: r.DecoderOnly(CONFIG)(to(IDS)),
    "DecodingState": lambda r, to: decoding(r)(to(IDS)),
    "DecodingState.extend": lambda r, to: decoding(r).extend(to(IDS)),
    "Dropout": lambda r, to: r.Dropout(0.5)(to(X)),
    "Dropout in eval mode": lambda r, to: r.Dropout(0.5).eval()(to(X)),
    "Embedding": lambda r, to: r.Embedding(9, 6)(to(IDS)),
    "Embedding.project": lambda r, to: r.Embedding(9, 6).project(to(X)),
    "Encoder": lambda r, to: r.Transformer(CONFIG).encoder(to(X3)),
    "EncoderLayer": lambda r, to: r.EncoderLayer(6, 2, 7)(to(X3)),
    "EncoderOnly": lambda r, to: r.EncoderOnly(CONFIG, mlm_head=False).hidden_states(to(IDS)),
    "FeedForward": lambda r, to: r.FeedForward(6, 7)(to(X)),
    "KeyValueCache": lambda r, to: r.KeyValueCache().append(to(HEADS), to(HEADS)),
    "KeyValueCache.set_static": lambda r, to: r.KeyValueCache().set_static(to(HEADS), to(HEADS)),
    "LayerNorm": lambda r, to: r.LayerNorm(6)(to(X)),
    "LearnedPositions": lambda r, to: r.LearnedPositions(8, 6)(to(X)),
    "Linear": lambda r, to: r.Linear(6, 3)(to(X)),
    "Linear.load_state_dict": lambda r, to: r.Linear(3, 3).load_state_dict(
        {"weight": to(np.eye(3)), "bias": to(np.ones(3))}
    ),
    "MultiHeadAttention": lambda r, to: r.MultiHeadAttention(6, 2)(to(X3), memory=to(X3)),
    "RMSNorm": lambda r, to: r.RMSNorm(6)(to(X)),
    "Transformer": lambda r, to: r.Transformer(CONFIG)(to(IDS), to(IDS)),
    "Transformer.start_decoding": lambda r, to: (
        r.Transformer(CONFIG).eval().start_decoding(to(IDS))
    ),
    "Transformer.encode": lambda r, to: r.Transformer(CONFIG).encode(to(IDS)),
}
BACKWARD = {
    "additive_attention": lambda to: map(to, (DOUT, Q, K, V, *W)),
    "blockwise_attention": lambda to: map(to, (DOUT, Q, K, V)),
    "cross_entropy": lambda to: (1.0, to(LOGITS), to(TARGETS)),
    "dropout": lambda to: (to(X), to(X > 0), 0.5),
    "embedding": lambda to: (to(np.ones((2, 3, 7))), to(IDS), to(np.ones((4, 7)))),
    "gelu": lambda to: map(to, (X, X)),
    "layer_norm": lambda to: map(to, (X, X, ONES)),
    "log_softmax": lambda to: map(to, (X, X)),
    "linear": lambda to: map(to, (np.ones((2, 2)), np.ones((2, 6)), np.ones((6, 2)))),
    "relu": lambda to: map(to, (X, X)),
    "rms_norm": lambda to: map(to, (X, X, ONES)),
    "rotary": lambda to: [to(X)],
    "scaled_dot_product_attention": lambda to: map(to, (DOUT, Q, K, V)),
    "silu": lambda to: map(to, (X, X)),
    "softmax": lambda to: map(to, (X, X)),
}
TAKE_NONE = {
    "Adam", "AdamW", "Layer", "alibi_bias", "alibi_slopes", "causal_mask", "clip_grad_norm",
    "global_mask", "length_normalizer", "linear_schedule", "noam_schedule",
    "orthogonal_random_features", "sinusoidal_encoding", "strided_mask", "window_mask",
}  # fmt: skip
BRIDGE = "qkv.bridge copies parameters from room to room"
REFUSED = {
    qn: f"must (be a NumPy array|hold NumPy arrays), got a torch tensor: .*{BRIDGE}$",
    qt: f"must (be a torch tensor|hold torch tensors), got a NumPy array: .*{BRIDGE}$",
}
OWN = {qn: np.asarray, qt: tensor}
OTHER = {qn: tensor, qt: np.asarray}


def test_every_public_name_is_swept():
    words = {name.partition(".")[0].partition(" ")[0] for name in CALLS}
    assert words | TAKE_NONE == set(qt.__all__)
    assert {f"{name}_backward" for name in BACKWARD} == set(qn.__all__) - set(qt.__all__)


@pytest.mark.parametrize("room", [qn, qt])
@pytest.mark.parametrize("name", CALLS)
def test_all_that_takes_arrays_refuses_those_of_the_other_room(name, room):
    CALLS[name](room, OWN[room])  # the call itself is sound
    with pytest.raises(ValueError, match=REFUSED[room]):
        CALLS[name](room, OTHER[room])


@pytest.mark.parametrize("name", BACKWARD)
def test_every_backward_refuses_tensors(name):
    backward = getattr(qn, f"{name}_backward")
    backward(*BACKWARD[name](np.asarray))
    with pytest.raises(ValueError, match=f"^{name}_backward: .*{REFUSED[qn]}"):
        backward(*BACKWARD[name](tensor))


@pytest.mark.parametrize("room", [qn, qt])
@pytest.mark.parametrize("name", ["greedy", "sample", "beam_search", "exhaustive_search"])
def test_a_search_refuses_what_a_model_of_the_other_room_returns(name, room):
    step = table(0, 5, OTHER[room])
    with pytest.raises(ValueError, match=f"^{name}: step's result {REFUSED[room]}"):
        getattr(room, name)(step, OWN[room](START), eos_id=0, max_new_tokens=2)


def test_one_array_among_others_is_named():
    words = r"^scaled_dot_product_attention: bias must be a NumPy array, got a torch tensor: "
    with pytest.raises(ValueError, match=words):
        qn.scaled_dot_product_attention(Q, K, V, bias=torch.zeros(5, 5))
    layer = qn.Linear(6, 3)
    layer(X)
    with pytest.raises(ValueError, match=r"^Linear\.backward: dout must be a NumPy array"):
        layer.backward(torch.ones(2, 3))


def test_a_parameter_of_torch_is_a_tensor_too():
    with pytest.raises(ValueError, match=REFUSED[qn]):
        qn.softmax(torch.nn.Parameter(torch.ones(3)))


def test_a_state_of_an_optimizer_is_of_its_room_or_comes_from_a_checkpoint():
    sizes = {"weight": (1, 1), "bias": 1}
    state = {f"{m}.{name}": np.ones(size) for m in "mv" for name, size in sizes.items()}
    qt.Adam(qt.Linear(1, 1)).load_state_dict({"step": np.array(1.0), **state})
    tensors = {name: tensor(value) for name, value in state.items()}
    with pytest.raises(ValueError, match=f"^Adam.load_state_dict: state {REFUSED[qn]}"):
        qn.Adam(qn.Linear(1, 1)).load_state_dict({"step": tensor(1.0), **tensors})


@pytest.mark.parametrize("room", [qn, qt])
def test_indices_may_be_of_any_kind(room):
    for positions in ([0], np.array([0]), torch.tensor([0])):
        assert room.global_mask(3, positions).sum() == 5
        cache = room.KeyValueCache()
        cache.append(OWN[room](HEADS), OWN[room](HEADS))
        cache.reorder(positions)
        assert tuple(cache.keys.shape) == (1, 1, 3, 4)


def test_many_are_compiled_though_they_share_their_checks():
    torch._dynamo.reset()
    for name in ("relu", "gelu", "silu", "softmax", "log_softmax"):
        for n in range(2, 5):  # one function alone comes nowhere near the limit of eight
            compiled = torch.compile(getattr(qt, name), backend="aot_eager", fullgraph=True)
            compiled(torch.ones([1] * n))
