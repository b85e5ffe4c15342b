"""The playground's views show what Python computes: attention, search and heads of any sentence."""

from __future__ import annotations

import math

import numpy as np
import pytest

from qkv.config import TransformerConfig
from qkv.corpus import glosses
from qkv.explore import decoding
from qkv.explore.playground.view_labels import LABELS
from qkv.pretrained import EXAMPLES, pretrained
from qkv.text import EOS, SOS
from qkv.translator import Translator
from tests.browser.conftest import LARGE, Watch
from tests.browser.model_page import NumPyRoom, content_of, write_page
from tests.browser.playground_views import ask_views, views_script
from tests.browser.test_model_of_a_reader import translator_of
from tests.helpers.translators import checkpoint

CLOSE = 1e-4
CAT = EXAMPLES[0]
ROUND = "The girl was not sick"
CROSS = "decoder.layers.0.cross_attention"
SELF = "decoder.layers.0.self_attention"
ENCODER = "encoder.layers.0.self_attention"
SAMPLING = {"view": "search", "method": "sampling"}
BEAM = {"view": "search", "method": "beam"}


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    home = write_page(tmp_path_factory.mktemp("views"))
    context, watch = browser.new_context(**LARGE), Watch(home.parent.as_uri())
    context.on("page", watch.follow)
    page = context.new_page()
    page.goto(home.as_uri())
    page.add_script_tag(content=views_script())
    yield page
    context.close()
    watch.check()


@pytest.fixture
def views(page):
    def ask(*asked, content=None):
        named = [dict(zip(("text", "settings", "moves"), one, strict=False)) for one in asked]
        answers = ask_views(page, named, content)
        for shown in answers:
            assert set(shown["names"]) <= LABELS.keys()
            texts = [text for one in shown["controls"] for text in (one["label"], *one["texts"])]
            cells = [text for panel in shown["panels"].values() for text in texts_of(panel)]
            assert all(isinstance(text, str) and "undefined" not in text for text in texts + cells)
        return answers

    return ask


def texts_of(panel):
    """All words of a panel that are no tokens."""
    rows = [cell for row in panel.get("rows", []) if isinstance(row, list) for cell in row]
    return [panel.get("text", ""), *panel.get("header", []), *panel.get("words", []), *rows]


@pytest.fixture
def faulty(page):
    """Puts a text of a file in the place of another, and the right one back."""

    def plant(name, right, wrong):
        page.add_script_tag(content=views_script({name: (right, wrong)}))

    yield plant
    page.add_script_tag(content=views_script())


def numbers(panel):
    return np.array(panel["arrays"][0]).reshape(panel["shape"])


def word_by_word(text):
    return " · ".join(glosses().get(word, word) for word in text.split(" "))


def chosen(control):
    return control["texts"][control["value"]]


def assert_attention_is_pythons(views):
    for text in EXAMPLES:
        maps = pretrained().attention(text)
        words = maps.translation.split()
        cross = maps.stack("cross")[-1]  # (H, T, S)
        for n, head in ((0, "average"), (len(words) - 1, 1)):
            (shown,) = views((text, {"word": n, "head": head}))
            weights = cross.mean(0) if head == "average" else cross[head]  # (T, S)
            panels = shown["panels"]
            np.testing.assert_allclose(numbers(panels["weights"]), weights[n], atol=CLOSE)
            assert tuple(panels["weights"]["labels"]) == maps.source
            assert panels["weights"]["limits"] == [0, 1]
            rows = panels["looks at"]["rows"]
            assert [row[1] for row in rows] == words
            assert [row[2] for row in rows] == [glosses()[word] for word in words]
            assert [row[3] for row in rows] == [maps.source[w.argmax()] for w in weights[:-1]]
            given = [float(row[4]) for row in rows]
            assert given == pytest.approx(weights[:-1].max(1), abs=0.0051)
            assert [row[0].endswith("←") for row in rows] == [k == n for k in range(len(words))]
            assert panels["shown"]["text"] == f"word {n + 1} of {len(words)}: {words[n]}"


def test_attention_is_pythons(views):
    assert_attention_is_pythons(views)


