"""The explorers of "Attention for long texts": what they say at every grid point."""

import itertools

import numpy as np
import pytest

import qkv.numpy as qn
from qkv.experiments.efficient_recall import Recall
from qkv.explore.efficient import (
    BLOCK_SIZES,
    EXPONENTIALS,
    VALUES,
    block_size,
    exact,
    online_softmax,
)
from qkv.explore.efficient_low_rank import (
    MATRICES,
    N,
    attention_matrix,
    best_of_rank,
    error,
)
from qkv.explore.efficient_patterns import (
    COUNTED,
    LAYERS,
    LENGTHS,
    PATTERNS,
    path_length,
    pattern_mask,
    patterns,
    random_mask,
    reach,
)
from qkv.explore.efficient_recall import STATES, UNITS, WIDTHS, kept, query_width, recall, shares_of
from qkv.explore.framework.frames import Frames

GRIDS = {
    block_size: {"block_size": BLOCK_SIZES, "tiles": range(1, 9)},
    patterns: {"pattern": PATTERNS, "n": LENGTHS, "layers": LAYERS},
    recall: {"state": STATES, "width": WIDTHS},
}


@pytest.mark.parametrize("fn", GRIDS, ids=lambda fn: fn.__name__)
def test_functions_are_pure_and_light(fn):
    first, second = Frames(), Frames()
    for point in itertools.product(*GRIDS[fn].values()):
        values = dict(zip(GRIDS[fn], point, strict=True))
        first.add(fn(**values))
        second.add(fn(**values))
    assert first.data == second.data
    assert first.layout() == second.layout()
    assert len(first.data) < 100_000


# Block size.


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 8])
def test_online_softmax_ends_with_the_exact_output_and_begins_with_that_of_one_tile(size):
    steps = online_softmax(np.log(EXPONENTIALS), VALUES, size)
    for step in steps:
        read = slice(step.keys.stop)
        seen = EXPONENTIALS[read]
        np.testing.assert_allclose(step.total, seen.sum() / seen.max(), rtol=1e-12)
        np.testing.assert_allclose(step.mix, seen @ VALUES[read] / seen.max(), rtol=1e-12)
        np.testing.assert_allclose(np.exp(step.peak), seen.max(), rtol=1e-12)
    assert steps[-1].keys.stop == 8
    np.testing.assert_allclose(steps[-1].mix / steps[-1].total, exact(), rtol=1e-12)


def test_online_softmax_is_blockwise_attention():
    q, k = np.ones((1, 1)), np.log(EXPONENTIALS)[:, None]  # scores = k
    v = VALUES[:, None].astype(float)
    out, peak, total = qn.blockwise_attention(q, k, v, block_size=2, scale=1.0)
    last = online_softmax(np.log(EXPONENTIALS), VALUES, 2)[-1]
    np.testing.assert_allclose([out[0, 0], peak[0], total[0]], [exact(), last.peak, last.total])


def test_tiles_of_two_are_the_pencil_table():
    panels = block_size(block_size=2, tiles=8)
    assert panels["steps"].rows == (
        ("0–1", "2", "–", "1.5"),
        ("2–3", "4", "0.5", "2.25"),
        ("4–5", "8", "0.5", "2.25"),
        ("6–7", "16", "0.5", "2.375"),
    )
    assert panels["mix"] == "133.75"
    assert panels["output"] == panels["exact"] == "56.32"


@pytest.mark.parametrize(
    ("size", "tiles", "said"),
    [
        (2, 3, "3 of 4 tiles"),
        (2, 4, "4 of 4 tiles: no more to read"),
        (2, 8, "4 of 4 tiles: no more to read"),
        (8, 1, "1 of 1 tile: no more to read"),
    ],
)
def test_a_slider_past_the_last_tile_says_so(size, tiles, said):
    assert block_size(block_size=size, tiles=tiles)["read"] == said


def test_a_tile_needs_the_same_bytes_for_every_length_and_all_scores_need_n_squared():
    drawn = block_size(block_size=4, tiles=1)["bytes"]
    n = np.asarray(drawn.x)
    assert set(drawn.ys["one tile"]) == {4 * 16}
    np.testing.assert_array_equal(drawn.ys["all scores"], 4 * n * n)


def test_keys_that_are_not_read_have_no_share():
    shares = np.asarray(block_size(block_size=2, tiles=2)["shares"].values)[0]
    np.testing.assert_allclose(shares, [0.5, 0.25, 1, 0.5, 0, 0, 0, 0])


# Patterns.


def test_all_pairs_and_the_union_of_patterns():
    assert pattern_mask("all pairs", 8).all()
    union = pattern_mask("window", 16) | pattern_mask("global", 16) | random_mask(16, 1)
    np.testing.assert_array_equal(pattern_mask("window + global + random", 16), union)
    assert (random_mask(16, 1).sum(axis=1) == 1).all()


