"""Text in, text out: rooms and methods, order and batches, what heads look at, refusals."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from rooms import close
from translators import MAX_LEN, PAIRS, SOURCES, TARGETS, checkpoint

import qkv.numpy as qn
import qkv.torch as qt
from qkv.checkpoint import Checkpoint
from qkv.config import TransformerConfig
from qkv.text import EOS, SOS, learn_words
from qkv.translator import KINDS, Translator
from qkv.translator.looks import words_of

ROOMS = pytest.mark.parametrize("room", ["numpy", "torch"])
TEXTS = pytest.mark.parametrize("kind", ["bpe", "words"])
METHODS = pytest.mark.parametrize(
    ("method", "options"),
    [
        ("greedy", {}),
        ("beam", {"beams": 3, "alpha": 0.6, "length_penalty": "gnmt"}),
        ("sample", {"temperature": 3.0, "seed": 7}),
        ("sample", {"temperature": 9.0, "top_k": 5, "top_p": 0.9, "seed": 7}),
    ],
    ids=["greedy", "beam", "sample", "filtered"],
)


def translator(room="numpy", kind="bpe"):
    return Translator.from_checkpoint(checkpoint(kind), room)


@ROOMS
@TEXTS
@pytest.mark.parametrize("method", ["greedy", "beam"])
def test_what_was_learnt_by_heart_comes_back_in_order(room, kind, method):
    ours = translator(room, kind)
    order = np.random.default_rng(0).permutation(len(PAIRS))
    texts = [SOURCES[n] for n in order]
    assert ours.translate(texts, method) == [TARGETS[n] for n in order]
    assert ours.translate(iter(texts), method, max_tokens=1) == [TARGETS[n] for n in order]
    assert ours.translate(texts[0], method) == TARGETS[order[0]]  # one text, one translation


@METHODS
def test_rooms_and_batches_agree(method, options):
    """The source is noise, so that a translation is none that a model knows by heart."""
    rng = np.random.default_rng(1)
    words = " ".join(SOURCES).split()
    texts = [" ".join(rng.choice(words, rng.integers(1, 8))) for _ in range(20)]
    numpy, torch_ = translator("numpy"), translator("torch")
    found = numpy.translate(texts, method, **options)
    assert len(set(found)) > 5
    assert torch_.translate(texts, method, **options) == found
    assert numpy.translate(texts, method, max_tokens=17, **options) == found
    assert [numpy.translate([text], method, first=n, **options)[0] for n, text in
            enumerate(texts)] == found  # fmt: skip


def test_a_batch_holds_at_most_so_many_tokens(monkeypatch):
    ours = translator("numpy")
    seen = []
    start = ours.model.start
    monkeypatch.setattr(ours.model, "start", lambda ids: (seen.append(ids.shape), start(ids))[1])
    ours.translate(SOURCES, max_tokens=30)
    assert sum(rows for rows, _ in seen) == len(SOURCES)
    assert all(rows * width <= 30 for rows, width in seen)
    assert len(seen) < len(SOURCES)
    seen.clear()
    ours.translate(SOURCES, "beam", beams=5, max_tokens=30)
    assert all(5 * rows * width <= 30 or rows == 1 for rows, width in seen)


def test_a_seed_gives_the_same_again_and_another_something_else():
    ours = translator("numpy")
    texts, own = [SOURCES[0]] * 8, {"method": "sample", "temperature": 5.0}
    found = ours.translate(texts, seed=1, **own)
    assert ours.translate(texts, seed=1, **own) == found
    assert len(set(found)) > 1  # each text draws numbers of its own
    assert ours.translate(texts, seed=2, **own) != found
    assert ours.translate(texts, **own) != ours.translate(texts, **own)


@ROOMS
def test_an_empty_text_is_translated_by_an_empty_one(room):
    ours = translator(room)
    assert ours.translate(["", SOURCES[1], " \t"]) == ["", TARGETS[1], ""]
    assert ours.translate("") == ""
    assert ours.translate([]) == ours.translate(["", " "][:0]) == []
    looks = ours.attention("")
    assert (looks.source, looks.target, looks.read) == (("<eos>",), ("<eos>",), ("<sos>",))


@ROOMS
def test_a_translation_ends_where_it_must(room):
    ours = translator(room)
    target = ours.target
    for method in ("greedy", "beam"):
        (found,) = ours.translate([SOURCES[0]], method, max_new_tokens=4)
        assert found == target.decode(target.encode(TARGETS[0])[:4])


@ROOMS
@TEXTS
def test_a_text_that_is_too_long_is_refused_by_its_place_or_cut(room, kind):
    ours = translator(room, kind)
    (word,) = SOURCES[1].split()[:1]
    long = " ".join([word] * 50)
    n = ours.count(long)
    assert n > ours.max_len == MAX_LEN
    with pytest.raises(ValueError, match=r"text 1 must have at most max_len = 30 tokens, <eos> am"
                       rf"ong them, got {n}: split it, or pass cut=True"):  # fmt: skip
        ours.translate([word, long])
    ids = ours.source.encode(long)[: MAX_LEN - 1]
    fits = ours.source.decode(ids)
    assert ours.count(fits) == MAX_LEN
    assert ours.translate([word, long], cut=True) == ours.translate([word, fits])
    with pytest.raises(ValueError, match=f"attention: text must have at most .* got {n}: split it"):
        ours.attention(long)
    with pytest.raises(ValueError, match="attention: the translation must have at most"):
        ours.attention(word, " ".join(TARGETS * 3))


@ROOMS
def test_the_model_is_left_as_it_was(room):
    ours = translator(room)
    assert not ours.model.training
    ours.model.train()
    assert ours.translate(SOURCES[1]) == TARGETS[1]
    with pytest.raises(ValueError, match="at least 1"):
        ours.translate(SOURCES[1], "beam", beams=0)
    assert ours.model.training
    ours.attention(SOURCES[1])
    assert ours.model.training


@TEXTS
def test_attention_is_one_pass_of_the_model(kind):
    """Against the model called by hand, whole arrays; the rooms against each other."""
    ours, theirs = translator("numpy", kind), translator("torch", kind)
    for text, translation in [(SOURCES[0], None), (SOURCES[0], TARGETS[3]), (SOURCES[4], "")]:
        found = ours.attention(text, translation)
        said = TARGETS[0] if translation is None else translation
        assert (found.text, found.translation) == (text, said)
        ids = ours.target.encode(said, eos=True)
        weights = {}
        read = np.array([[SOS, *ids[:-1]]])
        ours.model(ours.source.encode(text, eos=True)[None], read, weights=weights)
        assert list(found.weights) == list(weights)
        for name, value in weights.items():
            np.testing.assert_array_equal(found.weights[name], value[0])
        assert found.target == tuple(ours.target.tokens[n] for n in ids)
        assert found.read == ("<sos>", *found.target[:-1])
        assert found.source[-1] == found.target[-1] == ours.target.tokens[EOS]
        other = theirs.attention(text, translation)
        assert (other.source, other.target, other.read) == (found.source, found.target, found.read)
        for name, value in found.weights.items():
            close(other.weights[name], value, "float32")


@ROOMS
@TEXTS
@pytest.mark.parametrize("who", list(KINDS))
def test_rows_and_columns_have_labels(room, kind, who):
    looks = translator(room, kind).attention(SOURCES[3])
    for each in (looks, looks.words()):
        weights = each.of(who)
        assert weights.shape == (2, 2, len(each.rows(who)), len(each.columns(who)))
        close(weights.sum(-1), np.ones(weights.shape[:3]), "float32")
        for n in range(2):
            np.testing.assert_array_equal(weights[n], each.weights[KINDS[who].format(n)])
    assert looks.words().source == (*SOURCES[3].split(), "<eos>")
    assert looks.words().target == (*TARGETS[3].split(), "<eos>")
    assert looks.words().read == ("<sos>", *TARGETS[3].split())
    again = looks.words().words()  # words are words already
    np.testing.assert_array_equal(again.of(who), looks.words().of(who))


def test_a_word_is_seen_as_its_pieces_together_and_looks_as_they_do_on_average():
    looks = translator("numpy").attention(SOURCES[3])
    assert len(looks.source) > len(SOURCES[3].split()) + 1  # there are pieces
    words = looks.words()

    def owner(tokens):
        """The word of each token, counted from the text: ▁ begins one, and <eos> is one."""
        return np.cumsum([token.startswith("▁") or token[0] == "<" for token in tokens]) - 1

    for kind in KINDS:
        rows, columns = owner(looks.rows(kind)), owner(looks.columns(kind))
        before, after = looks.of(kind), words.of(kind)
        for i in range(rows.max() + 1):
            for j in range(columns.max() + 1):
                block = before[:, :, rows == i][..., columns == j]
                close(after[:, :, i, j], block.sum(-1).mean(-1), "float32")


def test_which_tokens_make_a_word():
    assert words_of(["▁The", "▁c", "at", ".", "<eos>"], True) == ((0,), (1, 2, 3), (4,))
    assert words_of(["▁", "<unk>", "a", "▁", "b", "<eos>"], True) == ((0, 1, 2), (3, 4), (5,))
    assert words_of(["<sos>", "at", "▁c"], True) == ((0,), (1,), (2,))  # begins without a ▁
    assert words_of(["The", "<unk>", "<eos>"], False) == ((0,), (1,), (2,))


def test_a_translation_without_an_end_has_words_too():
    """A model that never stops is cut at max_len: what is said last is not read."""
    held = checkpoint("bpe")
    model = qn.Transformer(held.config, rng=np.random.default_rng(0)).eval()
    looks = Translator(model, held.source, held.target, max_len=11).attention(SOURCES[0])
    assert len(looks.target) == 11
    assert "<eos>" not in looks.target
    words = looks.words()
    for kind in KINDS:
        assert words.of(kind).shape[2:] == (len(words.rows(kind)), len(words.columns(kind)))
        close(words.of(kind).sum(-1), np.ones(words.of(kind).shape[:3]), "float32")


@ROOMS
def test_from_a_checkpoint_on_disk(room, tmp_path):
    checkpoint().save(tmp_path / "best.json")
    ours = Translator.from_checkpoint(tmp_path, room)
    assert ours.max_len == MAX_LEN
    assert ours.translate(SOURCES) == TARGETS
    held = checkpoint()
    halves = {name: value.astype(np.float16) for name, value in held.parameters.items()}
    small = Checkpoint(held.config, halves, held.source, held.target)
    ours = Translator.from_checkpoint(small, room)
    assert str(next(iter(dict(ours.model.named_parameters()).values())).dtype)[-7:] == "float32"
    assert ours.max_len == 512  # no fact says otherwise
    assert ours.translate(SOURCES) == TARGETS


def test_the_state_of_torch_is_left_alone():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    ours = translator("torch")
    ours.translate(SOURCES[:2], "sample")
    assert torch.equal(torch.rand(3), expected)


SMALL = {"d_model": 4, "n_heads": 2, "n_layers": 1, "positions": "learned", "max_len": 5}
LEARNED = TransformerConfig(9, **SMALL, pad_id=0)
NINE = learn_words(["a b c d e"])
BAD = [
    (lambda: Translator(qn.DecoderOnly(LEARNED), NINE, NINE),
     "model must be a Transformer of qkv.numpy or qkv.torch, got .*numpy.*DecoderOnly"),
    (lambda: Translator(torch.nn.Linear(2, 3), NINE, NINE), "got torch.*Linear"),
    (lambda: Translator(qt.Transformer(LEARNED), NINE, learn_words(["a"])),
     "the vocabulary of the target must have 9 tokens"),
    (lambda: Translator(qn.Transformer(TransformerConfig(9, **SMALL)), NINE, NINE),
     "the model must have pad_id = 0, got None"),
    (lambda: Translator(qn.Transformer(LEARNED), NINE, NINE, max_len=6),
     "max_len must be at most 5, the positions that the model has learned, got 6"),
    (lambda: Translator(qn.Transformer(LEARNED), NINE, NINE, max_len=0), "at least 1, got 0"),
    (lambda: Translator.from_checkpoint(checkpoint(), "jax"), "room must be one of 'numpy', 'tor"),
    (lambda: Translator.from_checkpoint(checkpoint(), "numpy", "cpu"), "device must be None in"),
    (lambda: Translator.from_checkpoint(checkpoint(), "torch", "toaster"),
     "device 'toaster' cannot be had here: pass cpu, or cuda"),
    (lambda: Translator.from_checkpoint(checkpoint(), "torch", "meta"), "'meta' cannot be had"),
    (lambda: translator().translate(["a"], "best"), "method must be one of 'greedy', 'beam', 'sa"),
    (lambda: translator().translate(["a", None]), "text 1 must be a str, got NoneType"),
    (lambda: translator().translate(["a"], max_new_tokens=31), "at most 30, the translator's, got"),
    (lambda: translator().translate(["a"], seed=-1), "seed must be a whole number of at least 0"),
    (lambda: translator().translate(["a"], "beam", beams=0), "beams must be a whole number of at"),
    (lambda: translator().translate(["a"], "sample", top_p=2), "top_p must be a number in"),
    (lambda: translator().attention("a").of("self"), "kind must be one of 'cross', 'encoder', 'd"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "words"), BAD, ids=[words[:40] for _, words in BAD])
def test_refusals(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_an_option_of_another_method_is_refused():
    for method, option in [("greedy", "beams"), ("beam", "top_k"), ("sample", "alpha")]:
        with pytest.raises(TypeError, match=option):
            translator().translate(["a"], method, **{option: 1})


def test_the_numpy_room_needs_no_torch(tmp_path):
    checkpoint("words").save(tmp_path / "best.json")
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from qkv.translator import Translator\n"
        f"ours = Translator.from_checkpoint({str(tmp_path)!r})\n"
        f"assert ours.translate({SOURCES!r}) == {TARGETS!r}\n"
        f"print(ours.attention({SOURCES[0]!r}).of('cross').shape)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert found.stdout.strip() == "(2, 2, 5, 7)", found.stderr


def test_attention_of_what_a_search_says():
    ours = translator("numpy")
    text = SOURCES[0]
    for method, own in [("beam", {"beams": 2}), ("sample", {"seed": 3, "temperature": 5.0})]:
        found = ours.attention(text, None, method, **own)
        assert found.translation == ours.translate(text, method, **own)
    assert ours.attention(" ".join([text] * 9), cut=True).source[-1] == "<eos>"


def test_progress_is_told_after_each_batch():
    told = []
    translator("numpy").translate([*SOURCES, ""], max_tokens=30, progress=told.append)
    assert len(told) > 2
    assert sum(told) == len(SOURCES)  # the empty one takes no time


@ROOMS
@pytest.mark.parametrize("sizes", [{"n_layers": 10**9}, {"d_ff": 10**12}, {"n_decoder_layers": 3}])
def test_sizes_are_compared_with_the_file_before_anything_is_built(room, sizes, monkeypatch):
    held = checkpoint()
    for module in (qn, qt):  # else the first of these would fill the memory
        monkeypatch.setattr(module, "Transformer", lambda *_, **__: pytest.fail("it is built"))
    count = sum(value.size for value in held.parameters.values())
    words = rf"must be [\d,]+ numbers, as the model's sizes say, got {count:,}: they are of another"
    with pytest.raises(ValueError, match=words):
        Translator.from_checkpoint(replace(held, config=replace(held.config, **sizes)), room)


@ROOMS
def test_a_model_of_characters_reads_and_writes_letter_by_letter(tmp_path, room):
    checkpoint("characters").save(tmp_path / "best.json")
    ours = Translator.from_checkpoint(tmp_path, room)
    short, said = SOURCES[2], TARGETS[2]
    assert ours.count(short) == len(short) + 1
    assert ours.translate(short, max_tokens=50) == said
    looks = ours.attention(short, said)
    assert looks.source == (*short.replace(" ", "▁"), "<eos>")
    assert looks.words().source == (*short.split(), "<eos>")
    assert looks.words().target == (*said.split(), "<eos>")
    np.testing.assert_allclose(looks.words().of("cross").sum(-1), 1, rtol=1e-5)
