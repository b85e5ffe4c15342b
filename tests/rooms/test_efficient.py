"""Attention for long texts: patterns by hand, summaries, random features, both rooms, refusals."""

import re

import numpy as np
import pytest
import torch

import qkv.numpy as qn
import qkv.torch as qt
from tests.helpers.rooms import D_K, D_V, ROOMS, B, H, S, T, close, qkv
from tests.helpers.tolerances import TOLERANCE

pytestmark = pytest.mark.filterwarnings("error", "ignore::ResourceWarning")


def key_mask(lead=(B, 1), S=S, seed=1):
    """A random padding mask; nothing is left of the first sentence."""
    mask = np.random.default_rng(seed).random((*lead, 1, S)) > 0.4
    mask[..., 0] = True
    mask[0] = False
    return mask


def drawings(function):
    """The calls that a docstring draws, each with its picture."""
    text = re.search(r"\n\n( +\w+_mask\(.*?)\n\n", function.__doc__, re.DOTALL).group(1)
    head, *rows = text.splitlines()
    calls = re.findall(r"\w+_mask\([^)]*\)", head)
    pictures = [re.split(r" {2,}", row.strip()) for row in rows]
    assert len(calls) == 2
    return [(call, [row[n].split() for row in pictures]) for n, call in enumerate(calls)]


@pytest.mark.parametrize("name", ["window_mask", "strided_mask", "global_mask"])
@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_a_pattern_is_as_its_docstring_draws_it(room, array, name):
    for call, picture in drawings(getattr(room, name)):
        mask = np.asarray(eval(call, {name: getattr(room, name)}))
        assert mask.dtype == bool
        np.testing.assert_array_equal(mask, [[np.array(picture) == "■"]])


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("T", "S"), [(5, 11), (1, 4), (7, 7), (1, 1), (0, 3), (0, 0)])
@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_patterns_pair_by_pair(room, array, T, S, causal):
    chosen = {0, S - 2} & set(range(S))
    masks = {
        "window": room.window_mask(T, 2, S, causal),
        "strided": room.strided_mask(T, 3, S, causal),
        "global": room.global_mask(T, chosen, S, causal),
    }
    for mask in masks.values():
        assert tuple(mask.shape) == (1, 1, T, S)
    for query in range(T):
        for key in range(S):
            place = S - T + query
            allowed = {
                "window": abs(place - key) <= 2,
                "strided": abs(place - key) % 3 == 0,
                "global": place in chosen or key in chosen,
            }
            for name, mask in masks.items():
                seen = allowed[name] and (key <= place or not causal)
                assert bool(mask[0, 0, query, key]) == seen, (name, query, key)


@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_patterns_join_and_narrow(room, array):
    pattern = room.window_mask(7, 1) | room.global_mask(7, [0])
    narrowed = room.combine_masks(pattern, room.causal_mask(7))
    expected = room.window_mask(7, 1, causal=True) | room.global_mask(7, [0], causal=True)
    np.testing.assert_array_equal(np.asarray(narrowed), np.asarray(expected))
    np.testing.assert_array_equal(np.asarray(room.window_mask(5, 0))[0, 0], np.eye(5))
    np.testing.assert_array_equal(room.window_mask(5, 4, causal=True), room.causal_mask(5))
    assert np.asarray(room.strided_mask(5, 1)).all()
    assert not np.asarray(room.global_mask(5, [])).any()
    q, k, v = map(array, qkv(T=7, S=7))
    out, weights = room.scaled_dot_product_attention(q, k, v, mask=pattern)
    assert (np.asarray(weights) > 0).sum() == np.asarray(pattern).sum() * B * H
    blocked = room.blockwise_attention(q, k, v, mask=pattern, block_size=3)[0]
    close(blocked, out)


