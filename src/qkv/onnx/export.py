"""Export a translator as ONNX: a folder that needs nothing of qkv any more."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from qkv.bridge import state_dict
from qkv.onnx.comparison import compare
from qkv.onnx.folder import check_folder, write_folder
from qkv.onnx.graphs import decoder_step_model, encoder_model
from qkv.onnx.readme import readme
from qkv.onnx.runtime import OnnxTransformer
from qkv.onnx.versions import versions
from qkv.shapes.transformer import check_decoding_mode
from qkv.text import SPECIAL_TOKENS
from qkv.translator import Translator

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["OnnxExport", "export_onnx"]

FORMAT = "qkv onnx 1"
ENCODER, DECODER_STEP = "encoder.onnx", "decoder_step.onnx"
FILES = (ENCODER, DECODER_STEP, "config.json", "source.json", "target.json", "README.md")
MAX_BYTES = 2**31 - 2**20  # what one file of protocol buffers can hold, with room for the nodes


@dataclass(frozen=True)
class OnnxExport:
    """What was exported.

    Args:
        folder: where it stands.
        versions: of what wrote it, by name.
        models: the two, by the names of their files.
        differences: for each room, "numpy" and "torch", the largest difference of logits, as a
            share of the largest logit or of 1; None where there is no onnxruntime.
    """

    folder: Path
    versions: dict[str, str]
    models: dict[str, ModelProto]
    differences: dict[str, float] | None


def export_onnx(
    translator: Translator,
    folder: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    progress: Callable[[str], None] | None = None,
) -> OnnxExport:
    """Write a translator's encoder and decoder step as ONNX, with its vocabularies and sizes.

    The files are compared with both rooms first, where onnxruntime is installed. The folder is then
    there as a whole, or not at all.

    Args:
        translator: of either room; what is written is float32.
        folder: a new or an empty one, in a folder that is there.
        overwrite: let it replace an earlier export.
        progress: called with the name of each file before its graph is made, which takes seconds,
            and with "comparison" before that.
    Raises:
        ValueError: the folder holds something else, or is in none; the model is not causal, is too
            large for one file, or computes something else than its rooms.
        OSError: it cannot be written.
        ImportError: onnx, torch or onnxscript is not installed.
    """
    report = progress or (lambda name: None)
    check_folder(Path(folder), FILES, overwrite)
    numbers = versions()
    config, max_len = translator.model.config, translator.max_len
    check_decoding_mode("export_onnx", False, config.causal)  # before anything is traced
    parameters = {
        name: value.astype(np.float32, copy=False)
        for name, value in state_dict(translator.model).items()
    }
    size = sum(value.nbytes for value in parameters.values())
    if size > MAX_BYTES:
        raise ValueError(
            f"export_onnx: the parameters must be less than 2 GiB, got {size / 2**30:.1f} GiB: one "
            "ONNX file holds no more"
        )
    positions = max(config.max_len, max_len)
    models = {}
    for name, build in ((ENCODER, encoder_model), (DECODER_STEP, decoder_step_model)):
        report(name)
        models[name] = build(config, parameters, positions)
    files = {name: model.SerializeToString() for name, model in models.items()}
    differences = None
    if find_spec("onnxruntime"):
        report("comparison")
        exported = OnnxTransformer(files[ENCODER], files[DECODER_STEP])
        differences = compare(exported, config, parameters, max_len)
    files["config.json"] = _config_file(translator, numbers)
    files["source.json"] = translator.source.to_bytes()
    files["target.json"] = translator.target.to_bytes()
    text = readme(models, numbers, translator)
    files["README.md"] = text.encode()
    write_folder(Path(folder), files)
    return OnnxExport(Path(folder), numbers, models, differences)


def _config_file(translator: Translator, numbers: dict[str, str]) -> bytes:
    content = {
        "format": FORMAT,
        "versions": numbers,
        "max_len": translator.max_len,
        "special_tokens": {token: n for n, token in enumerate(SPECIAL_TOKENS)},
        "model": asdict(translator.model.config),
    }
    return json.dumps(content, indent=1).encode()