@pytest.mark.parametrize("n", LENGTHS)
def test_layers_until_all_pairs_meet(n):
    length = {name: path_length(pattern_mask(name, n)) for name in PATTERNS}
    assert length == {
        "all pairs": 1,
        "window": n - 1,
        "strided": None,
        "global": 2,
        "window + strided": 2 if n == 8 else 3,
        "window + global": 2,
        "window + global + random": 2,
    }


@pytest.mark.parametrize("layers", LAYERS)
def test_a_window_reaches_one_key_further_on_each_side_a_layer(layers):
    expected = qn.window_mask(16, layers)[0, 0]
    np.testing.assert_array_equal(reach(pattern_mask("window", 16), layers), expected)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_what_is_reached_is_where_outputs_change(pattern):
    mask, layers = pattern_mask(pattern, 16), 2
    x = np.random.default_rng(0).normal(size=(16, 4))
    for j in (0, 7):
        changed = x.copy()
        changed[j] += 1
        outputs = []
        for y in (x, changed):
            for _ in range(layers):
                y, _ = qn.scaled_dot_product_attention(y, y, y, mask=mask)
            outputs.append(y)
        moved = np.linalg.norm(outputs[0] - outputs[1], axis=1) > 1e-12
        np.testing.assert_array_equal(moved, reach(mask, layers)[:, j])


def test_scores_of_a_window_grow_with_n_and_those_of_a_stride_with_n_to_one_and_a_half():
    def slope(pattern):
        counts = patterns(pattern=pattern, n=8, layers=1)["scores"].ys["this pattern"]
        return np.polyfit(np.log(COUNTED[3:]), np.log(counts[3:]), 1)[0]

    assert slope("all pairs") == pytest.approx(2)
    assert slope("window") == pytest.approx(1, abs=0.02)
    assert slope("window + global + random") == pytest.approx(1, abs=0.02)
    assert slope("strided") == pytest.approx(1.5, abs=0.05)


def test_the_numbers_beside_a_pattern():
    panels = patterns(pattern="window", n=16, layers=2)
    assert (panels["count"], panels["read"], panels["meet"]) == ("46 of 256", "5 of 16", "15")
    assert patterns(pattern="strided", n=16, layers=2)["meet"] == "never"


# Rank.


@pytest.mark.parametrize("matrix", MATRICES)
def test_no_error_is_below_that_of_the_singular_values_that_are_dropped(matrix):
    weights = attention_matrix(matrix)
    assert weights.shape == (N, N)
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-6)
    singular = np.linalg.svd(weights, compute_uv=False)
    for r in (1, 2, 4, 8, 16):
        best = best_of_rank(weights, r)
        assert np.linalg.matrix_rank(best, tol=1e-6) <= r
        left = np.sqrt((singular[r:] ** 2).sum() / (singular**2).sum())
        assert error(weights, best) == pytest.approx(left, abs=1e-6)


def test_trained_heads_need_a_high_rank_and_soft_weights_a_low_one():
    errors = {name: error(w := attention_matrix(name), best_of_rank(w, 4)) for name in MATRICES}
    assert errors["neighbours"] < 0.08
    assert errors["small random scores"] < 0.12
    assert errors["trained: previous token"] > 0.6
    assert errors["trained: induction"] > 0.5


def test_trained_heads_look_where_their_names_say():
    at = np.arange(N // 2, N)
    assert attention_matrix("trained: previous token")[at, at - 1].mean() > 0.4
    assert attention_matrix("trained: induction")[at[:-1], at[:-1] - N // 2 + 1].mean() > 0.6


# Recall.


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("width", WIDTHS)
def test_recall_shows_the_stored_trainings(state, width):
    panels, one = recall(state=state, width=width), int(width[0])
    for row, (kind, unit) in zip(panels["table"].rows, UNITS.items(), strict=True):
        shares = shares_of(kind, int(state), one)
        assert shares.shape == (5, 4)
        low, high = shares[:, -1].min(), shares[:, -1].max()
        keeps, numbers = kept(kind, int(state), one), query_width(kind, int(state), one)
        assert row == (kind, f"{keeps} {unit}", f"{numbers}", f"{low:.0f} to {high:.0f}")
        layer = Recall(kind, one, int(state), seed=0)
        assert layer.w_q.out_features == layer.w_k.out_features == numbers
        np.testing.assert_allclose(
            panels["curves"].ys[kind.removesuffix(" features")], shares.mean(axis=0)
        )


def test_what_a_state_holds():
    held = [kept(kind, 128, width) for kind in UNITS for width in (8, 4, 2)]
    assert held == [8, 16, 32, 8, 16, 32, 14, 25, 42, 14, 25, 42]


def test_a_state_that_was_not_trained_is_refused():
    with pytest.raises(KeyError, match="no stored training of window"):
        shares_of("window", 100, 8)