def test_two_steps_of_a_strided_pattern_reach_all_that_came_before():
    """Child et al.: the window, then the stride; one step alone does not."""
    window = qn.window_mask(23, 5, causal=True)[0, 0]
    stride = qn.strided_mask(23, 5, causal=True)[0, 0]
    np.testing.assert_array_equal(stride.astype(int) @ window > 0, np.tri(23))
    assert not (stride | window)[22, 0]


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("lead", [(), (B,), (B, H), (2, 1, 3)], ids=str)
@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_linformer_is_attention_to_summaries(room, array, lead, need_weights):
    q, k, v = qkv(lead=lead)
    e, f = np.random.default_rng(3).standard_normal((2, S, 3))
    out, weights = room.linformer_attention(
        *map(array, (q, k, v, e, f)), scale=0.3, need_weights=need_weights
    )
    short = np.einsum("sr,...sd->...rd", e, k), np.einsum("sr,...sd->...rd", f, v)
    expected, mix = qn.scaled_dot_product_attention(q, *short, scale=0.3)
    close(out, expected)
    if need_weights:
        assert tuple(weights.shape) == (*lead, T, 3)
        close(weights, mix)
    else:
        assert weights is None


@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_linformer_with_a_summary_for_each_key_is_attention(room, array):
    q, k, v = map(array, qkv())
    one = array(np.eye(S))
    close(
        room.linformer_attention(q, k, v, one, one)[0],
        room.scaled_dot_product_attention(q, k, v)[0],
    )


@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_a_hidden_key_enters_no_summary(room, array):
    q, k, v = qkv()
    e, f = np.random.default_rng(3).standard_normal((2, S, 3))
    mask = key_mask()
    out, _ = room.linformer_attention(*map(array, (q, k, v, e, f)), mask=array(mask))
    assert not np.asarray(out[0]).any()  # every key of the first sentence is hidden
    left = mask[1, 0, 0]
    short = (x[:, :, left] for x in (k, v))
    expected, _ = room.linformer_attention(*map(array, (q, *short, e[left], f[left])))
    close(out[1], expected[1])


@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_features_are_at_right_angles_and_as_long_as_gaussian_vectors(room, array):
    rng = {qn: np.random.default_rng, qt: torch.Generator().manual_seed}[room](0)
    features = np.asarray(
        room.orthogonal_random_features(7, 7 * 3000 + 2, rng=rng, dtype=array(0.0).dtype)
    )
    assert features.shape == (7, 7 * 3000 + 2)
    blocks = features[:, : 7 * 3000].reshape(7, 3000, 7).transpose(1, 0, 2)  # (N, d_k, d_k)
    lengths = np.linalg.norm(blocks, axis=1)  # (N, d_k)
    products = blocks.mT @ blocks / (lengths[:, :, None] * lengths[:, None, :])
    close(products, np.broadcast_to(np.eye(7), products.shape))
    # Each direction alone is Gaussian: mean 0, covariance 1, squared length of variance 2 d_k.
    # Five standard errors of 21,000 draws: 0.035 for a mean, 0.05 for a variance.
    assert np.abs(features.mean(1)).max() < 0.035
    assert np.abs(np.cov(features) - np.eye(7)).max() < 0.05
    assert np.abs(blocks.mean(0)).max() < 5 / np.sqrt(3000)  # in each place of a block
    assert np.isclose((lengths**2).mean(), 7, atol=5 * np.sqrt(14 / 21000))
    assert np.isclose((lengths**2).var(), 14, rtol=0.1)


@pytest.mark.parametrize("causal", [False, True])
def test_performers_error_falls_with_the_root_of_the_number_of_features(causal):
    q, k, v = qkv(seed=5)
    q, k = q / 2, k / 2  # the spread of the estimate grows as exp|q + k|²
    expected, _ = qn.scaled_dot_product_attention(q, k, v, causal=causal)
    rng = np.random.default_rng(0)

    def error(n_features, draw):
        errors = [
            qn.performer_attention(q, k, v, draw(n_features), causal=causal) - expected
            for _ in range(20)
        ]
        return np.sqrt(np.mean(np.square(errors)))

    def orthogonal(n_features):
        return qn.orthogonal_random_features(D_K, n_features, rng=rng, dtype=np.float64)

    counts = np.array([64, 256, 1024, 4096])
    errors = np.array([error(n, orthogonal) for n in counts])
    slope = np.polyfit(np.log(counts), np.log(errors), 1)[0]
    assert -0.6 < slope < -0.4, errors
    assert errors[-1] < 0.02
    independent = error(256, lambda n: rng.standard_normal((D_K, n)))
    assert errors[1] < independent  # what the right angles are for


