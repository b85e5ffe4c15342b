"""The graphs of encoder and decoder step: valid, named as in the book, equal to both rooms."""

import logging
import sys
import warnings
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch

import qkv
import qkv.numpy as qn
import qkv.torch as qt
from qkv.bridge import state_dict
from qkv.config import TransformerConfig
from qkv.onnx import OnnxTransformer, graphs
from tests.helpers import models as small
from tests.helpers.models import CHOICES, SMALL, S, detached, tensors, texts
from tests.helpers.onnx_graphs import decoder_step_model, encoder_model
from tests.helpers.rooms import close

MAX_LEN = 11  # of the sinusoidal tables, and as the cases with learned positions have
ROWS = 3
# Each choice stands in one of these at least, and few layers: a model takes seconds to trace. That
# of the paper, with layers enough to confuse their caches, is traced by test_folder.
CASES = {
    "post, last norm": {
        "n_layers": 1,
        "tie_word_embeddings": "target",
        "target_vocab_size": 19,
        "output_bias": True,
    },
    "as models are today": {"d_k": 2, "d_v": 5, "n_layers": 1},
    "as GPT-2": {
        "tie_word_embeddings": "none",
        "target_vocab_size": 13,
        "output_bias": True,
        "pad_id": None,
    },
    "falling scores": {"n_layers": 1, "bias": False, "norm_bias": False},
    "pre, no last norm": {"n_layers": 1, "tie_word_embeddings": "target", "scale_embedding": False},
    **{case: {"n_layers": 1} for case in small.ONE_WORD},
}


def config_of(case):
    return small.config_of(case, **CASES[case])


def twins(case):
    return small.twins(case, **CASES[case])


def models(case):
    """Both graphs of a model."""
    ours, _ = twins(case)
    return [build(ours.config, state_dict(ours), MAX_LEN) for build in BUILDS]


BUILDS = encoder_model, decoder_step_model


def exported(case):
    return OnnxTransformer(*(model.SerializeToString() for model in models(case)))


def stepwise(state, target, parts=(1, 1, 2, 1)):
    """The logits of a target, given a few tokens at a time."""
    ends = np.cumsum(parts)
    assert ends[-1] == target.shape[1]
    return np.concatenate([state.extend(ids) for ids in np.split(target, ends[:-1], 1)], 1)


def test_the_cases_hold_every_choice():
    configs = [config_of(case) for case in CASES]
    for name, words in (
        *CHOICES.items(),
        ("output_bias", [False, True]),
        ("bias", [False, True]),
        ("norm_bias", [False, True]),
        ("scale_embedding", [False, True]),
        ("pad_id", [None, 0]),
    ):
        assert {getattr(config, name) for config in configs} == set(words)
    assert {config.n_kv_heads for config in configs} == {None, 1, 2}


@pytest.mark.parametrize("case", CASES)
def test_logits_with_the_cache_are_those_of_both_rooms_without_one(case):
    ours, theirs = twins(case)
    source, target = texts(ours.config, B=ROWS)
    found = stepwise(exported(case).start_decoding(source), target)
    for model, inputs in ((ours, (source, target)), (theirs, tensors((source, target)))):
        with model.inference_mode():
            close(found, detached(model(*inputs)), "float32")


@pytest.mark.parametrize("case", CASES)
def test_logits_of_all_tokens_at_once_are_those_of_the_room(case):
    ours, _ = twins(case)
    source, target = texts(ours.config, seed=2, B=ROWS)
    found = exported(case).start_decoding(source).extend(target)
    close(found, ours.eval()(source, target), "float32")


@pytest.mark.parametrize("case", CASES)
def test_memory_and_its_mask_are_those_of_the_room(case):
    ours, _ = twins(case)
    source, _ = texts(ours.config)
    state = exported(case).start_decoding(source)
    close(state.memory, ours.eval().encode(source), "float32")
    mask = ours.memory_mask(source)
    expected = np.ones((2, 1, 1, S), bool) if mask is None else mask
    np.testing.assert_array_equal(state._of_memory["memory_mask"], expected)


