"""Export a trained model as ONNX: its encoder, and its decoder step with the cache.

The graphs are built node by node from the configuration and the parameters, so that each node has
the name of what it computes in the model. Writing needs onnx, running onnxruntime:
`pip install 'qkv[onnx]'` brings both.
"""

from qkv.onnx.decoder_step import decoder_step_model
from qkv.onnx.encoder import encoder_model
from qkv.onnx.export import OnnxExport, export_onnx
from qkv.onnx.runtime import OnnxDecodingState, OnnxTransformer

__all__ = [
    "OnnxDecodingState",
    "OnnxExport",
    "OnnxTransformer",
    "decoder_step_model",
    "encoder_model",
    "export_onnx",
]