def direct_performer(q, k, v, features, shown):
    """The definition, pair by pair, without a stabiliser."""
    q, k = (x / D_K**0.25 for x in (q, k))
    phi = [np.exp(x @ features - (x**2).sum(-1, keepdims=True) / 2) for x in (q, k)]
    kernel = (phi[0] @ phi[1].mT) * shown  # (B, H, T, S)
    total = kernel.sum(-1, keepdims=True)
    return kernel @ v / np.where(total > 0, total, 1)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    ("T", "S"), [(5, 11), (1, 1), (1, 200), (200, 200), (130, 131), (64, 128), (0, 3), (3, 0)]
)
@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_performer_is_its_definition(room, array, T, S, causal, masked):
    """On both sides of the blocks of its prefix sums."""
    if T > S and causal:
        return
    q, k, v = qkv(T=T, S=S)
    features = qn.orthogonal_random_features(
        D_K, 19, rng=np.random.default_rng(2), dtype=np.float64
    )
    mask = key_mask(S=S) if masked and S else None
    shown = np.ones((T, S), bool) if mask is None else mask
    if causal:
        shown = shown & qn.causal_mask(T, S)
    out = room.performer_attention(
        *map(array, (q, k, v, features)),
        mask=None if mask is None else array(mask),
        causal=causal,
    )
    close(out, direct_performer(q, k, v, features, shown))
    if room is qt:
        x = torch.tensor(q, requires_grad=True)
        qt.performer_attention(x, *map(array, (k, v, features)), causal=causal).sum().backward()
        assert torch.isfinite(x.grad).all()


@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_performers_future_changes_no_bit_of_its_past(room, array):
    q, k, v = qkv(T=150, S=150)
    features = qn.orthogonal_random_features(
        D_K, 19, rng=np.random.default_rng(2), dtype=np.float64
    )
    before = room.performer_attention(*map(array, (q, k, v, features)), causal=True)
    k[..., 100:, :] += features[:, 0] * 5  # exponents of hundreds: as a shared peak, all else is 0
    v[..., 100:, :] = 1e9
    after = room.performer_attention(*map(array, (q, k, v, features)), causal=True)
    np.testing.assert_array_equal(np.asarray(before)[..., :100, :], np.asarray(after)[..., :100, :])
    assert np.isfinite(np.asarray(after)).all()


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize(("room", "array"), ROOMS)
def test_performers_exponent_stays_in_range(room, array, dtype, causal):
    """exp(100) is beyond float32: where all values are alike, they come out all the same."""
    q, k, v = (x.astype(dtype) for x in qkv(T=11))
    features = np.full((D_K, 1), 100, dtype)
    v[:] = 3
    assert np.abs(k @ features).max() > 500
    out = room.performer_attention(*map(array, (q, k, v, features)), causal=causal)
    assert str(out.dtype).removeprefix("torch.") == dtype
    assert np.abs(np.asarray(out, np.float64) - 3).max() < 2 * TOLERANCE[dtype]


def inputs_of(name, dtype=np.float64):
    """The arrays that an attention takes."""
    rng = np.random.default_rng(4)
    more = {
        "linformer_attention": [rng.standard_normal((S, 3)) for _ in "ef"],
        "performer_attention": [qn.orthogonal_random_features(D_K, 19, rng=rng, dtype=np.float64)],
        "blockwise_attention": [],
    }
    return [x.astype(dtype) for x in (*qkv(), *more[name])]


CALLS = {
    "linformer_attention": [{}],
    "performer_attention": [{}, {"causal": True}],
    "blockwise_attention": [{"block_size": 2}, {"block_size": 2, "causal": True}],
}
EACH = [(name, options) for name, several in CALLS.items() for options in several]


def first(result):
    return result[0] if isinstance(result, tuple) else result


