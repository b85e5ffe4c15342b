"""Configurations: the paper's numbers, counts by formula and by counting, what is refused."""

import dataclasses

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import qkv.numpy as qn
import qkv.torch as qt
from qkv.commands.train.parser import argument_docs
from qkv.config import ModelConfig, TransformerConfig, parameter_count
from qkv.shapes.choices import ACTIVATIONS, NORMS, POSITIONS, TIES
from qkv.shapes.fields import field_types
from tests.helpers.models import CASES, MODELS, SMALL, build, config_of


def counted(room, config, model):
    parameters = dict(build(room, config, model).named_parameters())
    return sum(int(np.prod(tuple(value.shape))) for value in parameters.values())


def test_the_base_model_of_the_paper():
    """Three tables tied, 37,000 tokens: 63 million and not the 65 that table 3 gives."""
    base = TransformerConfig(vocab_size=37_000)
    assert (base.d_model, base.n_heads, base.d_ff, base.n_layers) == (512, 8, 2048, 6)
    assert (base.norm_first, base.norm, base.activation, base.dropout) == (
        False,
        "layer",
        "relu",
        0.1,
    )
    assert not base.ends_in_norm
    assert parameter_count(base) == 63_082_496
    assert parameter_count(dataclasses.replace(base, bias=False)) == 63_045_632
    assert parameter_count(dataclasses.replace(base, final_norm=True)) == 63_082_496 + 4 * 512


def test_the_smallest_gpt_2():
    """124,439,808 parameters, as its checkpoint has: pre-norm, learned positions, tied tables."""
    config = TransformerConfig(
        vocab_size=50_257,
        d_model=768,
        n_heads=12,
        d_ff=3072,
        n_layers=12,
        activation="gelu_tanh",
        norm_first=True,
        positions="learned",
        max_len=1024,
    )
    assert parameter_count(config, "decoder-only") == 124_439_808


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("case", CASES)
def test_the_formula_counts_what_is_there(case, model):
    config = config_of(case, model)
    wanted = parameter_count(config, model)
    assert counted(qn, config, model) == counted(qt, config, model) == wanted


@st.composite
def configurations(draw):
    """Any configuration that fits together."""

    def one_of(*values):
        return draw(st.sampled_from(values))

    groups, per_group = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    heads, d_k = groups * per_group, draw(st.integers(1, 4))
    positions = one_of(*POSITIONS)
    d_k += d_k % 2 if positions == "rotary" else 0
    free = draw(st.booleans())
    V, model = draw(st.integers(1, 9)), one_of(*MODELS)
    tie = one_of(*TIES)
    beside = model == "encoder-decoder"
    return model, TransformerConfig(
        vocab_size=V,
        target_vocab_size=draw(st.integers(1, 9)) if tie != "all" and beside else None,
        d_model=draw(st.integers(1, 9)) if free else heads * d_k,
        n_heads=heads,
        n_kv_heads=one_of(None, groups),
        d_k=d_k if free else None,
        d_v=one_of(None, 1, 3),
        d_ff=draw(st.integers(1, 9)),
        n_layers=draw(st.integers(1, 3)),
        n_decoder_layers=one_of(None, 1, 2) if beside else None,
        activation=one_of(*ACTIVATIONS),
        norm=one_of(*NORMS),
        norm_first=draw(st.booleans()),
        final_norm=one_of(None, True, False),
        positions=positions,
        max_len=draw(st.integers(1, 9)),
        tie_word_embeddings=tie,
        bias=draw(st.booleans()),
        output_bias=draw(st.booleans()),
        feed_forward_bias=draw(st.booleans()),
        norm_bias=draw(st.booleans()),
        causal=draw(st.booleans()),
        pad_id=one_of(None, 0),
    )


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(configurations())
def test_the_formula_counts_whatever_is_built(drawn):
    model, config = drawn
    wanted = parameter_count(config, model)
    assert counted(qn, config, model) == counted(qt, config, model) == wanted


def test_a_configuration_stays_as_it_is():
    with pytest.raises(dataclasses.FrozenInstanceError):
        TransformerConfig(vocab_size=5).d_model = 3
    config = TransformerConfig(5, 7, tie_word_embeddings="target", n_decoder_layers=2)
    assert (config.target_vocabulary, config.decoder_layers) == (7, 2)
    assert TransformerConfig(**dataclasses.asdict(config)) == config


def test_what_two_configurations_share_differs_in_its_defaults_alone():
    shared, whole = field_types(ModelConfig), field_types(TransformerConfig)
    changed = {name for name, field in shared.items() if field != whole[name]}
    assert changed == {
        "d_model",
        "n_heads",
        "d_ff",
        "n_layers",
        "norm_first",
        "tie_word_embeddings",
    }
    for name, field in shared.items():
        assert field._replace(default=whole[name].default) == whole[name]


