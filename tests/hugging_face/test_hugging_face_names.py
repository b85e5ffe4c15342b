"""Folders as they are found: names with and without a prefix, older words, buffers, tokenizers."""

import numpy as np
import pytest
from safetensors.numpy import load_file

import qkv.numpy as qn
from qkv.config import parameter_count
from qkv.hugging_face import load_bert, load_gpt2
from tests.helpers.hugging_face import BERT, GPT2, SIZES, changed, saved
from tests.helpers.processes import run_python
from tests.helpers.rooms import close

IDS = np.random.default_rng(1).integers(1, SIZES["vocab_size"], (2, 5))
KINDS = [pytest.param(GPT2, load_gpt2, id="gpt2"), pytest.param(BERT, load_bert, id="bert")]


def renamed(tensors, change):
    return {change(name): value for name, value in tensors.items()}


def test_gpt2_is_read_with_and_without_prefix_masks_and_tied_output(tmp_path):
    """As `openai-community/gpt2` is stored, as transformers saves it today, and as it once did."""
    folder = saved(tmp_path / "today", GPT2)
    expected = load_gpt2(folder)(IDS)
    mask = np.tril(np.ones((1, 1, 17, 17), np.float32))

    def once(tensors):
        tensors["transformer.h.0.attn.masked_bias"] = np.array(-1e4, np.float32)
        tensors["lm_head.weight"] = tensors["transformer.wte.weight"]
        return tensors

    def first(tensors):
        plain = renamed(tensors, lambda name: name.removeprefix("transformer."))
        return plain | {f"h.{i}.attn.bias": mask for i in range(2)}

    for name, change in (("once", once), ("first", first)):
        close(load_gpt2(changed(folder, tmp_path / name, change))(IDS), expected)


def test_bert_is_read_with_and_without_prefix_and_in_older_words(tmp_path):
    """As `google-bert/bert-base-uncased` is stored: gamma and beta, pooler and next sentence."""
    folder = saved(tmp_path / "today", BERT)
    expected = load_bert(folder)(IDS)

    def old(name):
        gamma = name.replace("LayerNorm.weight", "LayerNorm.gamma")
        return gamma.replace("LayerNorm.bias", "LayerNorm.beta")

    def first(tensors):
        tensors = renamed(tensors, old)
        tensors["bert.embeddings.position_ids"] = np.arange(17)[None]
        tensors["cls.seq_relationship.weight"] = np.ones((2, 12), np.float32)
        tensors["cls.seq_relationship.bias"] = np.ones(2, np.float32)
        tensors["bert.pooler.dense.weight"] = np.ones((12, 12), np.float32)
        tensors["bert.pooler.dense.bias"] = np.ones(12, np.float32)
        tensors["cls.predictions.decoder.weight"] = tensors[
            "bert.embeddings.word_embeddings.weight"
        ]
        return tensors | {"cls.predictions.decoder.bias": tensors["cls.predictions.bias"]}

    def plain(tensors):
        return renamed(tensors, lambda name: name.removeprefix("bert."))

    for name, change in (("first", first), ("plain", plain)):
        close(load_bert(changed(folder, tmp_path / name, change))(IDS), expected)


@pytest.mark.parametrize(("kind", "load"), KINDS)
def test_float16_is_computed_in_float32(tmp_path, kind, load):
    folder = saved(tmp_path / "whole", kind)

    def halved(tensors):
        return {name: value.astype(np.float16) for name, value in tensors.items()}

    model = load(changed(folder, tmp_path / "half", halved))
    assert {value.dtype for value in model.state_dict().values()} == {np.dtype("float32")}
    close(model(IDS), load(folder)(IDS), "bfloat16")  # eleven bits of each number, through layers


@pytest.mark.parametrize(("kind", "load"), KINDS)
def test_options_that_a_file_leaves_out_are_those_of_hugging_face(tmp_path, kind, load):
    """The first files name sizes and little more."""
    folder = saved(tmp_path / "whole", kind)
    sizes = {"vocab_size", "model_type", "n_positions", "n_embd", "n_layer", "n_head"}
    sizes |= {"max_position_embeddings", "hidden_size", "num_hidden_layers", "num_attention_heads"}
    sizes |= {"intermediate_size"}

    def config(values):
        return {name: value for name, value in values.items() if name in sizes}

    short = changed(folder, tmp_path / "short", config=config)
    assert load(short).config == load(folder).config
    close(load(short)(IDS), load(folder)(IDS))


def test_a_model_that_was_loaded_counts_its_parameters_and_is_in_eval_mode(tmp_path):
    model = load_gpt2(saved(tmp_path, GPT2))
    assert not any(layer.training for _, layer in model.named_modules())
    size = sum(value.size for value in model.state_dict().values())
    assert size == parameter_count(model.config, "decoder-only")
    tensors = load_file(tmp_path / "model.safetensors")
    assert size == sum(value.size for value in tensors.values())


def test_numpy_loads_without_torch_and_without_transformers(tmp_path):
    saved(tmp_path, BERT)
    found = run_python(
        "import sys; sys.modules['torch'] = sys.modules['transformers'] = None\n"
        "import numpy as np; from qkv.hugging_face import load_bert\n"
        "print(load_bert(sys.argv[1])(np.ones((1, 2), int)).shape)",
        tmp_path,
    )
    assert found.stdout.strip() == "(1, 2, 23)", found.stderr


def test_a_tokenizer_of_the_folder_gives_the_ids(tmp_path):
    """GPT-2's kind: pieces of bytes. Its tokenizer.json is read by Hugging Face's `tokenizers`."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    pieces = ["a", "b", "c", "Ġ", "ab", "Ġa"]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    written = Tokenizer(models.BPE(vocabulary, [("a", "b"), ("Ġ", "a")]))
    written.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    written.decoder = decoders.ByteLevel()
    written.save(str(tmp_path / "tokenizer.json"))
    tokenizer = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    ids = tokenizer.encode("abc a").ids
    assert ids == [4, 2, 5]
    model = load_gpt2(saved(tmp_path, GPT2))
    tokens, _ = qn.greedy(
        model.start_decoding(), np.array([ids]), eos_id=22, max_new_tokens=3, pad_id=22
    )
    assert tokens.shape == (1, 6)
    assert tokenizer.decode(tokens[0, :3].tolist()) == "abc a"


def test_a_wordpiece_tokenizer_gives_ids_and_token_types(tmp_path):
    """BERT's kind: pieces of words, [CLS] and [SEP] around two sentences."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "##s", "sat"]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    written = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    written.pre_tokenizer = pre_tokenizers.Whitespace()
    written.add_special_tokens(["[MASK]"])
    written.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    written.save(str(tmp_path / "tokenizer.json"))
    tokenizer = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    read = tokenizer.encode("the cats", "[MASK] sat")
    assert read.ids == [2, 5, 6, 7, 3, 4, 8, 3]
    assert read.type_ids == [0, 0, 0, 0, 0, 1, 1, 1]
    model = load_bert(saved(tmp_path, BERT))
    logits = model(np.array([read.ids]), token_types=np.array([read.type_ids]))
    assert logits[0, read.ids.index(4)].shape == (23,)