@pytest.mark.parametrize(("name", "options"), EACH)
def test_torch_compiles_whole_and_has_gradients(name, options):
    arrays = [torch.tensor(x, requires_grad=True) for x in inputs_of(name)]
    mask = torch.tensor(key_mask())

    def call(*arrays):
        return first(getattr(qt, name)(*arrays, mask=mask, **options))

    compiled = torch.compile(call, backend="aot_eager", fullgraph=True)
    close(compiled(*arrays).detach(), call(*arrays).detach())
    gradients = torch.autograd.grad(compiled(*arrays).square().sum(), arrays)
    expected = torch.autograd.grad(call(*arrays).square().sum(), arrays)
    for gradient, other in zip(gradients, expected, strict=True):
        close(gradient, other)
        assert gradient.any()


@pytest.mark.parametrize(("name", "options"), EACH)
def test_torchs_gradients_are_the_slope_in_numpy(name, options):
    arrays = inputs_of(name)
    step = [np.random.default_rng(n).standard_normal(x.shape) for n, x in enumerate(arrays)]
    tensors = [torch.tensor(x, requires_grad=True) for x in arrays]
    mask = key_mask()
    out = first(getattr(qt, name)(*tensors, mask=torch.tensor(mask), **options))
    dout = np.random.default_rng(9).standard_normal(out.shape)
    out.backward(torch.tensor(dout))
    analytic = sum((x.grad.numpy() * d).sum() for x, d in zip(tensors, step, strict=True))

    def loss(h):
        moved = [x + h * d for x, d in zip(arrays, step, strict=True)]
        return (first(getattr(qn, name)(*moved, mask=mask, **options)) * dout).sum()

    numeric = (loss(1e-6) - loss(-1e-6)) / 2e-6
    np.testing.assert_allclose(analytic, numeric, rtol=TOLERANCE["finite differences"])


@pytest.mark.parametrize(("name", "options"), EACH)
def test_torch_works_under_autocast(name, options):
    arrays = [torch.tensor(x, requires_grad=True) for x in inputs_of(name, np.float32)]
    expected = first(getattr(qt, name)(*arrays, **options))
    with torch.autocast("cpu", torch.bfloat16):
        out = first(getattr(qt, name)(*arrays, **options))
        # As in a model: projections come out short, parameters stay as they are.
        short = [x.to(torch.bfloat16) for x in arrays[:3]]
        again = first(getattr(qt, name)(*short, *arrays[3:], **options))
    assert again.dtype == torch.bfloat16
    (out.float() + again.float()).sum().backward()
    assert all(torch.isfinite(x.grad).all() for x in arrays)
    # Exponents of up to ten are rounded to eight bits, and scores of summaries are as large.
    for x in (out, again):
        assert (x.float() - expected).abs().mean() < 4 * TOLERANCE["bfloat16"]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize(("name", "options"), EACH)
def test_the_dtype_stays_and_inputs_are_left_alone(name, options, dtype):
    arrays = inputs_of(name, dtype)
    turned = [np.asfortranarray(x) for x in arrays]
    mask = key_mask()
    for x in (*turned, mask):
        x.setflags(write=False)
    out = first(getattr(qn, name)(*turned, mask=mask, **options))
    assert out.dtype == np.dtype(dtype)
    if dtype == "float64":
        close(out, first(getattr(qn, name)(*arrays, mask=mask, **options)))
    tensors = [torch.tensor(x) for x in arrays]
    other = first(getattr(qt, name)(*tensors, mask=torch.tensor(mask), **options))
    assert str(other.dtype) == f"torch.{dtype}"


def ones(*shape):
    return np.ones(shape)


