"""A graph of ONNX while it is built: nodes that are called what they compute."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import qkv
from qkv.onnx.versions import IR_VERSION, OPSET, import_onnx, versions

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["DTYPES", "Graph"]

DTYPES = {"int64": 7, "bool": 9, "float32": 1}  # as onnx.TensorProto counts them


class Graph:
    """An ONNX graph under construction.

    Each node has one output, and both have one name, which is where the value stands in the model:
    "decoder.layers.0.cross_attention.weights". The methods take and give such names.

    Args:
        name: of the graph, such as "encoder".
        parameters: all of the model, by name; those that are asked for go into the file, as
            float32.
    """

    def __init__(self, name: str, parameters: Mapping[str, NDArray[Any]]) -> None:
        self._onnx = import_onnx()
        self._name, self._parameters = name, parameters
        self._nodes: list[Any] = []
        self._initializers: dict[str, Any] = {}
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []

    def __contains__(self, parameter: str) -> bool:
        """Whether the model has a parameter of this name."""
        return parameter in self._parameters

    def add(self, op: str, name: str, *inputs: str, **attributes: Any) -> str:
        """Add a node."""
        node = self._onnx.helper.make_node(op, [*inputs], [name], name=name, **attributes)
        self._nodes.append(node)
        return name

    def constant(self, name: str, value: NDArray[Any]) -> str:
        """Add an array that is part of the file."""
        self._initializers[name] = self._onnx.numpy_helper.from_array(value, name)
        return name

    def parameter(self, name: str) -> str:
        """A parameter of the model, kept in the file once."""
        if name not in self._initializers:
            self.constant(name, np.ascontiguousarray(self._parameters[name], np.float32))
        return name

    def number(self, name: str, value: float) -> str:
        """A constant without axes: int64 of an int, float32 of a float."""
        return self.constant(
            name, np.array(value, np.int64 if isinstance(value, int) else np.float32)
        )

    def integers(self, name: str, *values: int) -> str:
        """A constant (n,) of shapes and axes."""
        return self.constant(name, np.array(values, np.int64))

    def input(self, name: str, dtype: str, shape: Sequence[int | str]) -> str:
        """An input of the graph; a text in its shape is an axis that each call chooses."""
        self._inputs.append(self._value_info(name, dtype, shape))
        return name

    def output(self, name: str, value: str, dtype: str, shape: Sequence[int | str]) -> None:
        """Give out a value under a name of its own."""
        self.add("Identity", name, value)
        self._outputs.append(self._value_info(name, dtype, shape))

    def model(self, description: str, metadata: Mapping[str, Any]) -> ModelProto:
        """The finished model, checked as far as can be without running it.

        Args:
            description: what it computes, for whoever opens the file.
            metadata: written into it beside the versions; what is no text, as JSON.
        Raises:
            ValueError: it is no valid ONNX.
        """
        helper = self._onnx.helper
        nodes, initializers = self._used()
        model: ModelProto = helper.make_model(
            helper.make_graph(nodes, self._name, self._inputs, self._outputs, initializers),
            doc_string=description,
            ir_version=IR_VERSION,
            opset_imports=[helper.make_opsetid("", OPSET)],
            producer_name="qkv",
            producer_version=qkv.__version__,
        )
        properties = {**versions(), **metadata}
        as_text = {k: v if isinstance(v, str) else json.dumps(v) for k, v in properties.items()}
        helper.set_model_props(model, as_text)
        checker, inference = self._onnx.checker, self._onnx.shape_inference
        try:
            checker.check_model(model, full_check=True)
        except (checker.ValidationError, inference.InferenceError) as error:
            raise ValueError(f"{self._name}: the graph is no valid ONNX ({error})") from error
        return model

    def _used(self) -> tuple[list[Any], list[Any]]:
        """The nodes and the arrays on which an output depends."""
        used, nodes = {output.name for output in self._outputs}, []
        for node in reversed(self._nodes):
            if node.output[0] in used:
                nodes.append(node)
                used.update(node.input)
        return nodes[::-1], [value for name, value in self._initializers.items() if name in used]

    def _value_info(self, name: str, dtype: str, shape: Sequence[int | str]) -> Any:
        return self._onnx.helper.make_tensor_value_info(name, DTYPES[dtype], shape)
