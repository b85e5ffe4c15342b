"""The graphs of encoder and decoder step: valid, named as in the book, equal to both rooms."""

import numpy as np
import onnx
import pytest

import qkv.numpy as qn
import qkv.torch as qt
from qkv.bridge import state_dict
from qkv.config import TransformerConfig
from qkv.onnx import OnnxTransformer, decoder_step_model, encoder_model
from qkv.onnx.graph import Graph
from qkv.shapes.choices import ACTIVATIONS, LAYOUTS, NORMS, PLACEMENTS, POSITIONS, TIES
from tests.helpers.layers import copy_parameters
from tests.helpers.models import CASES, SMALL, S, config_of, detached, tensors, texts, twins
from tests.helpers.rooms import close

MAX_LEN = 11  # of the sinusoidal and rotary tables, and as the cases with learned positions have
ROWS = 3


def models(ours, max_len=MAX_LEN):
    """Both graphs of a model."""
    return [
        build(ours.config, state_dict(ours), max_len)
        for build in (encoder_model, decoder_step_model)
    ]


def exported(ours, max_len=MAX_LEN):
    return OnnxTransformer(*(model.SerializeToString() for model in models(ours, max_len)))


def stepwise(state, target, parts=(1, 1, 2, 1)):
    """The logits of a target, given a few tokens at a time."""
    ends = np.cumsum(parts)
    assert ends[-1] == target.shape[1]
    return np.concatenate([state.extend(ids) for ids in np.split(target, ends[:-1], 1)], 1)


def test_the_cases_hold_every_choice():
    configs = [config_of(case) for case in CASES]
    for name, words in (
        ("activation", ACTIVATIONS),
        ("norm", NORMS),
        ("norm_placement", PLACEMENTS),
        ("positions", POSITIONS),
        ("layout", LAYOUTS),
        ("tie", TIES),
    ):
        assert {getattr(config, name) for config in configs} == set(words)


@pytest.mark.parametrize("case", CASES)
def test_logits_with_the_cache_are_those_of_both_rooms_without_one(case):
    ours, theirs = twins(case)
    source, target = texts(ours.config, B=ROWS)
    found = stepwise(exported(ours).start_decoding(source), target)
    for model, inputs in ((ours, (source, target)), (theirs, tensors((source, target)))):
        with model.evaluating():
            close(found, detached(model(*inputs)), "float32")


@pytest.mark.parametrize("case", CASES)
def test_logits_of_all_tokens_at_once_are_those_of_the_room(case):
    ours, _ = twins(case, seed=1)
    source, target = texts(ours.config, B=ROWS)
    found = exported(ours).start_decoding(source).extend(target)
    close(found, ours.eval()(source, target), "float32")


@pytest.mark.parametrize("case", CASES)
def test_memory_and_its_mask_are_those_of_the_room(case):
    ours, _ = twins(case)
    source, _ = texts(ours.config)
    state = exported(ours).start_decoding(source)
    close(state.memory, ours.eval().encode(source), "float32")
    mask = ours.memory_mask(source)
    expected = np.ones((2, 1, 1, S), bool) if mask is None else mask
    np.testing.assert_array_equal(state._of_memory["memory_mask"], expected)


@pytest.mark.parametrize("case", CASES)
def test_each_file_is_valid_and_says_its_versions(case):
    ours, _ = twins(case)
    for model in models(ours):
        onnx.checker.check_model(model, full_check=True)
        assert [(opset.domain, opset.version) for opset in model.opset_import] == [("", 20)]
        properties = {entry.key: entry.value for entry in model.metadata_props}
        assert properties["opset"] == "20"
        assert properties["ONNX IR"] == str(model.ir_version) == "9"
        assert properties["onnx"] == onnx.__version__
        assert properties["NumPy"] == np.__version__
        assert properties["qkv"] == model.producer_version
        assert properties["max_len"] == str(MAX_LEN)


def test_inputs_and_outputs_are_named_and_shaped_as_in_the_book():
    config = config_of("as models are today", d_k=2, d_v=5, n_decoder_layers=1)
    encoder, decoder_step = models(qn.Transformer(config))

    def shapes(values):
        return {
            value.name: [
                axis.dim_param or axis.dim_value for axis in value.type.tensor_type.shape.dim
            ]
            for value in values
        }

    assert shapes(encoder.graph.input) == {"source": ["B", "S"]}
    assert shapes(encoder.graph.output) == {
        "memory": ["B", "S", 12],
        "memory_mask": ["B", 1, 1, "S"],
        "memory_keys.0": ["B", 1, "S", 2],
        "memory_values.0": ["B", 1, "S", 5],
    }
    assert shapes(decoder_step.graph.input) == {
        "ids": ["N", "T"],
        "memory_mask": ["N", 1, 1, "S"],
        "memory_keys.0": ["N", 1, "S", 2],
        "memory_values.0": ["N", 1, "S", 5],
        "past_keys.0": ["N", 1, "length", 2],
        "past_values.0": ["N", 1, "length", 5],
    }
    assert shapes(decoder_step.graph.output) == {
        "logits": ["N", "T", 17],
        "keys.0": ["N", 1, "length + T", 2],
        "values.0": ["N", 1, "length + T", 5],
    }


