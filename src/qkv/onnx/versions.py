"""The library that builds ONNX, and the versions that stand in each file."""

from __future__ import annotations

from typing import Any

import numpy as np

import qkv

__all__ = ["IR_VERSION", "OPSET", "import_onnx", "versions"]

OPSET = 20  # the first with Gelu; onnx since 1.15 and onnxruntime since 1.17 know it
IR_VERSION = 9  # of the file; onnx 1.15 paired it with this opset


def versions() -> dict[str, str]:
    """Versions of what an exported file is, and of what wrote it, by name."""
    return {
        "opset": str(OPSET),
        "ONNX IR": str(IR_VERSION),
        "qkv": qkv.__version__,
        "onnx": import_onnx().__version__,
        "NumPy": np.__version__,
    }


def import_onnx() -> Any:
    """The library, imported only where a graph is built.

    Raises:
        ImportError: it is not installed.
    """
    try:
        import onnx
        import onnx.checker
        import onnx.helper
        import onnx.numpy_helper
        import onnx.shape_inference
    except ImportError as error:
        raise ImportError("ONNX files need onnx: pip install 'qkv[onnx]'") from error
    return onnx
