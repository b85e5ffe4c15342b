"""A whole model in one safetensors file, which a reader opens in the page."""

from __future__ import annotations

import json

import numpy as np

from qkv.bridge import state_dict, to_bytes
from qkv.javascript.scripts import checkpoint_content
from qkv.shapes import check_choice
from qkv.shapes.choices import PAGE_POSITIONS
from qkv.translator import Translator

__all__ = ["DTYPES", "FORMAT", "SIZE_LIMIT", "model_file"]

FORMAT = "qkv model 1"
DTYPES = ("float32", "float16")
SIZE_LIMIT = 200_000_000  # bytes that the page opens


def model_file(translator: Translator, dtype: str = "float32") -> bytes:
    """The bytes of a safetensors file that holds a translator, and all that the page needs.

    Its metadata are texts: "format", and in JSON "model" (the configuration), "source" and "target"
    (the vocabularies, with a "language" where words of another are refused by name), "max_len".

    Args:
        dtype: of the parameters, "float32" or "float16", which halves the file.
    Raises:
        ValueError: the page does not compute such a model; a parameter is NaN, infinite or too
            large for float16; the file is larger than the page opens.
    """
    check_choice("model_file", "dtype", dtype, DTYPES)
    config = translator.model.config
    if config.positions not in PAGE_POSITIONS or not config.causal:
        got = f"{config.positions} positions" if config.causal else "causal=False"
        raise ValueError(f"model_file: the page computes no model with {got}: train another")
    with np.errstate(over="ignore"):
        parameters = {n: v.astype(dtype) for n, v in state_dict(translator.model).items()}
    for name, value in parameters.items():
        if not np.isfinite(value).all():
            hint = "train it again" if dtype == "float32" else "pass float32"
            raise ValueError(f"model_file: {name} has no finite numbers in {dtype}: {hint}")
    content = checkpoint_content(translator)
    metadata = {name: json.dumps(part, ensure_ascii=False) for name, part in content.items()}
    data = to_bytes(parameters, {"format": FORMAT, **metadata})
    if len(data) > SIZE_LIMIT:
        size = f"{len(data) / 1e6:,.0f} MB"
        raise ValueError(
            f"model_file: the page opens files of up to {SIZE_LIMIT // 1_000_000} MB, and this one "
            f"has {size}: pass float16, or train a smaller model"
        )
    return data
