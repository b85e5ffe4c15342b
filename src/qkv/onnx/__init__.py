"""Export a trained model as ONNX: its encoder, and its decoder step with the cache.

The graphs are what `torch.onnx.export` reads in the torch room. Writing needs torch, onnx and
onnxscript, running onnxruntime: `pip install 'qkv[onnx]'` brings them.
"""

from qkv.onnx.export import OnnxExport, export_onnx
from qkv.onnx.graphs import decoder_step_model, encoder_model
from qkv.onnx.runtime import OnnxDecodingState, OnnxTransformer

__all__ = [
    "OnnxDecodingState",
    "OnnxExport",
    "OnnxTransformer",
    "decoder_step_model",
    "encoder_model",
    "export_onnx",
]