def python_beam(text, width, penalty):
    """What the explorer's functions find by the model that ships, in place of the early one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoding, "pretrained", lambda step: pretrained())
        patch.setattr(decoding, "LIMIT", pretrained().max_len)
        return decoding.beam(sentence=text, width=width, penalty=penalty)


def assert_beam_is_pythons(views):
    asked = [
        (text, width, penalty)
        for text, width, penalty in zip(
            EXAMPLES, [1, 2, 3, 4, 5, 6, 7, 8] * 2, [0.0, 0.3, 1.0, 1.5, 2.0] * 3, strict=False
        )
    ]
    settings = [
        (text, {**BEAM, "beamSize": width, "lengthPenalty": penalty})
        for text, width, penalty in asked
    ]
    for one, shown in zip(asked, views(*settings), strict=True):
        expected, panels = python_beam(*one), shown["panels"]
        found = expected["hypotheses"].rows
        rows = [[text, word_by_word(text), *numbers] for text, *numbers in found]
        assert panels["hypotheses"]["rows"] == rows, one
        assert panels["translation"]["text"] == shown["translation"] == rows[0][0]
        nodes, tree = expected["tree"].nodes, panels["tree"]
        assert tree["labels"] == [node.label for node in nodes], one
        assert tree["parents"] == [node.parent for node in nodes]
        assert tree["states"] == [node.state for node in nodes]
        assert tree["arrays"][0] == pytest.approx([node.value for node in nodes], abs=0.0101)


def test_beam_search_is_the_explorers(views):
    assert_beam_is_pythons(views)


def assert_distribution_is_pythons(views):
    tokens = pretrained().target.tokens
    for temperature, top_k, top_p in ((1, 0, 1), (3, 10, 1), (2, 0, 0.9), (1.5, 50, 0.8)):
        drawn = {"temperature": temperature, "topK": top_k, "topP": top_p}
        (shown,) = views((ROUND, {**SAMPLING, **drawn, "word": 1}))
        source = pretrained().source.encode(ROUND, eos=True)[None]
        written = np.array([[SOS, shown["tokens"][0]]])
        logits = pretrained().model(source, written)[0, -1]  # (V,)
        p = decoding.distribution(logits, temperature, top_k or len(tokens), top_p)
        order = np.argsort(-logits, kind="stable")
        panels = shown["panels"]
        bars, drawn_word = order[:10].copy(), shown["tokens"][1]
        bars[9] = bars[9] if drawn_word in bars else drawn_word
        expected = [*p[bars], p.sum() - p[bars].sum()]
        np.testing.assert_allclose(numbers(panels["probability"]), expected, atol=CLOSE)
        labels = [*(tokens[n] for n in bars), f"{len(tokens) - 10} others"]
        assert panels["probability"]["labels"] == labels
        assert panels["words"]["text"] == str((p > 0).sum())
        choices = math.exp(-np.sum(p * np.log(np.where(p > 0, p, 1))))
        assert float(panels["choices"]["text"]) == pytest.approx(choices, abs=0.051)
        assert panels["seed"]["text"] == "1"


def test_the_distribution_is_the_explorers(views):
    assert_distribution_is_pythons(views)


def test_greedy_search_shows_the_models_own_distribution(views):
    (shown,) = views((CAT, {"view": "search", "word": 2}))
    step = shown["probabilities"][2]
    bars = shown["panels"]["probability"]
    assert numbers(bars)[0] == pytest.approx(max(step))
    assert numbers(bars).sum() == pytest.approx(1, abs=1e-5)
    assert "seed" not in shown["panels"]


def test_a_seed_draws_the_same_again_and_the_next_another(views):
    settings = {**SAMPLING, "temperature": 3}
    first, again, later = views(
        (CAT, settings), (CAT, settings), (CAT, settings, [["seed", None]] * 2)
    )
    assert first["tokens"] == again["tokens"]
    assert first["tokens"] != later["tokens"]
    assert later["panels"]["seed"]["text"] == "3"


def test_a_rare_word_that_was_drawn_has_its_bar(views):
    hot = {**SAMPLING, "temperature": 5}
    (shown,) = views((CAT, hot))
    bars, word = shown["panels"]["probability"], shown["translation"].split()[0]
    assert bars["labels"].index(word) == 9  # in the place of the tenth
    assert np.argsort(numbers(bars)[:10])[0] == 9
    assert numbers(bars).sum() == pytest.approx(1, abs=1e-5)


def test_the_seeds_numbers_are_spread_over_all_of_0_to_1(page):
    drawn = np.array(
        page.evaluate(
            "Array.from({ length: 400 }, (_, n) => qkvViews.uniformNumbers(n + 1, 16))",
        )
    )
    assert drawn.shape == (400, 16)
    assert drawn.min() >= 0
    assert drawn.max() < 1
    assert abs(drawn.mean(0) - 0.5).max() < 0.06  # each draw over all seeds
    counts = np.array([np.histogram(column, 4, (0, 1))[0] for column in drawn.T])
    assert counts.min() > 60  # 100 are expected in each quarter


def assert_switched_off_heads_are_pythons(views):
    room = NumPyRoom(pretrained())
    off = {CROSS: [1], ENCODER: [0]}
    for text in EXAMPLES[:4]:
        (shown,) = views(
            (
                text,
                {
                    "view": "heads",
                    "switchedOff": off,
                    "positions": {"encoder": False, "decoder": False},
                },
            )
        )
        ids = pretrained().source.encode(text, eos=True).tolist()
        with room.changed({"switchedOff": off, "positions": {"encoder": False, "decoder": False}}):
            tokens, _ = room.greedy(ids)
        assert shown["tokens"] == tokens
        assert shown["untouched"] == pretrained().translate(text)
        now = pretrained().target.decode(np.array(tokens))
        same = now == shown["untouched"]
        before, after = shown["untouched"], "the same" if same else now
        rows = [["all on", before, word_by_word(before)], ["now", after, word_by_word(now)]]
        assert shown["panels"]["translations"]["rows"] == rows


def test_switched_off_heads_give_what_python_gives(views):
    assert_switched_off_heads_are_pythons(views)


@pytest.mark.parametrize("part", [ENCODER, "encoder.layers.1.self_attention", SELF, CROSS])
def test_the_maps_of_every_head_are_pythons(views, part):
    maps = pretrained().attention(CAT)
    (shown,) = views((CAT, {"view": "heads", "part": part}))
    panel = shown["panels"]["maps"]
    np.testing.assert_allclose(numbers(panel), maps.weights[part], atol=CLOSE)
    kind = "encoder" if part.startswith("enc") else "cross" if part == CROSS else "decoder"
    assert tuple(panel["rows"]) == maps.queries(kind)
    assert tuple(panel["columns"]) == maps.keys(kind)


def test_an_answer_grows_token_by_token_and_a_beam_search_comes_whole(views):
    greedy, beam = views((CAT, {}), (CAT, BEAM))
    count = len(greedy["tokens"])
    assert greedy["grown"] == [[n, n == count] for n in range(1, count + 1)]
    assert greedy["translation"] == greedy["untouched"] == pretrained().translate(CAT)
    assert beam["grown"] == [[len(beam["hypotheses"][0]["tokens"]), True]]


MOVES = [
    [["view", 1], ["method", 2], ["temperature", 5], ["topK", 2], ["topP", 3], ["word", 1]],
    [["view", 1], ["method", 1], ["beamSize", 7], ["lengthPenalty", 20]],
    [["view", 2], ["part", 1], ["switchedOff", [True, False]], ["positions", [False, True]]],
    [["word", 3], ["head", 2]],
]


@pytest.mark.parametrize("moves", MOVES, ids=["sampling", "beam", "heads", "attention"])
def test_controls_come_back_as_they_were_set(views, moves):
    (shown,) = views((CAT, {}, moves))
    controls = {control["name"]: control for control in shown["controls"]}
    assert shown["controls"][0]["name"] == "view"
    for name, value in moves:
        assert controls[name]["value"] == value
    # Each control set to where it stands changes nothing.
    again = [[one["name"], one["value"]] for one in shown["controls"] if one["kind"] != "button"]
    (same,) = views((CAT, shown["settings"], again))
    assert same["settings"] == shown["settings"]
    assert same["controls"] == shown["controls"]
    assert same["panels"] == shown["panels"]


def test_the_view_is_computed_anew_only_where_it_shows_another_translation(views):
    for method, recomputes in (("greedy", False), ("beam", True), ("sampling", True)):
        (shown,) = views((CAT, {"method": method}))
        assert shown["controls"][0]["recomputes"] is recomputes
        assert shown["translation"] == pretrained().translate(CAT)


def test_each_part_keeps_its_switches(views):
    last = len(["encoder 1", "encoder 2", "decoder", "cross"]) - 1
    moves = [["switchedOff", [False, True]], ["part", 0], ["switchedOff", [True, False]]]
    (first,) = views((CAT, {"view": "heads"}, moves))
    off = {CROSS: [0], ENCODER: [1]}
    assert first["settings"]["switchedOff"] == off
    (second,) = views((CAT, first["settings"], [["part", last]]))
    switches = next(one for one in second["controls"] if one["name"] == "switchedOff")
    assert switches["value"] == [False, True]
    (third,) = views((CAT, second["settings"], [["switchedOff", [True, True]]]))
    assert third["settings"]["switchedOff"] == {ENCODER: [1]}


def assert_cache_holds_what_the_model_reads(views):
    config = pretrained().model.config
    heads = config.n_kv_heads or config.n_heads
    layers = config.n_decoder_layers or config.n_layers
    d_k = config.d_k or config.d_model // config.n_heads
    one = layers * heads * (d_k + (config.d_v or d_k))
    for word in (0, 3):
        (shown,) = views((CAT, {"view": "search", "word": word}))
        panels = shown["panels"]
        given = {name: panel.get("text", "").replace(",", "") for name, panel in panels.items()}
        read, S = word + 1, len(shown["source"])
        assert given["held for self-attention"] == str(read * one)
        assert given["held for cross-attention"] == str(S * one)
        assert given["computed in this step"] == str(one if word else one + S * one)
        assert given["without a cache"] == str((read + S) * one)
        cache = panels["cache"]
        assert cache["columns"] == ["<sos>", *shown["texts"][:-1]]
        T = len(shown["texts"])
        held = np.tril(np.ones((T, T)), -1) + 2 * np.eye(T)
        held[read:] = 0
        np.testing.assert_array_equal(numbers(cache), held)
        assert cache["highlight_row"] == word


def test_the_cache_holds_what_the_model_reads(views):
    assert_cache_holds_what_the_model_reads(views)


def test_groups_of_queries_share_what_is_held(page):
    config = {"n_decoder_layers": 3, "n_heads": 8, "n_kv_heads": 2, "d_k": 16, "d_v": 32}
    found = page.evaluate("(config) => qkvViews.cacheNumbers(config, 5, 7)", config)
    one = 3 * 2 * (16 + 32)
    assert found == {"self": 5 * one, "cross": 7 * one, "computed": one, "without": 12 * one}


def large_translator():
    """Several layers and heads, rotary positions, and more tokens than are drawn."""
    config = TransformerConfig(
        vocab_size=40,
        target_vocab_size=50,
        d_model=48,
        n_heads=12,
        n_kv_heads=4,
        d_ff=32,
        n_layers=3,
        n_decoder_layers=2,
        max_len=80,
        positions="rotary",
        tie_word_embeddings="none",
        output_bias=True,
    )
    translator = translator_of(config)
    dict(translator.model.named_parameters())["output.bias"][EOS] = -100  # it goes on to the last
    return translator


def test_a_large_model_is_shown_in_part_and_says_so(views):
    translator = large_translator()
    content = content_of(translator)
    text = " ".join(f"w{4 + n % 36}" for n in range(70))
    last = "decoder.layers.1.cross_attention"
    asked = [
        {"word": 79},
        {"view": "search", "word": 79},
        {**BEAM, "beamSize": 8},
        {"view": "heads", "part": last},
    ]
    attention, greedy, beam, heads = views(*((text, one) for one in asked), content=content)
    assert len(attention["tokens"]) == 80
    bars, rows = attention["panels"]["weights"], attention["panels"]["looks at"]["rows"]
    assert len(bars["labels"]) == len(rows) == 24
    assert bars["labels"][-1] == "48 others"
    assert numbers(bars).sum() == pytest.approx(1, abs=1e-5)
    assert rows[-1][0] == "80 ←"
    assert attention["panels"]["shown"]["text"].endswith("the table holds words 57 to 80")
    assert attention["controls"][1]["kind"] == attention["controls"][2]["kind"] == "slider"
    cache = greedy["panels"]["cache"]
    assert cache["shape"] == [24, 24]
    assert cache["rows"][-1] == "step 80"
    assert cache["highlight_row"] == 23
    assert len(beam["panels"]["tree"]["labels"]) <= 160
    assert "of 80 steps" in beam["panels"]["translation"]["text"]
    maps = heads["panels"]["maps"]
    assert maps["shape"] == [12, 18, 18]
    assert heads["panels"]["map"]["text"].startswith("18 of 80 tokens, and 18 of")
    names = next(one for one in heads["controls"] if one["name"] == "part")["texts"]
    assert names[0] == "encoder layer 1"
    assert len(names) == 7


def test_settings_of_another_model_are_mended(views):
    settings = {
        "view": "heads",
        "part": "encoder.layers.9.self_attention",
        "head": 11,
        "word": 70,
        "switchedOff": {CROSS: [1, 7], "decoder.layers.4.cross_attention": [0]},
    }
    (shown,) = views((CAT, settings, [["view", 0]]))
    assert shown["settings"]["part"] == CROSS
    assert shown["settings"]["head"] == "average"
    assert shown["settings"]["switchedOff"] == {CROSS: [1]}
    words = pretrained().attention(CAT).translation.split()
    assert chosen(shown["controls"][1]) == words[-1]


def test_subwords_are_shown_as_they_are(views):
    translator = Translator.from_checkpoint(checkpoint("bpe"))
    text = "the cat sat"
    for settings in ({}, {"view": "search"}, BEAM, SAMPLING, {"view": "heads"}):
        (shown,) = views((text, settings), content=content_of(translator))
        tokens = [translator.source.tokens[n] for n in translator.source.encode(text, eos=True)]
        assert shown["source"] == tokens
        assert shown["names"][0] == "sentence"
        assert shown["names"][1] in ("translation", "translations")


OUT_OF_RANGE = [
    ({"temperature": 0}, "sample: temperature must be a finite number above 0, got 0"),
    ({"temperature": "hot"}, "sample: temperature must be a finite number above 0, got 'hot'"),
    ({"topK": 1.5}, "sample: topK must be a whole number of at least 1, got 1.5"),
    ({"topP": 0}, "sample: topP must be a number in (0, 1], got 0"),
    ({"uniforms": [0.5]}, "sample: uniforms must be 16 numbers, one for each token, got 1"),
    ({"uniforms": [1] * 16}, "sample: uniforms must be numbers in [0, 1), got 1"),
    ({"beamSize": 0}, "beamSearch: beamSize must be a whole number of at least 1, got 0"),
    ({"lengthPenalty": None}, "beamSearch: lengthPenalty must be a finite number, got null"),
    ({"lengthFormula": "?"}, "beamSearch: lengthFormula must be 'power' or 'gnmt', got '?'"),
    ({"earlyStopping": 1}, "beamSearch: earlyStopping must be true, false or 'never', got 1"),
]
CALL = """async ([text, search, options]) => {
  const translator = await qkvModel.load();
  const state = translator.startDecoding(translator.encode(text));
  const uniforms = Array(translator.maxLength).fill(0.5);
  try { translator[search](state, { uniforms, ...options }); }
  catch (error) { return error.message; }
}"""


@pytest.mark.parametrize(("options", "message"), OUT_OF_RANGE)
def test_options_out_of_their_range_are_refused_at_the_call(page, options, message):
    search = "sample" if message.startswith("sample") else "beamSearch"
    assert page.evaluate(CALL, [CAT, search, options]) == message
    assert page.evaluate(CALL, [CAT, search, {}]) is None


CHECKS = {
    "attention": assert_attention_is_pythons,
    "beam": assert_beam_is_pythons,
    "sampling": assert_distribution_is_pythons,
    "heads": assert_switched_off_heads_are_pythons,
    "cache": assert_cache_holds_what_the_model_reads,
}
FAULTS = [
    ("attention", "attention_view", " / heads.length", ""),
    ("attention", "attention_view", "return heads[head]", "return heads[0]"),
    ("beam", "beam_view", "tokens.length ** ", "1 ** "),
    ("beam", "beam_view", "rank === first", "rank >= first"),
    ("beam", "beam_view", 'if (fate === "kept") ', ""),
    ("beam", "beam_view", "candidates.slice(0, beamSize)", "candidates"),
    ("sampling", "search_view", "logProbs[b] - logProbs[a]", "logProbs[a] - logProbs[b]"),
    ("sampling", "translate_in_steps", "topK: topK || undefined, ", ""),
    (
        "heads",
        "translate_in_steps",
        "translator.startDecodingInSteps(ids, mended)",
        "translator.startDecodingInSteps(ids)",
    ),
    ("heads", "settings", "!positions.encoder || !positions.decoder ||", "false &&"),
    ("cache", "cache_view", "(d_k + d_v)", "d_k"),
    ("cache", "cache_view", "t > at - first ||", ""),
]


@pytest.mark.parametrize(("check", "name", "right", "wrong"), FAULTS)
def test_a_fault_in_a_view_is_found(views, faulty, check, name, right, wrong):
    faulty(name, right, wrong)
    with pytest.raises(AssertionError):
        CHECKS[check](views)
