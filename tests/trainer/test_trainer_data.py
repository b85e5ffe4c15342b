"""TranslationData: which pairs are for training, which for validation, and their vocabularies."""

import numpy as np
import pytest

from qkv.config import ModelConfig
from qkv.text import EOS, SOS, SPECIAL_TOKENS, Tokenizer
from qkv.torch import Transformer
from qkv.trainer import DataConfig, Trainer, TrainingConfig, TranslationData
from qkv.translator import Translator
from tests.helpers.training import PAIRS, paths, write_pairs


def test_the_grammar_is_there_without_files():
    combination = TranslationData.from_grammar(words=True, valid_pairs=200)
    assert (len(combination.training), len(combination.validation)) == (30_930, 200)
    random = TranslationData.from_grammar(words=True, split="random", validation_fraction=0.2)
    assert (len(random.training), len(random.validation)) == (34_367 - 6_873, 500)
    known = {" ".join(map(str, s)) for s, _ in random.training}
    assert not any(" ".join(map(str, s)) in known for s, _ in random.validation)


def test_nothing_of_the_validation_is_in_the_vocabulary(tmp_path):
    pairs = [(f"word{n}", f"wort{n}") for n in range(40)]
    text = paths(write_pairs(tmp_path / "text", pairs))
    data = TranslationData.from_files(*text, words=True, valid_pairs=4)
    assert len(data.source) == 4 + 2 * 36
    for source, _ in data.validation_texts:
        assert source not in data.source.tokens
    other = paths(write_pairs(tmp_path / "valid", [("word1", "wort1"), ("new", "neu")]))
    valid = dict(zip(("valid_source", "valid_target"), other, strict=True))
    data = TranslationData.from_files(*text, words=True, **valid)
    assert len(data.training) == 40
    assert data.validation_texts == [("word1", "wort1"), ("new", "neu")]


def test_pairs_come_from_a_tab_separated_file_too(tmp_path):
    lines = [f"{n}\t{t}\t{s}\tsomeone\n" for n, (s, t) in enumerate(PAIRS)]
    (tmp_path / "a.tsv").write_text("".join(lines))
    data = TranslationData.from_tsv(tmp_path / "a.tsv", columns=(3, 2), words=True, valid_pairs=9)
    assert len(data.training) == len(PAIRS) - 6  # no more than a tenth
    assert set(data.validation_texts) <= set(PAIRS)


def test_pairs_can_be_passed_as_they_are():
    data = TranslationData.from_pairs(PAIRS[:50], PAIRS[50:], DataConfig(words=True, max_len=9))
    assert (len(data.training), data.validation_texts) == (50, PAIRS[50:])
    assert data.lengths.shape == (50, 2)
    assert tuple(data.lengths[0]) == (6, 6)  # with <eos>
    again = TranslationData.from_pairs(PAIRS[:50], PAIRS[50:], DataConfig(max_len=9))
    assert again.digest == data.digest
    assert TranslationData.from_pairs(PAIRS[:49], PAIRS[50:]).digest != data.digest


@pytest.mark.parametrize(
    ("sources", "found"),
    [
        (["a", "a b a b a b", "a b " * 9], "a b a b a b"),  # the one of about eight tokens
        (["a b c", "b"], "b"),  # c was not in training
        (["a" * 201, "a a"], "a a"),
        (["c", "a c"], None),
    ],
)
def test_the_example_is_short_and_of_known_tokens(sources, found):
    training = [("a b", "x"), ("a" * 201, "x")]
    pairs = [(source, "x") for source in sources]
    assert TranslationData.from_pairs(training, pairs, DataConfig(words=True)).example == found


def test_the_scripts_are_those_of_the_sources_alone():
    pairs = [("the cat", "고양이"), ("die Größe 1984", "크기")]
    assert TranslationData.from_pairs(pairs, pairs, DataConfig(words=True)).scripts == ("LATIN",)
    back = [(target, source) for source, target in pairs]
    assert TranslationData.from_pairs(back, back, DataConfig(words=True)).scripts == ("HANGUL",)


def test_a_model_config_fits_the_data_and_is_small_where_nothing_is_said():
    one = TranslationData.from_pairs(PAIRS[:50], PAIRS[50:], DataConfig(words=True))
    config = one.model_config(d_model=24, n_kv_heads=2, positions="rotary")
    assert (config.vocab_size, config.target_vocab_size) == (len(one.source), None)
    assert (config.max_len, config.pad_id, config.tie_word_embeddings) == (129, 0, "all")
    assert (config.d_model, config.n_kv_heads, config.positions) == (24, 2, "rotary")
    defaults = ModelConfig()
    assert (config.n_heads, config.d_ff, config.n_layers) == (
        defaults.n_heads, defaults.d_ff, defaults.n_layers)  # fmt: skip
    both = DataConfig(words=True, separate_vocabularies=True)
    two = TranslationData.from_pairs(PAIRS[:50], PAIRS[50:], both)
    config = two.model_config()
    assert (config.vocab_size, config.target_vocab_size) == (len(two.source), len(two.target))
    assert config.tie_word_embeddings == "target"
    assert two.model_config(tie_word_embeddings="none").tie_word_embeddings == "none"
    with pytest.raises(
        ValueError, match="`tie_word_embeddings` all needs one vocabulary for both languages"
    ):
        two.model_config(tie_word_embeddings="all")
    with pytest.raises(TypeError, match="heads"):
        two.model_config(heads=3)


class LetterTokenizer(Tokenizer):
    """A reader's own, which cuts words into letters and knows what a space is."""

    def encode(self, text, *, sos=False, eos=False):
        ids = [self.tokens.index(letter) for letter in text.replace(" ", "_")]
        return np.array([SOS] * sos + ids + [EOS] * eos)

    def decode(self, ids):
        letters = [self.tokens[n] for n in ids if n >= len(SPECIAL_TOKENS)]
        return "".join(letters).replace("_", " ")

    def normalize(self, text, call="normalize"):
        return text


def test_a_tokenizer_of_ones_own_is_taken():
    letters = sorted({letter for pair in PAIRS for text in pair for letter in text} - {" "})
    own = LetterTokenizer([*SPECIAL_TOKENS, "_", *letters])
    config = DataConfig(separate_vocabularies=True)
    data = TranslationData.from_pairs(PAIRS[:50], PAIRS[50:], config, vocabularies=(own, own))
    assert own.decode(data.training[0][0]) == PAIRS[0][0]
    model = Transformer(data.model_config(d_model=16, n_heads=2, d_ff=16, n_layers=1))
    trainer = Trainer(model, data, TrainingConfig(steps=2, max_tokens=400, validate_every=2))
    history = trainer.fit()
    assert len(history.losses) == 2
    text = Translator(model, own, own).translate(PAIRS[0][0], max_new_tokens=5)
    assert set(text) <= {*letters, " "}
