"""GPT-2 and BERT from a Hugging Face folder on this machine, in either room.

A folder holds `config.json`, the sizes, and `model.safetensors`, the parameters. Nothing is
downloaded here. One way to such a folder is the command of `huggingface_hub`:

    hf download openai-community/gpt2 --local-dir gpt2
"""

from qkv.hugging_face.bert import load_bert
from qkv.hugging_face.gpt2 import load_gpt2

__all__ = ["load_bert", "load_gpt2"]