def test_the_docstring_says_of_every_field_what_it_is():
    documented, base = argument_docs(TransformerConfig), argument_docs(ModelConfig)
    assert documented.keys() >= field_types(TransformerConfig).keys()
    assert all(documented[name] == base[name] for name in field_types(ModelConfig))


def test_as_many_tables_are_tied_as_the_vocabularies_allow_where_nothing_is_said():
    assert TransformerConfig(5, tie_word_embeddings=None).tie_word_embeddings == "all"
    assert TransformerConfig(5, 7, tie_word_embeddings=None).tie_word_embeddings == "target"
    assert TransformerConfig(5, 5, tie_word_embeddings=None).tie_word_embeddings == "target"


COUNT = "must be a whole number of at least 1"
REFUSED = {
    f"vocab_size {COUNT}, got 0": {"vocab_size": 0},
    f"target_vocab_size {COUNT}, got 0": {"target_vocab_size": 0, "tie_word_embeddings": "none"},
    f"d_model {COUNT}, got 12.0": {"d_model": 12.0},
    f"n_heads {COUNT}, got 0": {"n_heads": 0},
    f"d_k {COUNT}, got 0": {"d_k": 0},
    f"d_v {COUNT}, got 0": {"d_v": 0},
    f"d_ff {COUNT}, got 0": {"d_ff": 0},
    f"n_layers {COUNT}, got 0": {"n_layers": 0},
    f"n_decoder_layers {COUNT}, got 0": {"n_decoder_layers": 0},
    f"max_len {COUNT}, got -1": {"max_len": -1},
    "d_model must be a multiple of n_heads = 5, got 12: "
    "take another number of heads, or choose d_k": {"n_heads": 5},
    "n_kv_heads must divide n_heads = 3, got 2: "
    "each head of keys serves as many heads of queries": {"n_kv_heads": 2},
    "d_k must be even with positions='rotary', got 3: rotary turns pairs of numbers": {
        "positions": "rotary",
        "n_heads": 4,
    },
    "dropout must be a number of at least 0 and below 1, got 1: 0 leaves nothing out": {
        "dropout": 1
    },
    f"activation must be one of {', '.join(map(repr, ACTIVATIONS))}, got 'tanh'": {
        "activation": "tanh"
    },
    "feed_forward_bias must be True or False, got 1": {"feed_forward_bias": 1},
    "norm_bias must be True or False, got None": {"norm_bias": None},
    "norm_eps must be a number above 0, got 0: 1e-5 is usual": {"norm_eps": 0},
    "norm_eps must be a number above 0, got inf: 1e-5 is usual": {"norm_eps": float("inf")},
    "causal must be True or False, got 'bidirectional'": {"causal": "bidirectional"},
    "norm must be one of 'layer', 'rms', got 'batch'": {"norm": "batch"},
    "norm_first must be True or False, got 'pre'": {"norm_first": "pre"},
    "positions must be one of 'sinusoidal', 'learned', 'rotary', 'alibi', 'none', got None": {
        "positions": None
    },
    "layout must be one of 'interleaved', 'halves', got 'other'": {"layout": "other"},
    "tie_word_embeddings must be one of 'none', 'target', 'all', got True": {
        "tie_word_embeddings": True
    },
    "bias must be True or False, got 1": {"bias": 1},
    "output_bias must be True or False, got None": {"output_bias": None},
    "scale_embedding must be True or False, got 3.5": {"scale_embedding": 3.5},
    "final_norm must be True or False, got 'pre'": {"final_norm": "pre"},
    "target_vocab_size must be vocab_size = 17 with tie_word_embeddings='all', got 19: "
    "one table has one vocabulary: tie_word_embeddings='target' leaves the source its own": {
        "target_vocab_size": 19
    },
    "pad_id must be a whole number of at least 0, got -1": {"pad_id": -1},
    "pad_id must be below V = 17, got 17: it is a token of each vocabulary": {"pad_id": 17},
    "pad_id must be below V = 5, got 5: it is a token of each vocabulary": {
        "pad_id": 5,
        "target_vocab_size": 5,
        "tie_word_embeddings": "none",
    },
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_does_not_go_together_is_refused(words):
    with pytest.raises(ValueError) as refusal:  # noqa: PT011 (the whole text is compared below)
        TransformerConfig(**{**SMALL, **REFUSED[words]})
    assert str(refusal.value) == f"TransformerConfig: {words}"


def test_only_two_models_are_known():
    with pytest.raises(ValueError, match="parameter_count: model must be one of 'encoder-decoder'"):
        parameter_count(TransformerConfig(5), "encoder-only")
