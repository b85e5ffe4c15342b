"""Text in, text out: rooms and methods, order and batches, what heads look at, refusals."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import qkv.numpy as qn
import qkv.torch as qt
from qkv.checkpoint import Checkpoint
from qkv.config import TransformerConfig
from qkv.text import EOS, SOS, train_word_level
from qkv.translator import KINDS, Translator, generation
from qkv.translator.attention_maps import group_words
from tests.helpers.processes import run_python
from tests.helpers.rooms import close
from tests.helpers.translators import MAX_LEN, PAIRS, SOURCES, TARGETS, checkpoint

ROOMS = pytest.mark.parametrize("room", ["numpy", "torch"])
TEXTS = pytest.mark.parametrize("kind", ["bpe", "words"])
METHODS = pytest.mark.parametrize(
    ("method", "options"),
    [
        ("greedy", {}),
        ("beam", {"beam_size": 3, "length_penalty": 0.6, "length_formula": "gnmt"}),
        ("sample", {"temperature": 3.0, "seed": 7}),
        ("sample", {"temperature": 9.0, "top_k": 5, "top_p": 0.9, "seed": 7}),
    ],
    ids=["greedy", "beam", "sample", "filtered"],
)


def test_every_method_is_tried():
    assert {method for method, _ in METHODS.args[1]} == set(generation.METHODS)


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
    assert [numpy.translate([text], method, offset=n, **options)[0] for n, text in
            enumerate(texts)] == found  # fmt: skip


def test_a_batch_holds_at_most_so_many_tokens(monkeypatch):
    ours = translator("numpy")
    seen = []
    start_decoding = ours.model.start_decoding

    def counted(source):
        seen.append(source.shape)
        return start_decoding(source)

    monkeypatch.setattr(ours.model, "start_decoding", counted)
    ours.translate(SOURCES, max_tokens=30)
    assert sum(rows for rows, _ in seen) == len(SOURCES)
    assert all(rows * width <= 30 for rows, width in seen)
    assert len(seen) < len(SOURCES)
    seen.clear()
    ours.translate(SOURCES, "beam", beam_size=5, max_tokens=30)
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
    maps = ours.attention("")
    assert (maps.source, maps.target, maps.decoder_input) == (("<eos>",), ("<eos>",), ("<sos>",))


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
    n = ours.count_tokens(long)
    assert n > ours.max_len == MAX_LEN
    with pytest.raises(ValueError, match=r"text 1 must have at most max_len = 30 tokens, <eos> am"
                       rf"ong them, got {n}: split it, or pass truncate=True"):  # fmt: skip
        ours.translate([word, long])
    ids = ours.source.encode(long)[: MAX_LEN - 1]
    fits = ours.source.decode(ids)
    assert ours.count_tokens(fits) == MAX_LEN
    assert ours.translate([word, long], truncate=True) == ours.translate([word, fits])
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
        ours.translate(SOURCES[1], "beam", beam_size=0)
    assert ours.model.training
    ours.attention(SOURCES[1])
    assert ours.model.training


@ROOMS
def test_blocks_are_translated_as_they_come_and_sampled_as_one_list(room):
    ours = translator(room)
    options = {"temperature": 3.0, "seed": 7}
    whole = ours.translate(SOURCES, "sample", **options)
    taken = []

    def blocks():
        for part in (SOURCES[:2], [], SOURCES[2:]):
            taken.append(part)
            yield part

    stream = ours.stream(blocks(), "sample", **options)
    assert next(stream) == whole[:2]
    assert taken == [SOURCES[:2]]  # the next block is asked for when this one was taken
    assert list(stream) == [[], whole[2:]]


def test_maps_say_in_plain_text_what_each_word_attends_to_most():
    maps = translator().attention(SOURCES[1])
    words = maps.merge_subwords()
    title, kind, *rows = repr(maps).splitlines()
    assert title == f"AttentionMaps: {SOURCES[1]} → {TARGETS[1]}"
    assert kind == "cross-attention, mean over layers (2) and heads (2):"
    mean = words.stack("cross").mean((0, 1))
    for label, weights, row in zip(words.target, mean, rows, strict=True):
        best = weights.argmax()
        assert row == f"  {label} ← {words.source[best]} ({weights[best]:.2f})"


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
        ours.model(ours.source.encode(text, eos=True)[None], read, attention_maps=weights)
        assert list(found.weights) == list(weights)
        for name, value in weights.items():
            np.testing.assert_array_equal(found.weights[name], value[0])
        assert found.target == tuple(ours.target.tokens[n] for n in ids)
        assert found.decoder_input == ("<sos>", *found.target[:-1])
        assert found.source[-1] == found.target[-1] == ours.target.tokens[EOS]
        other = theirs.attention(text, translation)
        assert (other.source, other.target, other.decoder_input) == (
            found.source,
            found.target,
            found.decoder_input,
        )
        for name, value in found.weights.items():
            close(other.weights[name], value, "float32")


@ROOMS
@TEXTS
@pytest.mark.parametrize("who", list(KINDS))
def test_rows_and_columns_have_labels(room, kind, who):
    maps = translator(room, kind).attention(SOURCES[3])
    for each in (maps, maps.merge_subwords()):
        weights = each.stack(who)
        assert weights.shape == (2, 2, len(each.queries(who)), len(each.keys(who)))
        close(weights.sum(-1), np.ones(weights.shape[:3]), "float32")
        for n in range(2):
            np.testing.assert_array_equal(weights[n], each.weights[KINDS[who].format(n)])
    assert maps.merge_subwords().source == (*SOURCES[3].split(), "<eos>")
    assert maps.merge_subwords().target == (*TARGETS[3].split(), "<eos>")
    assert maps.merge_subwords().decoder_input == ("<sos>", *TARGETS[3].split())
    again = maps.merge_subwords().merge_subwords()  # words are words already
    np.testing.assert_array_equal(again.stack(who), maps.merge_subwords().stack(who))


def test_a_word_is_seen_as_its_pieces_together_and_looks_as_they_do_on_average():
    maps = translator("numpy").attention(SOURCES[3])
    assert len(maps.source) > len(SOURCES[3].split()) + 1  # there are pieces
    words = maps.merge_subwords()

    def owner(tokens):
        """The word of each token, counted from the text: ▁ begins one, and <eos> is one."""
        return np.cumsum([token.startswith("▁") or token[0] == "<" for token in tokens]) - 1

    for kind in KINDS:
        rows, columns = owner(maps.queries(kind)), owner(maps.keys(kind))
        before, after = maps.stack(kind), words.stack(kind)
        for i in range(rows.max() + 1):
            for j in range(columns.max() + 1):
                block = before[:, :, rows == i][..., columns == j]
                close(after[:, :, i, j], block.sum(-1).mean(-1), "float32")


def test_which_tokens_make_a_word():
    assert group_words(["▁The", "▁c", "at", ".", "<eos>"], True) == ((0,), (1, 2, 3), (4,))
    assert group_words(["▁", "<unk>", "a", "▁", "b", "<eos>"], True) == ((0, 1, 2), (3, 4), (5,))
    assert group_words(["<sos>", "at", "▁c"], True) == ((0,), (1,), (2,))  # begins without a ▁
    assert group_words(["The", "<unk>", "<eos>"], False) == ((0,), (1,), (2,))


def test_a_translation_without_an_end_has_words_too():
    """A model that never stops is cut at max_len: what is said last is not read."""
    held = checkpoint("bpe")
    model = qn.Transformer(held.config, rng=np.random.default_rng(0)).eval()
    maps = Translator(model, held.source, held.target, max_len=11).attention(SOURCES[0])
    assert len(maps.target) == 11
    assert "<eos>" not in maps.target
    words = maps.merge_subwords()
    for kind in KINDS:
        assert words.stack(kind).shape[2:] == (len(words.queries(kind)), len(words.keys(kind)))
        close(words.stack(kind).sum(-1), np.ones(words.stack(kind).shape[:3]), "float32")


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
NINE = train_word_level(["a b c d e"])
BAD = [
    (lambda: Translator(qn.DecoderOnly(LEARNED), NINE, NINE),
     "model must be a Transformer of qkv.numpy or qkv.torch, got .*numpy.*DecoderOnly"),
    (lambda: Translator(torch.nn.Linear(2, 3), NINE, NINE), "got torch.*Linear"),
    (lambda: Translator(qt.Transformer(LEARNED), NINE, train_word_level(["a"])),
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
    (lambda: translator().translate(["a"], "beam", beam_size=0), "beam_size must be a whole"),
    (lambda: translator().translate(["a"], "beam", beam_size=10**20, max_tokens=2**31 - 1),
     r"beam_size must be below 2\^31 = 2147483648, got 100000000000000000000"),
    (lambda: translator().translate(["a"], max_tokens=2**31), r"max_tokens must be below 2\^31 ="),
    (lambda: translator().translate(["a"], "sample", top_p=2), "top_p must be a number in"),
    (lambda: translator().attention("a").stack("self"), "kind must be one of 'cross', 'encoder'"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "words"), BAD, ids=[words[:40] for _, words in BAD])
def test_refusals(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_an_option_of_another_method_is_refused():
    for method, option in [
        ("greedy", "beam_size"),
        ("beam", "top_k"),
        ("sample", "length_penalty"),
    ]:
        with pytest.raises(TypeError, match=option):
            translator().translate(["a"], method, **{option: 1})


def test_the_numpy_room_needs_no_torch(tmp_path):
    checkpoint("words").save(tmp_path / "best.json")
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from qkv.translator import Translator\n"
        f"ours = Translator.from_checkpoint({str(tmp_path)!r})\n"
        f"assert ours.translate({SOURCES!r}) == {TARGETS!r}\n"
        f"print(ours.attention({SOURCES[0]!r}).stack('cross').shape)"
    )
    found = run_python(code)
    assert found.stdout.strip() == "(2, 2, 5, 7)", found.stderr


def test_attention_of_what_a_search_says():
    ours = translator("numpy")
    text = SOURCES[0]
    for method, own in [("beam", {"beam_size": 2}), ("sample", {"seed": 3, "temperature": 5.0})]:
        found = ours.attention(text, None, method, **own)
        assert found.translation == ours.translate(text, method, **own)
    assert ours.attention(" ".join([text] * 9), truncate=True).source[-1] == "<eos>"


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
    assert ours.count_tokens(short) == len(short) + 1
    assert ours.translate(short, max_tokens=50) == said
    maps = ours.attention(short, said)
    assert maps.source == (*short.replace(" ", "▁"), "<eos>")
    assert maps.merge_subwords().source == (*short.split(), "<eos>")
    assert maps.merge_subwords().target == (*said.split(), "<eos>")
    np.testing.assert_allclose(maps.merge_subwords().stack("cross").sum(-1), 1, rtol=1e-5)
