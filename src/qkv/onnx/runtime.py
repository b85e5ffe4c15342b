"""Run the two files by onnxruntime, with the names of the rooms: `start_decoding`, `extend`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qkv.numpy.attention.log_softmax import log_softmax

__all__ = ["OnnxDecodingState", "OnnxTransformer", "import_onnxruntime"]

Arrays = dict[str, NDArray[Any]]
FATAL = 4  # a severity of onnxruntime: errors are raised, and need not be printed too


class OnnxTransformer:
    """An exported Transformer, run by onnxruntime on the processor.

        model = OnnxTransformer("folder/encoder.onnx", "folder/decoder_step.onnx")
        tokens, _ = qn.greedy(model.start_decoding(source), prefixes, eos_id=2, max_new_tokens=50)

    Args:
        encoder, decoder_step: the paths of the files, or their bytes.
    Raises:
        ImportError: onnxruntime is not installed.
    """

    def __init__(
        self, encoder: str | os.PathLike[str] | bytes, decoder_step: str | os.PathLike[str] | bytes
    ) -> None:
        self._encoder, self._decoder_step = _session(encoder), _session(decoder_step)

    def start_decoding(self, source: NDArray[np.int64]) -> OnnxDecodingState:
        """Encode sources (B, S), padded at the end, and give a state that writes token by token."""
        return OnnxDecodingState(self._decoder_step, _run(self._encoder, {"source": source}))


class OnnxDecodingState:
    """Decoding state of a batch: the step function for all searches of the NumPy room.

    Args:
        decoder_step: the session of the decoder.
        memory: what the encoder gave, by name.
    """

    def __init__(self, decoder_step: Any, memory: Mapping[str, NDArray[Any]]) -> None:
        self._decoder_step = decoder_step
        self.memory = memory["memory"]  # (N, S, d_model)
        self._of_memory = {name: value for name, value in memory.items() if name != "memory"}
        self._past = {
            given.name: np.zeros((len(self.memory), given.shape[1], 0, given.shape[3]), np.float32)
            for given in decoder_step.get_inputs()
            if given.name.startswith("past_")
        }

    @property
    def length(self) -> int:
        """Number of tokens so far; the next one has this position."""
        length: int = self._past["past_keys.0"].shape[2]
        return length

    def __call__(self, prefixes: NDArray[np.int64]) -> NDArray[Any]:
        """Log-probabilities (N, V) of the next token, after prefixes (N, T) that have grown."""
        return log_softmax(self.extend(prefixes[:, self.length :])[:, -1])  # (N, V)

    def extend(self, ids: NDArray[np.int64]) -> NDArray[Any]:
        """Append new tokens (N, T) to the texts, and give the logits (N, T, V) of each."""
        outputs = _run(self._decoder_step, {"ids": ids, **self._of_memory, **self._past})
        logits = outputs.pop("logits")
        self._past = {f"past_{name}": value for name, value in outputs.items()}
        return logits

    def reorder(self, indices: Sequence[int] | NDArray[np.int64]) -> None:
        """Reorder the rows, as beam search does: row n goes on from what was row indices[n]."""
        rows = list(indices)
        self.memory = self.memory[rows]
        self._of_memory = {name: value[rows] for name, value in self._of_memory.items()}
        self._past = {name: value[rows] for name, value in self._past.items()}


def import_onnxruntime() -> Any:
    """The library, imported only where a file is run.

    Raises:
        ImportError: it is not installed.
    """
    try:
        import onnxruntime
    except ImportError as error:
        raise ImportError("to run ONNX files needs onnxruntime: pip install 'qkv[onnx]'") from error
    return onnxruntime


def _session(model: str | os.PathLike[str] | bytes) -> Any:
    onnxruntime = import_onnxruntime()
    onnxruntime.set_default_logger_severity(FATAL)
    file = model if isinstance(model, bytes) else os.fspath(model)
    return onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])


def _run(session: Any, inputs: Arrays) -> Arrays:
    """The outputs by name."""
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs), strict=True))