@pytest.mark.parametrize("case", CASES)
def test_each_file_is_valid_and_says_its_versions(case):
    for model in models(case):
        onnx.checker.check_model(model, full_check=True)
        assert [(opset.domain, opset.version) for opset in model.opset_import] == [("", 20)]
        properties = {entry.key: entry.value for entry in model.metadata_props}
        assert properties["opset"] == "20"
        assert properties["ONNX IR"] == str(model.ir_version) == "9"
        assert properties["NumPy"] == np.__version__
        for library in ("torch", "onnxscript", "onnx"):
            assert properties[library] == str(sys.modules[library].__version__)
        assert properties["qkv"] == model.producer_version == qkv.__version__
        assert properties["max_len"] == str(MAX_LEN)


def test_inputs_and_outputs_are_named_and_shaped_as_in_the_book():
    encoder, decoder_step = models("as models are today")

    def shapes(values):
        return {
            value.name: [
                axis.dim_param or axis.dim_value for axis in value.type.tensor_type.shape.dim
            ]
            for value in values
        }

    def caches(prefix, *lead):
        return {
            f"{prefix}keys.0": [*lead, 2],
            f"{prefix}values.0": [*lead, 5],
        }

    assert shapes(encoder.graph.input) == {"source": ["B", "S"]}
    assert shapes(encoder.graph.output) == {
        "memory": ["B", "S", 12],
        "memory_mask": ["B", 1, 1, "S"],
        **caches("memory_", "B", 1, "S"),
    }
    assert shapes(decoder_step.graph.input) == {
        "ids": ["N", "T"],
        "memory_mask": ["N", 1, 1, "S"],
        **caches("memory_", "N", 1, "S"),
        **caches("past_", "N", 1, "length"),
    }
    assert shapes(decoder_step.graph.output) == {
        "logits": ["N", "T", 17],
        **caches("", "N", 1, "length + T"),
    }


def test_a_file_says_nothing_of_the_machine_that_wrote_it():
    """The exporter notes at each node from which line of which file it comes."""
    for model in models("falling scores"):
        text = model.SerializeToString()
        for path in (Path(qkv.__file__).parent, Path(onnx.__file__).parent):
            assert str(path).encode() not in text
        assert b".py" not in text


def test_a_length_that_is_traced_stays_open():
    """The checks of T and S take it for the number that it is, and not for that of the example."""

    class Causal(torch.nn.Module):
        def forward(self, x):
            return qt.causal_mask(x.shape[0], x.shape[1])

    lengths = ({0: torch.export.Dim("T"), 1: torch.export.Dim("S")},)
    traced = torch.export.export(Causal(), (torch.zeros(2, 5),), dynamic_shapes=lengths).module()
    assert traced(torch.zeros(3, 7)).shape == (1, 1, 3, 7)


def test_traced_again_it_is_the_same_file():
    ours, _ = twins("as GPT-2")
    again = graphs.encoder_model(ours.config, state_dict(ours), MAX_LEN)
    assert again.SerializeToString() == models("as GPT-2")[0].SerializeToString()


def test_what_the_exporter_says_of_itself_is_not_seen(monkeypatch, capfd):
    """Only what warns is kept away: the filters and the levels are afterwards as they were."""
    loggers = [logging.getLogger(name) for name in graphs.LOGGERS]
    before = [logger.level for logger in loggers], list(warnings.filters)

    def noisy():
        warnings.warn("deprecated", stacklevel=1)
        logging.getLogger("torch.onnx").warning("Setting ONNX exporter to use operator set")
        raise RuntimeError("cannot be traced")

    with pytest.raises(RuntimeError, match="cannot be traced"), graphs._silence():
        noisy()
    assert capfd.readouterr() == ("", "")
    assert ([logger.level for logger in loggers], list(warnings.filters)) == before