def test_nodes_have_the_names_that_the_model_gives_its_attention_maps():
    ours, _ = twins("as in the paper")
    maps = {}
    ours.eval()(*texts(ours.config), attention_maps=maps)
    nodes = [node.name for model in models(ours) for node in model.graph.node]
    assert len(maps) == 6
    assert {f"{name}.weights" for name in maps} <= set(nodes)


def test_every_node_and_every_array_is_used_and_parameters_stand_in_a_file_once():
    for case in CASES:
        ours, _ = twins(case)
        for model in models(ours):
            graph = model.graph
            given = [value.name for value in (*graph.input, *graph.initializer)]
            made = [name for node in graph.node for name in node.output]
            used = {name for node in graph.node for name in node.input}
            assert len({*given, *made}) == len(given) + len(made)
            assert {*given, *made} - {value.name for value in graph.output} <= used
        names = {array.name for model in models(ours) for array in model.graph.initializer}
        assert set(state_dict(ours)) <= names


@pytest.mark.parametrize(
    ("op", "shape", "words"),
    [("Reloo", ["B", 3], "Reloo"), ("Relu", ["B", 4], "Inferred shape and existing shape differ")],
)
def test_a_graph_that_is_none_is_refused_when_it_is_finished(op, shape, words):
    graph = Graph("small", {})
    graph.output(
        "y", graph.add(op, "x.of", graph.input("x", "float32", ["B", 3])), "float32", shape
    )
    with pytest.raises(ValueError, match=f"small: the graph is no valid ONNX .*{words}"):
        graph.model("", {})


def test_padding_changes_nothing():
    ours, _ = twins("as models are today")
    source, target = texts(ours.config)
    words = source[:1, : S - S // 3]
    assert source[0, S - S // 3] == ours.config.pad_id
    model = exported(ours)
    padded = model.start_decoding(source).extend(target)[:1]
    close(padded, model.start_decoding(words).extend(target[:1]), "float32")


@pytest.mark.parametrize("case", ["as in the paper", "falling scores"])
def test_a_source_of_nothing_but_padding_is_as_in_the_room(case):
    """Nothing may be attended to: zeros, and no NaN."""
    ours, _ = twins(case)
    source, target = texts(ours.config)
    source[0] = ours.config.pad_id
    found = stepwise(exported(ours).start_decoding(source), target)
    close(found, ours.eval()(source, target), "float32")


@pytest.mark.parametrize("case", ["as in the paper", "learned positions", "as models are today"])
def test_a_longer_text_than_the_tables_is_refused_by_the_runtime(case):
    ours, _ = twins(case)
    model = exported(ours)
    ids = np.ones((2, MAX_LEN + 1), np.int64)

    def refused(call, ids):
        with pytest.raises(Exception, match=r"ONNXRuntimeError.*(out of data bounds|11 by 12)"):
            call(ids)

    refused(model.start_decoding, ids)
    for held in range(MAX_LEN + 1):  # also where one row is left, which could be added to all
        state = model.start_decoding(ids[:, 1:])
        if held:
            state.extend(ids[:, :held])
        refused(state.extend, ids[:, held:])


def test_beam_search_goes_through_the_files_too():
    ours, _ = twins("as models are today")
    source, _ = texts(ours.config, B=ROWS)
    options = {"eos_id": 2, "max_new_tokens": 6, "beam_size": 3, "pad_id": 0}
    prefixes = np.ones((ROWS, 1), np.int64)
    with ours.evaluating():
        expected, scores = qn.beam_search(ours.start_decoding(source), prefixes, **options)
    found, found_scores = qn.beam_search(exported(ours).start_decoding(source), prefixes, **options)
    np.testing.assert_array_equal(found, expected)
    close(found_scores, scores, "float32")


def test_a_model_that_sees_later_tokens_has_no_step():
    config = TransformerConfig(**{**SMALL, "causal": False})
    parameters = state_dict(qn.Transformer(config))
    with pytest.raises(ValueError, match=r"configuration must have causal=True, got False: each"):
        decoder_step_model(config, parameters, MAX_LEN)


def test_float32_is_written_whatever_came():
    ours, _ = twins("as in the paper")
    theirs = qt.Transformer(ours.config)
    copy_parameters(ours, theirs)
    for model in (ours, theirs):
        for file in models(model):
            types = {array.data_type for array in file.graph.initializer}
            assert types <= {onnx.TensorProto.FLOAT, onnx.TensorProto.INT64}


def test_shapes_that_a_reader_may_call_with():
    """Any number of texts, and any number of new tokens."""
    ours, _ = twins("own widths")
    model = exported(ours)
    for rows, tokens in ((1, 1), (4, 3)):
        source, target = texts(ours.config, B=rows, T=tokens)
        state = model.start_decoding(source)
        assert state.extend(target).shape == (rows, tokens, ours.config.target_vocabulary)
        assert state.length == tokens
