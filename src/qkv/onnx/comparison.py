"""Compare exported files with both rooms: the same inputs, and how far their logits differ."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qkv.bridge import StateDict
from qkv.config import TransformerConfig
from qkv.onnx.runtime import OnnxTransformer
from qkv.text import EOS
from qkv.translator.rooms import build_model, find_room

__all__ = ["TOLERANCE", "compare", "logit_difference"]

TOLERANCE = 1e-4  # of the largest logit, or of 1 where all are smaller; float32 on both sides
MAX_SOURCE, MAX_TARGET = 12, 8  # tokens of what is compared
BATCH = 3


def compare(
    exported: OnnxTransformer, config: TransformerConfig, parameters: StateDict, max_len: int
) -> dict[str, float]:
    """Compare with both rooms, on padded sources and targets drawn at random.

    Args:
        exported: the files as they run.
        config, parameters: of the model that was exported.
        max_len: the longest text that it takes.
    Returns:
        For "numpy" and "torch", the difference that `logit_difference` gives.
    Raises:
        ValueError: one is more than `TOLERANCE`, or no number.
    """
    source, target = _texts(config, max_len)
    found = {}
    for name in ("numpy", "torch"):
        room = find_room(build_model(config, parameters, name))
        found[name] = logit_difference(exported, room, source, target)
        if not found[name] <= TOLERANCE:
            raise ValueError(
                f"export_onnx: what onnxruntime computes must be what the {name} room does, got a "
                f"difference of {found[name]:.2g}, where {TOLERANCE:g} is let pass: nothing is "
                "written"
            )
    return found


def logit_difference(
    exported: OnnxTransformer, room: Any, source: NDArray[np.int64], target: NDArray[np.int64]
) -> float:
    """The largest difference of logits, as a share of the largest logit or of 1.

    Args:
        exported: the files as they run; token by token with the cache, and the whole target at
            once.
        room: a `Room` of the translator, token by token.
        source: (B, S) token ids, padded at the end.
        target: (B, T) token ids.
    """
    state, whole = (exported.start_decoding(source) for _ in range(2))
    tokens = np.split(target, target.shape[1], axis=1)  # T of (B, 1)
    stepwise = np.concatenate([state.extend(ids) for ids in tokens], 1)  # (B, T, V)
    with room.model.inference_mode() as model:
        expected_state = model.start_decoding(room.from_numpy(source))
        expected = np.concatenate(
            [room.to_numpy(expected_state.extend(room.from_numpy(ids))) for ids in tokens], 1
        )  # (B, T, V)
    differences = [abs(found - expected).max() for found in (stepwise, whole.extend(target))]
    return float(max(differences) / max(1.0, abs(expected).max()))


def _texts(config: TransformerConfig, max_len: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sources (B, S) of several lengths and targets (B, T), drawn from a seed of its own."""
    rng = np.random.default_rng(0)
    S, T = min(MAX_SOURCE, max_len), min(MAX_TARGET, max_len)
    source = rng.integers(1, config.vocab_size, (BATCH, S))
    for row, ids in enumerate(source):
        length = max(1, S - 3 * row)
        ids[length - 1] = min(EOS, config.vocab_size - 1)
        if config.pad_id is not None:
            ids[length:] = config.pad_id
    return source, rng.integers(1, config.target_vocabulary, (BATCH, T))
