"""The model that ships: small, whole, the same in both rooms, and as good as its metadata say."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from random import Random

import numpy as np
import pytest

import qkv.numpy as qn
import qkv.pretrained
import qkv.torch as qt
from qkv.bridge import state_dict
from qkv.checkpoint import Checkpoint
from qkv.commands import translate
from qkv.commands.translate_remarks import greeting
from qkv.config import ModelConfig
from qkv.corpus import sentences, split_by_combination
from qkv.pretrained import (
    EXAMPLES,
    STEPS,
    alignment_accuracy,
    antecedent_attention,
    exact_match,
    positional_accuracy,
    pretrained,
)
from qkv.pretrained.checkpoint_digests import DIGESTS
from qkv.pretrained.induction import MODEL as INDUCTION_MODEL
from qkv.pretrained.lenient_tokenizer import LenientTokenizer, UnknownWordsError
from qkv.pretrained.load import DIGEST, MODEL, load_verified, manifest
from qkv.pretrained.scores import POSITIONAL_BASELINES
from qkv.text import SPECIAL_TOKENS, UNK, train_word_level
from qkv.trainer import DataConfig, Trainer, TrainingConfig
from qkv.translator import AttentionMaps, Translator
from tests.helpers.processes import run_python
from tools import train_pretrained

CHECKOUT = Path(__file__).resolve().parents[2]
MAT = "The cat sat on the mat"
KOREAN = "고양이가 매트 위에 앉았다"
TIRED = "The dog did not cross the street because it was tired"


@pytest.fixture(scope="module")
def pairs():
    return sentences()


@pytest.fixture(scope="module")
def split(pairs):
    """Training pairs and those held back."""
    return split_by_combination(pairs, 0.1, Random(0))


@pytest.fixture(scope="module")
def shipped():
    return load_verified(MODEL, DIGEST)


def test_it_is_small_and_nothing_else_lies_beside_it():
    sizes = {file.name: file.stat().st_size for file in MODEL.parent.iterdir()}
    parts = [
        {path.name, *json.loads(path.read_text())["files"].values()}
        for path in map(manifest, STEPS)
    ]
    assert set().union(*parts) == sizes.keys()
    own = sum(sizes[name] for name in parts[-1])
    assert own < 1_000_000
    assert sum(sizes.values()) - own < 2_500_000


def test_it_translates_the_sentence_of_the_book():
    assert pretrained().translate(MAT) == KOREAN
    assert pretrained("torch").translate(MAT) == KOREAN
    assert pretrained() is pretrained("numpy")


def test_combinations_that_training_never_showed_come_out_right(split, shipped):
    training, held = split
    assert len(held) == 3437
    share, wrong = exact_match(pretrained(), held)
    assert share >= 0.99
    reasons = {" ".join(pair.source) for pair in held if pair.features.reason}
    of_reasons = 1 - sum(source in reasons for source, _, _ in wrong) / len(reasons)
    assert of_reasons >= 0.99
    figures = shipped.metadata["figures"]
    pronouns = figures["pronouns"]
    assert pronouns["pairs"] == len(reasons)
    assert of_reasons == pytest.approx(pronouns["exact match, greedy"], abs=0.003)
    assert figures["pairs"] == len(held)
    assert share == pytest.approx(figures["exact match, greedy"], abs=0.002)
    # It knows the words of the training text, in the order in which training alone counts them.
    for tokenizer, side in ((shipped.source, "source"), (shipped.target, "target")):
        learnt = train_word_level(" ".join(getattr(pair, side)) for pair in training)
        assert tokenizer.tokens == learnt.tokens


def test_it_finds_out_what_the_pronoun_means():
    assert pretrained().translate(TIRED) == "개는 피곤해서 길을 건너지 않았다"
    wide = TIRED.replace("tired", "wide")
    assert pretrained().translate(wide) == "길이 넓어서 개는 길을 건너지 않았다"


def test_the_example_sentences_come_out_right_and_nine_are_new_to_the_model(split):
    training, held = ({" ".join(pair.source): pair for pair in part} for part in split)
    expected = [" ".join({**training, **held}[example].target) for example in EXAMPLES]
    for room in ("numpy", "torch"):
        assert pretrained(room).translate(EXAMPLES) == expected
    assert len(set(EXAMPLES)) == 12
    assert all(example in training for example in EXAMPLES[:3])
    assert all(example in held for example in EXAMPLES[3:])
    tokens = [pretrained().count_tokens(example) for example in EXAMPLES]  # <eos> among them
    assert tokens == [7, 12, 12, 10, 10, 4, 8, 7, 6, 7, 9, 10]


def test_early_checkpoints_are_of_the_same_run(split, shipped):
    assert STEPS == (*train_pretrained.EARLY, train_pretrained.TRAINING.steps) == tuple(DIGESTS)
    assert pretrained(step=None) is pretrained("numpy", STEPS[-1]) is pretrained()
    held = split[1][::40]
    scores = [exact_match(pretrained(step=step), held)[0] for step in STEPS]
    assert scores[0] == scores[1] == 0 < scores[2] < 0.8 < min(scores[3:]) <= scores[-1]
    for step in STEPS[:-1]:
        early = load_verified(manifest(step), DIGESTS[step])
        assert early.metadata["steps"] == step
        assert early.metadata["recipe"] == shipped.metadata["recipe"]
        assert early.config == shipped.config
        assert {value.dtype.name for value in early.parameters.values()} == {"float16"}
        loaded = state_dict(pretrained("numpy", step).model)
        assert {value.dtype.name for value in loaded.values()} == {"float32"}
        for name, value in state_dict(pretrained("torch", step).model).items():
            np.testing.assert_array_equal(value, loaded[name], err_msg=name)
        assert pretrained(step=step).source.tokens == pretrained().source.tokens


@pytest.mark.parametrize("step", [0, 2, -1, True, "last"])
def test_an_unknown_step_is_refused(step):
    known = ", ".join(map(str, STEPS))
    with pytest.raises(ValueError, match=f"step must be one of {known}, or None for the last, got"):
        pretrained(step=step)


def test_the_rooms_hold_the_same_numbers_and_say_the_same(split):
    numpy, torch = pretrained("numpy"), pretrained("torch")
    assert (type(numpy.model), type(torch.model)) == (qn.Transformer, qt.Transformer)
    one, other = state_dict(numpy.model), state_dict(torch.model)
    assert one.keys() == other.keys()
    for name, value in one.items():
        np.testing.assert_array_equal(value, other[name], err_msg=name)
    texts = [" ".join(pair.source) for pair in split[1][::5]]
    assert torch.translate(texts) == numpy.translate(texts)
    assert torch.translate(texts[:50], "beam") == numpy.translate(texts[:50], "beam")


def test_attention_finds_the_word_that_is_being_translated(split):
    held = split[1][::10]
    found, diagonal = alignment_accuracy(pretrained(), held), positional_accuracy(held)
    assert diagonal.keys() == POSITIONAL_BASELINES.keys()
    assert found["mean"] >= max(diagonal.values()) + 0.2
    assert len(found) == 1 + pretrained().model.config.decoder_layers * 2


class Fixed:
    """Stands in for a translator: says and looks at what it was told."""

    def __init__(self, said, cross, encoder=None):
        self.said, self.cross, self.encoder = said, cross, encoder

    def translate(self, texts, method):
        assert method == "greedy"
        return [self.said for _ in texts]

    def attention(self, text, translation):
        source, target = (*text.split(), "<eos>"), (*translation.split(), "<eos>")
        weights = {
            "decoder.layers.0.cross_attention": self.cross,
            "encoder.layers.0.self_attention": self.encoder,
        }
        return AttentionMaps(text, translation, source, target, ("<sos>", *target[:-1]), weights)


def test_the_scores_by_hand(pairs):
    (mat,) = (pair for pair in pairs if " ".join(pair.source) == MAT)
    assert sorted(mat.alignment) == [(0, 1), (1, 5), (2, 3), (3, 2)]
    assert positional_accuracy([mat]) == {
        "same place": 0.0,  # 0 1 2 3
        "from the end": 0.0,  # 2 3 4 5
        "end to end": 0.25,  # 0 2 3 5
        "centre": 0.25,  # 0 2 3 5
        "last of its share": 0.25,  # 1 2 4 5
    }
    cross = np.zeros((2, 5, 7))
    cross[0, range(5), [1, 5, 3, 2, 6]] = 0.6  # right, as <eos> is that looks at <eos>
    cross[1, range(5), [1, 5, 3, 6, 6]] = 0.7  # one word looks at <eos>, which is wrong
    cross[1, 1] = 0.2  # and one at each word as much, so at an article first
    cross[1, 2, [0, 3]] = 0.7, 0.5  # and one at another, but less than both heads at the right one
    found = alignment_accuracy(Fixed(KOREAN, cross), [mat])
    assert found == {"mean": 0.75, "layer 0, head 0": 1.0, "layer 0, head 1": 0.25}
    assert exact_match(Fixed(KOREAN, cross), [mat, mat]) == (1.0, [])
    other = next(pair for pair in pairs if pair != mat)
    share, wrong = exact_match(Fixed(KOREAN, cross), [mat, other])
    assert (share, wrong) == (0.5, [(" ".join(other.source), " ".join(other.target), KOREAN)])


def test_antecedents_by_hand(pairs):
    """Four heads; "it" is word 8, the dog word 1, the street word 6, the adjective word 10."""
    tired = next(pair for pair in pairs if " ".join(pair.source) == TIRED)
    wide = next(pair for pair in pairs if pair.source == (*tired.source[:-1], "wide"))
    (mat,) = (pair for pair in pairs if " ".join(pair.source) == MAT)
    weights = np.zeros((2, 12, 12))
    weights[:, 8, 8] = 0.5  # on itself, which is left out
    weights[0, 8, [1, 6]] = 0.3, 0.2
    weights[1, 8, [10, 11]] = 0.2, 0.3  # more on <eos> than on the adjective
    fixed = Fixed(KOREAN, np.zeros((1, 5, 12)), weights)
    none = {"antecedent": 0.0, "other noun": 0.0, "adjective": 0.0, "rest": 0.0}
    assert antecedent_attention(fixed, [tired, mat]) == {
        "layer 0, head 0": none | {"antecedent": 1.0},
        "layer 0, head 1": none | {"rest": 1.0},
    }
    fixed.encoder[1, 8, 11] = 0.1
    assert antecedent_attention(fixed, [mat, tired, wide]) == {
        "layer 0, head 0": none | {"antecedent": 0.5, "other noun": 0.5},
        "layer 0, head 1": none | {"adjective": 1.0},
    }
    with pytest.raises(ValueError, match="must hold at least one with a reason, got none"):
        antecedent_attention(fixed, [mat])


def test_scores_need_pairs():
    for score in (exact_match, alignment_accuracy):
        with pytest.raises(ValueError, match="must hold at least one pair, got none"):
            score(pretrained(), [])
    with pytest.raises(ValueError, match="must hold at least one pair, got none"):
        positional_accuracy([])


def test_an_unknown_room_is_refused():
    with pytest.raises(ValueError, match="room must be one of"):
        pretrained("jax")


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("role", ["manifest", "parameters", "source", "target"])
def test_a_changed_file_is_refused(tmp_path, role, step):
    folder = shutil.copytree(MODEL.parent, tmp_path / "model")
    path = folder / manifest(step).name
    files = json.loads(path.read_text())["files"] | {"manifest": path.name}
    path = folder / files[role]
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"is not (the model that was shipped|what was saved)"):
        load_verified(folder / manifest(step).name, DIGESTS[step])


def test_another_model_is_refused(tmp_path, shipped):
    """A whole one, whose files fit each other: the digest in the code is what tells it."""
    parameters = {name: value + 1 for name, value in shipped.parameters.items()}
    other = Checkpoint(shipped.config, parameters, shipped.source, shipped.target, shipped.metadata)
    other.save(tmp_path / MODEL.name)
    Checkpoint.load(tmp_path)
    with pytest.raises(ValueError, match=r"SHA-256 must be .*: install the package again"):
        load_verified(tmp_path / MODEL.name, DIGEST)


def test_it_needs_neither_torch_nor_tokenizers():
    code = (
        "import sys; sys.modules.update(torch=None, tokenizers=None)\n"
        "from qkv.pretrained import pretrained\n"
        f"print(ascii(pretrained().translate({MAT!r})))"
    )
    said = run_python(code)
    assert said.stdout.strip() == ascii(KOREAN), said.stderr


FULL_WIDTH = MAT.translate({n: n + 0xFEE0 for n in range(ord("!"), ord("~") + 1)})
INVISIBLE = "\u200b\N{ZERO WIDTH NO-BREAK SPACE}".join(MAT) + "\N{SOFT HYPHEN}."


@pytest.mark.parametrize(
    "text",
    [
        MAT,
        f"{MAT}.",
        f"{MAT} .",
        MAT.lower(),
        MAT.upper(),
        f"  {MAT}\n",
        f"{MAT}?!",
        f"{MAT}…",
        f"{MAT}。",
    ],
)
def test_spelling_is_forgiven(text):
    assert pretrained().translate(text) == KOREAN


@pytest.mark.parametrize("text", [FULL_WIDTH, INVISIBLE], ids=["full width", "invisible"])
def test_letters_of_another_form_are_forgiven(text):
    assert text != MAT
    assert pretrained().translate(text) == KOREAN


def test_a_pronoun_keeps_its_capital():
    known = LenientTokenizer([*SPECIAL_TOKENS, "I", "We", "the", "The", "rice", "ate"])
    for text in ("I ate the rice", "i ate the rice", "I ATE THE RICE!"):
        assert [known.tokens[n] for n in known.encode(text)] == ["I", "ate", "the", "rice"]
    assert known.encode("the rice").tolist() == [7, 8]
    assert known.encode("").tolist() == []
    assert known.encode(".", eos=True).tolist() == [2]


def test_unknown_words_are_named():
    words = r"got 'dragn', 'matt' \(near 'mat'\) in 'The dragn sat on the matt'"
    for call in (pretrained().translate, pretrained().attention):
        with pytest.raises(ValueError, match=rf"one of the \d+ that the model knows, {words}"):
            call("The dragn sat on the matt")
    with pytest.raises(ValueError, match="got '용이'"):
        pretrained().attention(MAT, "용이 매트 위에 앉았다")
    with pytest.raises(ValueError, match="got '<unk>'"):
        pretrained().translate("The <unk> sat")
    assert UNK not in pretrained().source.encode(MAT)


def test_a_text_in_another_language_is_told_which_one_is_read():
    words = r"got '고양이가' in '고양이가\.': it reads English; `source\.tokens`"
    with pytest.raises(UnknownWordsError, match=words) as found:
        pretrained().translate("고양이가.")
    assert found.value.hint == "this model reads English, and not '고양이가'"
    with pytest.raises(UnknownWordsError) as found:
        pretrained().attention(MAT, MAT)
    assert found.value.hint.startswith("this model reads Korean, and not 'The', 'cat'")
    with pytest.raises(UnknownWordsError) as found:
        pretrained().translate("The lion slept")  # of its letters, all are known
    assert found.value.hint == "the model does not know 'lion'"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("zorp quux dax fep", "'zorp', 'quux', 'dax', 'fep'"),
        ("zorp quux zorp dax fep mrk", "'zorp', 'quux', 'dax', 'fep' and 1 more"),
        ("the cat " + "x" * 100_000, f"'{'x' * 30}…'"),
    ],
)
def test_of_many_unknown_words_a_few_are_named_once(text, named):
    with pytest.raises(UnknownWordsError) as found:
        pretrained().translate(text)
    assert found.value.hint == f"the model does not know {named}"


@pytest.mark.parametrize(
    ("word", "named"),
    [
        ("doesn't", "\"doesn't\" (near 'does not')"),
        ("DON’T", "'DON’T' (near 'do not')"),
        ("won't", "\"won't\" (near 'will not')"),
        ("I'm", "\"I'm\" (near 'I am')"),
        ("couldn't", '"couldn\'t"'),  # the grammar has no "could"
    ],
)
def test_a_short_form_is_spelt_out_in_known_words(word, named):
    with pytest.raises(UnknownWordsError) as found:
        pretrained().translate(f"The cat {word} sleep")
    assert found.value.hint == f"the model does not know {named}"


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("matt", "mat"), ("kat", "sat"), ("walsk", "walk"), ("librery", "library"),
        ("saw", "sat"), ("teh", "the"), ("hte", "the"), ("wsa", "was"), ("cta", "cat"),
        ("asdf", None), ("lion", None), ("elephant", None), ("an", None),
    ],
)  # fmt: skip
def test_a_word_is_near_if_at_most_a_third_of_its_letters_differ(word, near):
    named = pretrained().source.name_with_closest(word)
    assert named == (repr(word) if near is None else f"{word!r} (near {near!r})")


@pytest.mark.parametrize(
    ("typed", "read", "instead"),
    [
        ("A cat sat on a mat.", MAT, [("A", "The"), ("a", "the")]),
        ("An apple, ", "The apple", None),
        ("The CATS sat on the mats", MAT, [("CATS", "cat"), ("mats", "mat")]),
        ("the boxes", "The box", [("boxes", "box")]),
        ("The libraries", "The library", [("libraries", "library")]),
        ("the cat sat", "The cat sat", []),
    ],
)
def test_articles_and_plurals_are_read_as_what_is_known(typed, read, instead):
    source = pretrained().source
    if instead is None:
        with pytest.raises(UnknownWordsError, match="'apple,'"):
            source.encode(typed)
        return
    assert source.encode(typed).tolist() == source.encode(read).tolist()
    assert source.read_instead(typed) == instead


@pytest.mark.parametrize("word", ["its", "this", "as", "glass", "and"])
def test_what_only_ends_like_a_plural_is_none(word):
    assert pretrained().source.unknown_words(f"The {word}") == [word]


def test_what_is_read_in_place_of_words_is_said(tmp_path, capfd):
    path = tmp_path / "in.txt"
    path.write_text(f"{MAT}\nA cat sat on the mats\n", "utf-8")
    assert translate.main(["pretrained", str(path), "--room", "numpy"]) == 0
    out, err = capfd.readouterr()
    assert len(set(out.splitlines())) == 1
    said = "line 2 ('The' for 'A', 'mat' for 'mats'): read in place of words that the model"
    assert f"qkv translate: {said} does not know\n" in err


def test_all_unknown_words_of_a_file_are_named_each_in_its_first_line(tmp_path, capfd):
    path = tmp_path / "in.txt"
    how = "qkv translate pretrained --list-words shows all that it knows."
    head = f"qkv translate: {path} has words that the model, which reads English, does not know:"

    def refused(*lines):
        path.write_text("\n".join(lines), "utf-8")
        assert translate.main(["pretrained", str(path), "--room", "numpy"]) == 1
        out, err = capfd.readouterr()
        assert out == ""
        return err.splitlines()

    said = refused(MAT, "The lion slept", "The matt and the Lion", "The zorp sat on the lion")
    assert said == [
        head, "  line 2: 'lion'", "  line 3: 'matt' (near 'mat')",
        "  line 3: 'and' (write two sentences)", "  line 3: 'Lion'", "  line 4: 'zorp'", how,
    ]  # fmt: skip
    words = [chr(97 + n) * 7 for n in range(25)]
    said = refused(*words)
    assert said[1:-1] == [f"  line {n}: {w!r}" for n, w in enumerate(words[:20], 1)] + [
        "  and 5 more"
    ]
    named = "zorp quux dax fep mrk blib"
    assert refused(MAT, f"The {named} sat") == [
        head, *(f"  line 2: {word!r}" for word in named.split()), how]  # fmt: skip
    several = "line 2 of .*: the model does not know 'zorp', 'quux', 'dax', 'fep': qkv translate pr"
    (said,) = refused(MAT, "The zorp quux dax fep sat", "The zorp sat on the dax")
    assert re.search(several, said)
    assert refused(" ".join(words))[-2:] == ["  and 5 more", how]


def test_of_a_sentence_that_the_grammar_does_not_make_it_is_said_that_it_may_be_wrong(
    tmp_path, capfd
):
    path = tmp_path / "in.txt"
    lines = [
        MAT,
        "the the the the",
        "",
        "the cat the cat the cat the cat the cat",
        "I ate the rice",
    ]
    path.write_text("\n".join(lines), "utf-8")
    own = ["pretrained", str(path), "--room", "numpy"]
    assert translate.main(own) == 0
    out, err = capfd.readouterr()
    assert len(out.splitlines()) == len(lines)
    wrong = "of the 34,367 sentences of the book's grammar: the translation may be wrong"
    cut = "the translation is cut, for it has no end after"
    assert err.splitlines() == [
        f"qkv translate: lines 2, 4 are none {wrong}",
        f"qkv translate: line 4: {cut} 16 tokens",
    ]
    path.write_text(f"{MAT.lower()}.\n\nThe mat sat on the cat\n")
    assert translate.main([*own, "--max-new-tokens", "3"]) == 0
    assert capfd.readouterr().err.splitlines() == [
        f"qkv translate: line 3 is none {wrong}",
        f"qkv translate: lines 1, 3: {cut} 3 tokens",
    ]


def test_of_a_known_sentence_that_is_drawn_otherwise_it_is_said_too(tmp_path, capfd):
    path = tmp_path / "in.txt"
    path.write_text(f"{MAT}\n" * 15, "utf-8")
    own = ["pretrained", str(path), "--room", "numpy"]
    assert translate.main(own) == 0
    assert capfd.readouterr().err == ""
    drawn = ["--method", "sample", "--temperature", "3", "--top-k", "5", "--seed", "1"]
    assert translate.main([*own, *drawn]) == 0
    out, err = capfd.readouterr()
    wrong = [n for n, line in enumerate(out.splitlines(), 1) if line != KOREAN]
    said = [
        re.findall(rf"lines? ([\d, ]+): the {what}", err) for what in ("book has", "translation")
    ]
    other, cut = ([int(n) for line in found for n in line.split(", ")] for found in said)
    assert sorted(other + cut) == wrong
    assert 0 < len(other) < 15


def test_the_terminal_says_what_is_read_and_how_to_see_all_words(tmp_path, capfd, monkeypatch):
    how = "qkv translate pretrained --list-words shows all that it knows"
    (tmp_path / "in.txt").write_text(f"{MAT}\nThe lion slept\n")
    own = ["pretrained", "--room", "numpy"]
    for line, words in (
        ("The lion slept", "the model does not know 'lion'"),
        ("고양이가 잤다", "this model reads English, and not '고양이가', '잤다'"),
    ):
        (tmp_path / "in.txt").write_text(f"{MAT}\n{line}\n", "utf-8")
        assert translate.main([*own, str(tmp_path / "in.txt")]) == 1
        said = capfd.readouterr().err
        assert said == f"qkv translate: line 2 of {tmp_path / 'in.txt'}: {words}: {how}\n"
    assert translate.main([*own, "--list-words"]) == 0
    listed, _, patterns = capfd.readouterr().out.partition("\n\n")
    known = {" ".join(pair.source) for pair in sentences()}
    listed, examples = listed.splitlines(), re.findall(r"^  (\S.*?)  +(.+)$", patterns, re.M)
    assert len(examples) == 7
    assert ("NOUN VERB PLACE", "The child sat on the mat") in examples
    assert {example for _, example in examples} <= known
    assert sorted(listed) == sorted(pretrained().source.tokens[4:])
    assert listed.index("apple") < listed.index("The")
    assert greeting(pretrained(), "pretrained").splitlines() == [
        f"From English to Korean, such as: {MAT}",
        f"{how}.",
        "One sentence a line; Ctrl-D ends.",
    ]


def test_the_command_line_knows_it_by_name(tmp_path, capfd):
    (tmp_path / "in.txt").write_text(f"{MAT}.\nI ate the rice\n")
    own = ["pretrained", str(tmp_path / "in.txt"), "--room"]
    assert translate.main([*own, "numpy"]) == 0
    assert capfd.readouterr() == (f"{KOREAN}\n나는 밥을 먹었다\n", "")
    assert translate.main([*own, "torch", "--device", "cpu"]) == 1
    assert capfd.readouterr().err.endswith("runs on the processor: leave it out\n")
    (tmp_path / "in.txt").write_text("The dragon sat\n")
    assert translate.main([*own, "numpy"]) == 1
    assert "does not know 'dragon'" in capfd.readouterr().err


def test_the_facts_say_how_it_was_made(shipped):
    metadata = shipped.metadata
    recipe = metadata["recipe"]
    assert DataConfig(**recipe["data"]) == train_pretrained.DATA
    assert ModelConfig(**recipe["model"]) == train_pretrained.SIZES
    assert TrainingConfig(**recipe["training"]) == train_pretrained.TRAINING
    assert metadata["steps"] == train_pretrained.TRAINING.steps
    assert metadata["max_len"] == pretrained().max_len
    assert metadata["share"] == train_pretrained.DATA.validation_fraction
    assert metadata["seed"] == train_pretrained.TRAINING.seed
    assert metadata["command"].split()[1] == str(
        Path(train_pretrained.__file__).relative_to(CHECKOUT)
    )
    assert len(metadata["figures"]["wrong"]) == round(
        metadata["figures"]["pairs"] * (1 - metadata["figures"]["exact match, greedy"])
    )


def test_the_command_makes_such_a_model(tmp_path, shipped, split, monkeypatch, capsys):
    """In small: a few steps, a few sentences to measure by, another folder."""
    assert train_pretrained.held_back("combination") == split[1]
    monkeypatch.setattr(train_pretrained, "held_back", lambda _: split[1][:20])
    before = MODEL.read_bytes(), train_pretrained.DIGEST.read_bytes()
    assert train_pretrained.main(["--out", str(tmp_path), "--steps", "4"]) == 0
    made = Checkpoint.load(tmp_path / MODEL.name)
    assert made.config == shipped.config
    assert made.source.tokens == shipped.source.tokens
    assert made.target.tokens == shipped.target.tokens
    assert made.metadata.keys() == shipped.metadata.keys()
    assert made.metadata["figures"].keys() == shipped.metadata["figures"].keys()
    for name, value in shipped.parameters.items():
        assert made.parameters[name].shape == value.shape
        assert made.parameters[name].dtype == value.dtype
    assert {file.name for file in tmp_path.glob("*.json")} >= {"last.json", "step-1.json"}
    assert sum("parameters-" in file.name for file in tmp_path.iterdir()) == 2
    assert Checkpoint.load(tmp_path / "step-1.json").source.tokens == shipped.source.tokens
    assert made.metadata["steps"] == 4
    assert Translator.from_checkpoint(made).translate(MAT) != KOREAN
    digest = hashlib.sha256((tmp_path / MODEL.name).read_bytes()).hexdigest()
    assert digest in capsys.readouterr().out
    assert (MODEL.read_bytes(), train_pretrained.DIGEST.read_bytes()) == before


def test_the_last_model_ships_which_no_validation_has_chosen(monkeypatch):
    """Nothing is looked at on the way: it is the model of as many steps by themselves."""

    def validate(*_):
        pytest.fail("it validates")

    monkeypatch.setattr(Trainer, "validate", validate)
    four, one = (train_pretrained.train("combination", steps)[steps] for steps in (4, 1))
    assert (four.metadata["step"], one.metadata["step"]) == (4, 1)
    again = train_pretrained.train("combination", 4)[4]
    for name, value in four.parameters.items():
        np.testing.assert_array_equal(value, again.parameters[name])
    assert any((four.parameters[name] != one.parameters[name]).any() for name in one.parameters)


def test_a_folder_that_cannot_be_is_said_before_training(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(Trainer, "steps", lambda _: pytest.fail("it trains"))
    (tmp_path / "file").touch()
    assert train_pretrained.main(["--out", str(tmp_path / "file" / "model")]) == 1
    assert capsys.readouterr().err.startswith("There is no model: ")


def test_a_failed_training_is_said(monkeypatch, tmp_path, capsys):
    def fail(_):
        raise ValueError("the loss became NaN at step 2")

    monkeypatch.setattr(Trainer, "steps", fail)
    assert train_pretrained.main(["--out", str(tmp_path)]) == 1
    assert capsys.readouterr().err == "There is no model: the loss became NaN at step 2.\n"
    assert list(tmp_path.iterdir()) == []


def test_an_installation_brings_it(tmp_path):
    pytest.importorskip("setuptools", minversion="77")
    copy = tmp_path / "copy"
    shutil.copytree(CHECKOUT / "src", copy / "src", ignore=shutil.ignore_patterns("*.egg-info"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(CHECKOUT / name, copy)
    code = f"from setuptools import build_meta; build_meta.build_wheel({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", code], cwd=copy, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as held:
        for file in (*MODEL.parent.iterdir(), INDUCTION_MODEL):
            name = file.relative_to(CHECKOUT / "src").as_posix()
            assert held.read(name) == file.read_bytes()
        (metadata,) = (name for name in held.namelist() if name.endswith("METADATA"))
        needed = held.read(metadata).decode()
    assert "Requires-Dist: safetensors>=0.5\n" in needed
    assert Path(qkv.pretrained.__file__).parent == MODEL.parent.parent
