"""Small Hugging Face folders of random parameters, and folders in which something is changed."""

import copy
import json
import shutil

import torch
from safetensors.numpy import load_file, save_file
from transformers import BertConfig, BertForMaskedLM, GPT2Config, GPT2LMHeadModel

import qkv.numpy as qn
import qkv.torch as qt

ROOM_NAMES = {qn: "numpy", qt: "torch"}
SIZES = {"vocab_size": 23}


def GPT2():
    sizes = {"n_positions": 17, "n_embd": 12, "n_layer": 2, "n_head": 3}
    return GPT2LMHeadModel(GPT2Config(**SIZES, **sizes, bos_token_id=0, eos_token_id=22))


def BERT():
    sizes = {"hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3}
    sizes |= {"intermediate_size": 19, "max_position_embeddings": 17}
    return BertForMaskedLM(BertConfig(**SIZES, **sizes))


def saved(folder, kind):
    """A folder that transformers saves, every parameter drawn, in float32."""
    model = kind()
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.3, generator=generator)
    model.save_pretrained(folder)
    return folder


def save_gradients(model, folder):
    """Save the gradients of a model as if they were its parameters, and clear them."""
    slopes = copy.deepcopy(model)
    with torch.no_grad():
        for parameter, other in zip(slopes.parameters(), model.parameters(), strict=True):
            parameter.copy_(other.grad)
    model.zero_grad()
    slopes.save_pretrained(folder)


def changed(folder, to, tensors=None, config=None):
    """A copy of a folder, its tensors or its configuration changed by functions."""
    shutil.copytree(folder, to)
    if tensors is not None:
        file = to / "model.safetensors"
        save_file(tensors(load_file(file)), file)
    if config is not None:
        file = to / "config.json"
        file.write_text(json.dumps(config(json.loads(file.read_text()))))
    return to