FEW = "mask must broadcast to (B, H, 1, S) = (2, 3, 1, 11), got (1, 1, 5, 11): "
REFUSED = [
    (lambda r, a: r.window_mask(5, -1), "window must be a whole number of at least 0, got -1"),
    (lambda r, a: r.window_mask(5, 1.0), "window must be a whole number of at least 0, got 1.0"),
    (lambda r, a: r.window_mask(5, 1, 3), "T must be at most S = 3, got 5: "),
    (lambda r, a: r.strided_mask(5, 0), "stride must be a whole number of at least 1, got 0"),
    (lambda r, a: r.strided_mask(-1, 2), "T and S must be counts, got -1 and -1"),
    (lambda r, a: r.global_mask(5, [5]), "positions must lie in [0, 5), got 5: count from"),
    (lambda r, a: r.global_mask(5, [0, -1]), "positions must lie in [0, 5), got -1"),
    (lambda r, a: r.global_mask(5, 0), "positions must be whole numbers, got 0: one is written"),
    (lambda r, a: r.global_mask(5, [0.5]), "positions must be whole numbers, got [0.5]"),
    (
        lambda r, a: r.linformer_attention(*a[:3], a[3], a[3], mask=a[4]),
        FEW + "each of the r keys mixes all positions, so Linformer cannot be causal",
    ),
    (
        lambda r, a: r.linformer_attention(*a[:3], a[3][1:], a[3]),
        "e must be (S, r) = (11, r), got (10, 4): its rows are the S positions of k",
    ),
    (
        lambda r, a: r.linformer_attention(*a[:3], a[3], a[3][:, 1:]),
        "f must be (S, r) = (11, 4), got (11, 3): e and f make r rows of S positions",
    ),
    (
        lambda r, a: r.linformer_attention(*a[:3], a[3][:, :0], a[3]),
        "r must be at least 1, got e = (11, 0): project to one",
    ),
    (
        lambda r, a: r.performer_attention(*a[:3], a[5], mask=a[4]),
        FEW + "no query meets a key by itself, so hide keys from all, and write causal=True",
    ),
    (
        lambda r, a: r.performer_attention(*a[:3], a[5][1:]),
        "features must be (d_k, n_features) = (7, n_features), got (6, 19): draw them with",
    ),
    (lambda r, a: r.performer_attention(*a[:3], a[5][:, :0]), "n_features must be at least 1"),
    (
        lambda r, a: r.performer_attention(*a[:3], a[5], scale=0),
        "scale must be a number above 0, got 0",
    ),
    (
        lambda r, a: r.performer_attention(a[1], a[0], a[2][..., :5, :], a[5], causal=True),
        "T must be at most S = 5, got 11",
    ),
    (
        lambda r, a: r.orthogonal_random_features(0, 4),
        "d_k must be a whole number of at least 1, got 0",
    ),
    (
        lambda r, a: r.orthogonal_random_features(4, 0),
        "n_features must be a whole number of at least 1, got 0",
    ),
    (
        lambda r, a: r.blockwise_attention(*a[:3], block_size=0),
        "block_size must be a whole number of at least 1, got 0",
    ),
    (lambda r, a: r.blockwise_attention(a[0], a[1], a[1][..., :5, :]), "v must be (B, H, S, d_v)"),
]


@pytest.mark.parametrize(("call", "words"), REFUSED, ids=[words[:40] for _, words in REFUSED])
def test_both_rooms_refuse_in_the_same_words(call, words):
    said = []
    for param in ROOMS:
        room, array = param.values
        given = [*qkv(), ones(S, 4), np.ones((1, 1, T, S), bool), ones(D_K, 19)]
        with pytest.raises(ValueError) as refusal:  # noqa: PT011 (the words are compared below)
            call(room, [array(x) for x in given])
        said.append(str(refusal.value))
    assert words in said[0]
    assert said[0] == said[1]
    assert re.match(r"\w+: ", said[0])


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
@pytest.mark.parametrize(("name", "options"), EACH)
def test_on_a_gpu(name, options):
    arrays, mask = inputs_of(name), key_mask()
    expected = first(getattr(qn, name)(*arrays, mask=mask, **options))
    tensors = [torch.tensor(x, device="cuda", requires_grad=True) for x in arrays]
    out = first(getattr(qt, name)(*tensors, mask=torch.tensor(mask).cuda(), **options))
    out.sum().backward()
    close(out.detach().cpu(), expected)
    assert all(torch.isfinite(x.grad).all() for x in tensors)
    assert expected.shape[-1] == D_V
