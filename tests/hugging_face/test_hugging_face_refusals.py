"""What is refused of a Hugging Face folder: each by its name, with what was expected and came."""

import re

import numpy as np
import pytest

from qkv.hugging_face import load_bert, load_gpt2
from tests.helpers.hugging_face import BERT, GPT2, changed, saved

LOAD = {"gpt2": load_gpt2, "bert": load_bert}
C_FC, QUERY = "transformer.h.1.mlp.c_fc.weight", "bert.encoder.layer.1.attention.self.query.weight"
WORDS = "bert.embeddings.word_embeddings.weight"


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    kinds = {"gpt2": GPT2, "bert": BERT}
    return {name: saved(tmp_path_factory.mktemp(name), kind) for name, kind in kinds.items()}


def options(**values):
    return {"config": lambda config: config | values}


def without(name):
    def change(values):
        del values[name]
        return values

    return change


def tensor(name, value):
    return {"tensors": lambda tensors: tensors | {name: np.asarray(value, np.float32)}}


REFUSED = {
    ("gpt2", "model_type of {}/config.json must be 'gpt2', got 'llama': load_gpt2 reads GPT-2"): (
        options(model_type="llama")
    ),
    ("bert", "model_type of {}/config.json must be 'bert', got nothing: load_gpt2 reads"): {
        "config": without("model_type")
    },
    ("gpt2", "n_embd of {}/config.json must be given, got nothing: without it"): {
        "config": without("n_embd")
    },
    ("gpt2", "{}/config.json: TransformerConfig: d_model must be"): options(
        n_embd=12.5, n_inner=48
    ),
    ("gpt2", "activation_function of {}/config.json must be one of 'gelu', 'gelu_new', "): (
        options(activation_function="silu")
    ),
    ("bert", "hidden_act of {}/config.json must be one of 'gelu', "): options(hidden_act=["gelu"]),
    ("gpt2", "scale_attn_by_inverse_layer_idx of {}/config.json must be False, got True: "): (
        options(scale_attn_by_inverse_layer_idx=True)
    ),
    ("gpt2", "scale_attn_weights of {}/config.json must be True, got False: scores are divided"): (
        options(scale_attn_weights=False)
    ),
    ("gpt2", "tie_word_embeddings of {}/config.json must be True, got False: the output is"): (
        options(tie_word_embeddings=False)
    ),
    ("gpt2", "add_cross_attention of {}/config.json must be False, got True"): (
        options(add_cross_attention=True)
    ),
    ("bert", "is_decoder of {}/config.json must be False, got True: EncoderOnly looks both"): (
        options(is_decoder=True)
    ),
    ("bert", "position_embedding_type of {}/config.json must be 'absolute', got 'relative_key'"): (
        options(position_embedding_type="relative_key")
    ),
    ("gpt2", "{}/model.safetensors must hold n_layer = 3 layers, got 2: config.json is of"): (
        options(n_layer=3)
    ),
    ("bert", "{}/model.safetensors must hold num_hidden_layers = 999999999 layers, got 2"): (
        options(num_hidden_layers=999_999_999)
    ),
    ("gpt2", "{}/model.safetensors: h.1.mlp.c_fc.weight is missing: the state is of another"): {
        "tensors": without(C_FC)
    },
    ("gpt2", "{}/model.safetensors: h.1.mlp.c_fc.weight must be (12, 48), got (48, 12): "): (
        tensor(C_FC, np.ones((48, 12)))
    ),
    ("gpt2", "{}/model.safetensors: score.weight is not a parameter of this model: "): (
        tensor("score.weight", np.ones((2, 12)))
    ),
    ("gpt2", "lm_head.weight of {}/model.safetensors must equal wte.weight, got other numbers"): (
        tensor("lm_head.weight", np.ones((23, 12)))
    ),
    ("gpt2", "{}/model.safetensors must hold each tensor once, got "): (
        tensor("wte.weight", np.ones((23, 12)))
    ),
    ("bert", "{}/model.safetensors: encoder.layer.1.attention.self.query.weight is missing"): {
        "tensors": without(QUERY)
    },
    ("bert", "{}/model.safetensors: embeddings.word_embeddings.weight must be (29, 12), got "): (
        options(vocab_size=29)
    ),
    ("bert", "{}/model.safetensors: embeddings.token_type_embeddings.weight must be (5, 12), "): (
        options(type_vocab_size=5)
    ),
    ("bert", "{}/model.safetensors: cls.predictions.bias is missing"): {
        "tensors": without("cls.predictions.bias")
    },
    ("bert", "classifier.weight is not a parameter of this model"): (
        tensor("classifier.weight", np.ones((2, 12)))
    ),
    (
        "bert",
        "cls.predictions.decoder.weight of {}/model.safetensors must equal embeddings.",
    ): (tensor("cls.predictions.decoder.weight", np.ones((23, 12)))),
    ("bert", "embeddings.word_embeddings.weight of {}/model.safetensors must be one of F16, F32"): {
        "tensors": lambda tensors: tensors | {WORDS: tensors[WORDS].astype(np.int64)}
    },
}


