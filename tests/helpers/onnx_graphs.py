"""ONNX graphs as tests take them: each model is traced once in a process, which takes seconds."""

import hashlib

from qkv.onnx import export, graphs

_traced = {}


def _once(build):
    """A function of `qkv.onnx.graphs` that gives what it has given of the same model before."""

    def model(config, parameters, max_len):
        digest = hashlib.sha256()
        for name in sorted(parameters):
            digest.update(name.encode() + parameters[name].tobytes())
        key = build.__name__, config, max_len, digest.digest()
        if key not in _traced:
            _traced[key] = build(config, parameters, max_len)
        return _traced[key]

    return model


encoder_model = _once(graphs.encoder_model)
decoder_step_model = _once(graphs.decoder_step_model)


def trace_once(monkeypatch):
    """Let `export_onnx` trace each model once."""
    monkeypatch.setattr(export, "encoder_model", encoder_model)
    monkeypatch.setattr(export, "decoder_step_model", decoder_step_model)