def test_padding_changes_nothing():
    config = config_of("as models are today")
    source, target = texts(config)
    words = source[:1, : S - S // 3]
    assert source[0, S - S // 3] == config.pad_id
    model = exported("as models are today")
    padded = model.start_decoding(source).extend(target)[:1]
    close(padded, model.start_decoding(words).extend(target[:1]), "float32")


@pytest.mark.parametrize("case", ["post, last norm", "falling scores"])
def test_a_source_of_nothing_but_padding_is_as_in_the_room(case):
    """Nothing may be attended to: zeros, and no NaN."""
    ours, _ = twins(case)
    source, target = texts(ours.config)
    source[0] = ours.config.pad_id
    found = stepwise(exported(case).start_decoding(source), target)
    close(found, ours.eval()(source, target), "float32")


@pytest.mark.parametrize("case", ["post, last norm", "as GPT-2"])
def test_a_longer_text_than_the_table_is_refused_by_the_runtime(case):
    model = exported(case)
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


def test_a_rotary_model_reads_longer_texts_as_the_room_does():
    ours, _ = twins("as models are today")
    source, target = texts(ours.config, S=3 * MAX_LEN, T=2 * MAX_LEN + 1)
    found = stepwise(exported("as models are today").start_decoding(source), target, (MAX_LEN, 12))
    close(found, ours.eval()(source, target), "float32")


def test_beam_search_goes_through_the_files_too():
    ours, _ = twins("as models are today")
    source, _ = texts(ours.config, B=ROWS)
    options = {"eos_id": 2, "max_new_tokens": 6, "beam_size": 3, "pad_id": 0}
    prefixes = np.ones((ROWS, 1), np.int64)
    with ours.inference_mode():
        expected, scores = qn.beam_search(ours.start_decoding(source), prefixes, **options)
    state = exported("as models are today").start_decoding(source)
    found, found_scores = qn.beam_search(state, prefixes, **options)
    np.testing.assert_array_equal(found, expected)
    close(found_scores, scores, "float32")


def test_a_model_that_sees_later_tokens_has_no_step():
    config = TransformerConfig(**{**SMALL, "causal": False})
    parameters = state_dict(qn.Transformer(config))
    with pytest.raises(ValueError, match=r"configuration must have causal=True, got False: each"):
        graphs.decoder_step_model(config, parameters, MAX_LEN)


def test_float32_is_written_whatever_came_but_for_angles():
    """The models here are float64; of a float32 angle, position 100,000 would lack digits."""
    for case in CASES:
        ours, _ = twins(case)
        assert {value.dtype.name for value in state_dict(ours).values()} == {"float64"}
        for model in models(case):
            size = {}
            for array in model.graph.initializer:
                numbers = onnx.numpy_helper.to_array(array)
                size[numbers.dtype.name] = size.get(numbers.dtype.name, 0) + numbers.size
            assert size["float32"] > 100
            assert size.get("float64", 0) <= ours.config.d_model


def test_a_file_holds_no_parameter_twice_but_a_small_table():
    ours, _ = twins("as GPT-2")
    for model in models("as GPT-2"):
        held = sum(
            onnx.numpy_helper.to_array(array).size
            for array in model.graph.initializer
            if array.data_type == onnx.TensorProto.FLOAT
        )
        assert held < sum(value.size for value in state_dict(ours).values())


@pytest.mark.parametrize(("rows", "tokens"), [(1, 1), (4, 3)])
def test_any_number_of_texts_and_of_new_tokens(rows, tokens):
    ours, _ = twins("as models are today")
    source, target = texts(ours.config, B=rows, T=tokens)
    state = exported("as models are today").start_decoding(source)
    close(state.extend(target), ours.eval()(source, target), "float32")
    assert state.length == tokens


def test_a_source_of_one_token():
    ours, _ = twins("falling scores")
    source, target = texts(ours.config)
    found = stepwise(exported("falling scores").start_decoding(source[:, :1]), target)
    close(found, ours.eval()(source[:, :1], target), "float32")