@pytest.mark.parametrize(("kind", "words"), REFUSED)
def test_what_our_models_cannot_be_is_refused_by_name(folders, tmp_path, kind, words):
    folder = changed(folders[kind], tmp_path / "changed", **REFUSED[kind, words])
    for room in ("numpy", "torch"):
        with pytest.raises(ValueError, match=re.escape(words.format(folder))) as refusal:
            LOAD[kind](folder, room)
        assert str(refusal.value).startswith(f"load_{kind}: ")


@pytest.mark.parametrize("kind", LOAD)
def test_a_room_that_is_not_there_is_refused(folders, kind):
    with pytest.raises(ValueError, match=f"load_{kind}: room must be one of 'numpy', 'torch'"):
        LOAD[kind](folders[kind], "jax")


FILES = {
    "model.safetensors.index.json": "cut into several files: .*max_shard_size='50GB'",
    "pytorch_model.bin": "a .bin file can hold code and is not read: .*save_pretrained",
    "tf_model.h5": "model.safetensors must be there, got config.json, tf_model.h5: download it",
}


@pytest.mark.parametrize("name", FILES)
def test_a_folder_without_the_parameters_says_what_to_do(folders, tmp_path, name):
    folder = changed(folders["gpt2"], tmp_path / "changed")
    (folder / "model.safetensors").rename(folder / name)
    (folder / "generation_config.json").unlink()
    with pytest.raises(ValueError, match=FILES[name]):
        load_gpt2(folder)


def test_a_folder_that_is_none_is_refused(folders, tmp_path):
    for path in (tmp_path / "nowhere", folders["gpt2"] / "model.safetensors"):
        with pytest.raises(
            ValueError, match=r"load_gpt2: folder must be a folder with config\.json"
        ):
            load_gpt2(path)
    with pytest.raises(ValueError, match=r"config\.json must be there, got nothing: download it"):
        load_gpt2(tmp_path)


DAMAGED = {
    ("config.json", b'{"model_type": "gpt2"'): "config.json must be JSON: it is cut short",
    ("config.json", b"\xff\xfe"): "config.json must be JSON",
    ("config.json", b"[]"): "config.json must be a JSON object, got list",
    ("model.safetensors", b"PK\x03\x04"): "model.safetensors is no safetensors file: it is cut",
    ("model.safetensors", b""): "model.safetensors is no safetensors file: it is cut short",
}


@pytest.mark.parametrize(("name", "content"), DAMAGED)
def test_a_damaged_file_is_refused(folders, tmp_path, name, content):
    folder = changed(folders["gpt2"], tmp_path / "changed")
    (folder / name).write_bytes(content)
    with pytest.raises(ValueError, match=DAMAGED[name, content]):
        load_gpt2(folder)


def test_a_file_that_was_cut_short_is_refused(folders, tmp_path):
    folder = changed(folders["bert"], tmp_path / "changed")
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(ValueError, match="is no safetensors file: it is cut short"):
        load_bert(folder)
