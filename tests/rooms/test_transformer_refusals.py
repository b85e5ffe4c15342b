"""Bad input of whole models: one clear ValueError each, the same in both rooms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.models import MODELS, V, build, config_of, detached, twins
from tests.helpers.rooms import ROOMS, close, tensor

IDS = np.ones((2, 5), int)
X = np.ones((2, 5, 12), np.float32)


def model_of(r, case="as in the paper", model="encoder-decoder", **more):
    return build(r, config_of(case, model, **more), model)


def call(r, m, *ids, case="as in the paper", model="encoder-decoder", **given):
    given = {n: m(a) if isinstance(a, np.ndarray) else a for n, a in given.items()}
    return model_of(r, case, model)(*(m(a) for a in ids), **given)


def changed(ids, at, value):
    ids = ids.copy()
    ids[at] = value
    return ids


def layer_of(r, kind, *sizes, **options):
    return getattr(r, kind)(*(sizes or (12, 3, 7)), **options)


def started(r, m, *ids, case="as in the paper", model="encoder-decoder"):
    return model_of(r, case, model).eval().start_decoding(*map(m, ids))


LONG = "Transformer: source must be (B, S), got {}: {}"
REFUSED = {
    "Transformer: source must be an integer array, got float64: pass token ids": lambda r, m: call(
        r, m, np.ones((2, 5)), IDS
    ),
    "Transformer: target must be an integer array, got list: pass token ids": lambda r, m: model_of(
        r
    )(m(IDS), [[1, 2]]),
    LONG.format("(5,)", "one sentence is a batch of one, source[None, :]"): lambda r, m: call(
        r, m, IDS[0], IDS
    ),
    "Transformer: B must be at least 1, got source = (0, 5): "
    "at least one sentence of at least one token": lambda r, m: call(r, m, IDS[:0], IDS[:0]),
    "Transformer: T must be at least 1, got target = (2, 0): "
    "at least one sentence of at least one token": lambda r, m: call(r, m, IDS, IDS[:, :0]),
    "Transformer: target must be (B, T) = (2, T), got (1, 5): one for each source": lambda r, m: (
        call(r, m, IDS, IDS[:1])
    ),
    "Transformer: source_mask must be a bool array, got int64: "
    "True = may attend, so write mask == 1 where 1 means keep": lambda r, m: call(
        r, m, IDS, IDS, source_mask=IDS
    ),
    "Transformer: source_mask must broadcast to (B, 1, 1, S) = (2, 1, 1, 5), got (2, 1, 5, 5): "
    "it says which tokens of the source are seen, by whomever": lambda r, m: call(
        r, m, IDS, IDS, source_mask=np.ones((2, 1, 5, 5), bool)
    ),
    "Transformer: target_mask must broadcast to (B, H, T, S) = (2, 3, 5, 5), got (2, 5): "
    "a padding mask is (B, 1, 1, S), a causal one (1, 1, T, S)": lambda r, m: call(
        r, m, IDS, IDS, target_mask=np.ones((2, 5), bool)
    ),
    "Transformer.decode: memory must be (B, S, d_model) = (2, S, 12), got (1, 5, 12): "
    "memory is one for each sentence of x": lambda r, m: model_of(r).decode(m(IDS), m(X[:1])),
    "DecoderOnly: ids must be (B, T), got (5,): "
    "one sentence is a batch of one, ids[None, :]": lambda r, m: call(
        r, m, IDS[0], model="decoder-only"
    ),
    "DecoderOnly: target_vocab_size must be None, got 17: "
    "there is one text, and n_layers counts its layers": lambda r, m: r.DecoderOnly(
        config_of("as in the paper", target_vocab_size=17)
    ),
    "DecoderOnly: n_decoder_layers must be None, got 2: "
    "there is one text, and n_layers counts its layers": lambda r, m: r.DecoderOnly(
        config_of("as in the paper", n_decoder_layers=2)
    ),
    "Transformer: start + T must be at most max_len = 11, got 12: "
    "cut the sequence, or learn a longer table": lambda r, m: call(
        r, m, IDS, np.ones((2, 12), int), case="learned positions"
    ),
    "MultiHeadAttention: d_model must be a multiple of n_heads = 5, got 12: "
    "take another number of heads, or choose d_k": lambda r, m: layer_of(
        r, "EncoderLayer", 12, 5, 7
    ),
    "AddNorm: norm_first must be True or False, got 'last'": lambda r, m: layer_of(
        r, "DecoderLayer", norm_first="last"
    ),
    "FeedForward: d_ff must be a whole number of at least 1, got 0": lambda r, m: layer_of(
        r, "DecoderLayer", 12, 3, 0
    ),
    "DecoderLayer: memory must be (B, S, d_model), got None: "
    "pass what the encoder returned": lambda r, m: layer_of(r, "DecoderLayer")(m(X)),
    "DecoderLayer: memory must be None, got (2, 5, 12): "
    "this layer was made with cross_attention=False": lambda r, m: layer_of(
        r, "DecoderLayer", cross_attention=False
    )(m(X), m(X)),
    "Encoder: layers must be at least one EncoderLayer, got none": lambda r, m: r.Encoder([]),
    "Decoder: layers must each be a DecoderLayer, got EncoderLayer": lambda r, m: r.Decoder(
        [layer_of(r, "EncoderLayer")]
    ),
    "Transformer.start_decoding: the model must be in eval mode: "
    "nothing is learnt while decoding: call eval() first": lambda r, m: model_of(r).start_decoding(
        m(IDS)
    ),
    "DecoderOnly.start_decoding: the model must be in eval mode: "
    "nothing is learnt while decoding: call eval() first": lambda r, m: model_of(
        r, model="decoder-only"
    ).start_decoding(),
    "DecodingState: prefixes must be (B, T) = (2, T), got (1, 5): "
    "one for each source, or for each row after reorder": lambda r, m: started(r, m, IDS)(
        m(IDS[:1])
    ),
    "DecodingState: T must be at least 1, got ids = (2, 0): "
    "at least one sentence of at least one token": lambda r, m: started(r, m, IDS).extend(
        m(IDS[:, :0])
    ),
    "DecodingState: T must be more than the 5 tokens held, got 5: "
    "pass whole texts, at least one token longer than before": lambda r, m: twice(
        started(r, m, model="decoder-only"), m(IDS)
    ),
    "DecodingState.reorder: the cache must hold keys, got none: append some first": lambda r, m: (
        started(r, m, IDS).reorder([0])
    ),
    "DecodingState.reorder: indices[1] must be a row of the cache, 0 to 1, got 2: "
    "name the old row that each new row goes on from": lambda r, m: reordered(
        started(r, m, IDS), m(IDS), [0, 2]
    ),
}


def twice(state, ids):
    state(ids)
    state(ids)


def reordered(state, ids, parents):
    state(ids)
    state.reorder(parents)


@pytest.mark.parametrize(("room", "to"), ROOMS)
@pytest.mark.parametrize("words", REFUSED)
def test_refused_in_the_same_words(words, room, to):
    with pytest.raises(ValueError) as refusal:  # noqa: PT011 (the whole text is compared below)
        REFUSED[words](room, to)
    assert str(refusal.value) == words


@pytest.mark.parametrize("model", MODELS)
def test_an_id_that_is_no_token_is_named_with_its_place(model):
    said = []
    for param in ROOMS:
        room, to = param.values
        bad = to(changed(IDS, (1, 3), V))
        with pytest.raises(ValueError, match=rf"got {V} at (ids|source)\[1, 3\]") as refusal:
            model_of(room, model=model)(*([bad] * (2 if model == "encoder-decoder" else 1)))
        said.append(str(refusal.value))
    assert said[0] == said[1]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda s: s.pop("encoder.layers.1.self_attention.w_q.weight"), "is missing"),
        (lambda s: s.update(more=s["source_embedding.weight"]), "more is not a parameter"),
        (
            lambda s: s.update({"decoder.layers.0.cross_attention.w_k.bias": s["output.bias"]}),
            r"w_k.bias must be \(12,\), got \(17,\)",
        ),
    ],
)
def test_a_checkpoint_that_does_not_fit_is_refused_by_name(change, words):
    said = []
    for model in twins("as in the paper", output_bias=True):
        state = dict(model.state_dict())
        change(state)
        with pytest.raises(ValueError, match=words) as refusal:
            model.load_state_dict(state)
        said.append(str(refusal.value))
    assert said[0] == said[1]


def test_no_backward_without_a_call_in_training_mode():
    ours, _ = twins("as in the paper")
    dlogits = np.ones((2, 5, V))
    with pytest.raises(ValueError, match="there is no call"):
        ours.backward(dlogits)
    ours.eval()(IDS, IDS)
    with pytest.raises(ValueError, match="in training mode"):
        ours.backward(dlogits)
    ours.train()(IDS, IDS)
    with pytest.raises(ValueError, match="dout must be"):
        ours.backward(dlogits[:, 1:])


PAIRS = {
    (case, model): twins(case, model)
    for case in ("as in the paper", "learned positions", "as models are today")
    for model in MODELS
}


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_the_rooms_agree_or_refuse_in_the_same_words(data):
    pair = PAIRS[data.draw(st.sampled_from(list(PAIRS)))]
    size, wrong = st.integers(1, 3), st.sampled_from([False] * 5 + [True])
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    B = data.draw(size)

    def text(longest):
        shape = (B, data.draw(st.integers(1, longest)))
        if data.draw(wrong):
            shape = data.draw(st.sampled_from([(B,), (B, 0), (0, 3), (B + 1, 2), (B, 2, 1)]))
        ids = rng.integers(0, V + data.draw(wrong), shape)
        return ids.astype(data.draw(st.sampled_from(["int64"] * 6 + ["int32", "uint8", "float32"])))

    texts = [text(12) for _ in range(1 if type(pair[0]).__name__ == "DecoderOnly" else 2)]
    masks = {}
    if data.draw(st.booleans()):
        name = (
            "mask"
            if len(texts) == 1
            else data.draw(st.sampled_from(["source_mask", "target_mask"]))
        )
        T = texts[name == "target_mask"].shape[-1]
        shapes = [(T,), (1, 1, 1, T), (B, 1, 1, T), (B, 1, T, T), (T, T), (B, T), (B, 3, T, T)]
        mask = rng.random(data.draw(st.sampled_from(shapes))) > 0.3
        masks[name] = mask.astype(data.draw(st.sampled_from(["bool"] * 6 + ["int64"])))
    said = []
    for model, to in zip(pair, (np.asarray, tensor), strict=True):
        try:
            given = {name: to(mask) for name, mask in masks.items()}
            said.append(np.asarray(detached(model(*map(to, texts), **given))))
        except ValueError as error:
            said.append(str(error))
    pair[0].zero_grad()
    if any(isinstance(words, str) for words in said):
        assert said[0] == said[1]
    else:
        close(*said)
