"""What writes ONNX, and the versions that stand in each file."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

import qkv

__all__ = ["IR_VERSION", "OPSET", "import_exporter", "versions"]

OPSET = 20  # the first with Gelu; onnx since 1.15 and onnxruntime since 1.17 know it
IR_VERSION = 9  # of the file; onnx 1.15 paired it with this opset
NEEDED = "onnx", "torch", "onnxscript"  # the last one writes what torch.onnx.export has traced


def versions() -> dict[str, str]:
    """Versions of what an exported file is, and of what wrote it, by name."""
    libraries = import_exporter()
    return {
        "opset": str(OPSET),
        "ONNX IR": str(IR_VERSION),
        "qkv": qkv.__version__,
        **{name: str(library.__version__) for name, library in libraries.items()},
        "NumPy": np.__version__,
    }


def import_exporter() -> dict[str, Any]:
    """The libraries by name, imported only where a graph is made.

    Raises:
        ImportError: one is not installed.
    """
    libraries = {}
    for name in NEEDED:
        try:
            libraries[name] = import_module(name)
        except ImportError as error:
            raise ImportError(f"ONNX files need {name}: pip install 'qkv[onnx]'") from error
    return libraries
