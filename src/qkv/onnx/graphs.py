"""A Transformer as two ONNX models: `torch.onnx.export` of the torch room, with names and axes.

    encoder: source (B, S) -> memory, memory_mask, memory_keys.0, memory_values.0, …
    decoder step: ids (N, T), memory_mask, memory_keys.0, memory_values.0, …, past_keys.0,
        past_values.0, … -> logits (N, T, V), keys.0, values.0, …

What a step gives as `keys.0` the next takes as `past_keys.0`. In the first, `length` is 0.
"""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

import qkv
from qkv.config import TransformerConfig
from qkv.onnx.versions import IR_VERSION, OPSET, import_exporter, versions
from qkv.shapes.multi_head import head_sizes
from qkv.shapes.transformer import check_decoding_mode
from qkv.translator.rooms import build_model

if TYPE_CHECKING:
    from onnx import ModelProto
    from torch import nn

__all__ = ["decoder_step_model", "encoder_model"]

# Lengths while it is traced: none is 0 or 1, which broadcast, and no two are equal by accident.
TRACED = {"B": 2, "N": 2, "S": 3, "T": 5, "length": 7}
LOGGERS = "torch", "onnxscript", "onnx_ir"
T = TypeVar("T")


class Value(NamedTuple):
    """An input or an output; an axis is a number, or a text where each call chooses it."""

    name: str
    dtype: str
    axes: tuple[int | str, ...]


def encoder_model(
    config: TransformerConfig, parameters: Mapping[str, NDArray[Any]], max_len: int
) -> ModelProto:
    """The encoder, up to the keys and values that the decoder reads at each step.

    Args:
        config: the model's sizes and choices.
        parameters: all of the model by name, as `bridge.state_dict` gives them.
        max_len: the longest source where positions are sinusoidal.
    Raises:
        ImportError: onnx, torch or onnxscript is not installed.
    """
    import_exporter()
    from qkv.onnx import modules

    memory = [
        Value("memory", "float32", ("B", "S", config.d_model)),
        Value("memory_mask", "bool", ("B", 1, 1, "S")),
    ]
    return _export(
        modules.Encoder(_module(config, parameters, max_len)),
        (Value("source", "int64", ("B", "S")),),
        [*memory, *_caches("memory_", "B", "S", config)],
        "Encoder of a Transformer, and the keys and values of its decoder's cross-attention.",
        {"max_len": max_len, "config": asdict(config)},
    )


def decoder_step_model(
    config: TransformerConfig, parameters: Mapping[str, NDArray[Any]], max_len: int
) -> ModelProto:
    """The decoder for T new tokens of N texts, after `length` tokens that are cached.

    Args:
        config, parameters: as for the encoder.
        max_len: the longest text where positions are sinusoidal.
    Raises:
        ValueError: the model is not causal.
        ImportError: onnx, torch or onnxscript is not installed.
    """
    check_decoding_mode("decoder_step_model", False, config.causal)
    import_exporter()
    from qkv.onnx import modules

    inputs = (
        Value("ids", "int64", ("N", "T")),
        Value("memory_mask", "bool", ("N", 1, 1, "S")),
        _caches("memory_", "N", "S", config),
        _caches("past_", "N", "length", config),
    )
    logits = Value("logits", "float32", ("N", "T", config.target_vocabulary))
    return _export(
        modules.DecoderStep(_module(config, parameters, max_len)),
        inputs,
        [logits, *_caches("", "N", "length + T", config)],
        "Decoder of a Transformer for new tokens, after those whose keys and values are given.",
        {"max_len": max_len, "config": asdict(config)},
    )


def _caches(prefix: str, batch: str, length: str, config: TransformerConfig) -> list[Value]:
    """Keys and values of each layer of the decoder."""
    d_k, d_v, n_kv_heads = head_sizes(
        "", config.d_model, config.n_heads, config.d_k, config.d_v, config.n_kv_heads, False
    )
    return [
        Value(f"{prefix}{role}.{layer}", "float32", (batch, n_kv_heads, length, d))
        for layer in range(config.decoder_layers)
        for role, d in (("keys", d_k), ("values", d_v))
    ]


def _module(config: TransformerConfig, parameters: Mapping[str, NDArray[Any]], max_len: int) -> Any:
    """The model of the torch room, in float32."""
    from qkv.onnx.modules import with_position_tables

    single = {name: value.astype(np.float32, copy=False) for name, value in parameters.items()}
    model: Any = build_model(config, single, "torch")
    return with_position_tables(model, max_len)


def _export(
    module: nn.Module,
    inputs: tuple[Value | list[Value], ...],
    outputs: list[Value],
    description: str,
    metadata: Mapping[str, Any],
) -> ModelProto:
    """What a module computes as ONNX.

    Args:
        inputs: what its `forward` takes; a list is one argument.
        outputs: what it gives.
        description: what it computes, for whoever opens the file.
        metadata: written into it beside the versions; what is no text, as JSON.
    """
    import torch

    def example(value: Value) -> Any:
        shape = [TRACED[axis] if isinstance(axis, str) else axis for axis in value.axes]
        return torch.zeros(shape, dtype=getattr(torch, value.dtype))

    with _silence():
        program = torch.onnx.export(
            module.eval(),
            _each(example, inputs),
            input_names=[value.name for group in inputs for value in _listed(group)],
            output_names=[value.name for value in outputs],
            opset_version=OPSET,
            dynamic_shapes=_each(_dynamic_axes, inputs),
            dynamo=True,
            verbose=False,
        )
    assert program is not None  # for the type checker
    model: ModelProto = program.model_proto
    for found, expected in zip(model.graph.output, outputs, strict=True):
        for dim, axis in zip(found.type.tensor_type.shape.dim, expected.axes, strict=True):
            if isinstance(axis, str):
                dim.dim_param = axis
    return _described(model, description, metadata)


def _each(
    function: Callable[[Value], T], inputs: tuple[Value | list[Value], ...]
) -> tuple[T | list[T], ...]:
    """The result of a function for each input, in lists where these are."""
    return tuple(
        [function(value) for value in group] if isinstance(group, list) else function(group)
        for group in inputs
    )


def _listed(group: Value | list[Value]) -> list[Value]:
    return group if isinstance(group, list) else [group]


def _dynamic_axes(value: Value) -> dict[int, str]:
    return {n: axis for n, axis in enumerate(value.axes) if isinstance(axis, str)}


def _described(model: ModelProto, description: str, metadata: Mapping[str, Any]) -> ModelProto:
    """The model with its description and versions, without the exporter's notes on each node."""
    graph = model.graph
    graph.ClearField("value_info")  # the shape of everything between
    for noted in (*graph.node, *graph.input, *graph.output, *graph.initializer, graph):
        noted.ClearField("metadata_props")  # stack traces, with the paths of this machine
        noted.ClearField("doc_string")
    model.ir_version, model.doc_string = IR_VERSION, description
    model.producer_name, model.producer_version = "qkv", qkv.__version__
    properties = {**versions(), **metadata}
    as_text = {k: v if isinstance(v, str) else json.dumps(v) for k, v in properties.items()}
    import_exporter()["onnx"].helper.set_model_props(model, as_text)
    return model


@contextmanager
def _silence() -> Iterator[None]:
    """Keep from the terminal what the exporter warns of; what fails is raised all the same."""
    loggers = [logging.getLogger(name) for name in LOGGERS]
    levels = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.ERROR)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
