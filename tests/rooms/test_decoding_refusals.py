"""What decoding refuses, in the same words in both rooms."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.decoding import ROOMS, table

START = np.array([[1], [2]])


def call(name, prefixes=START, scores=None, **options):
    """A call of a search; `scores` is what its step returns instead of the table's."""

    def search(room, to):
        step = table(0, 5, to) if scores is None else lambda _: to(scores)
        given = to(prefixes) if isinstance(prefixes, np.ndarray) else prefixes
        return getattr(room, name)(step, given, **{"eos_id": 0, "max_new_tokens": 3} | options)

    return search


def keep(name, scores, value):
    return lambda room, to: getattr(room, name)(to(scores), value)


NAN = np.full((2, 5), -1.0)
NAN[1, 3] = np.nan
RAW = np.zeros((2, 5))
RAW[1] = [1.3, -2, 7.2, 0.1, 0]
COUNT = "must be a whole number of at least"
REFUSED = [
    (call("beam_search", beam_size=0), f"beam_search: beam_size {COUNT} 1, got 0"),
    (call("beam_search", beam_size=2.0), f"beam_search: beam_size {COUNT} 1, got 2.0"),
    (call("beam_search", beam_size=2, n_best=3),
     "beam_search: n_best must be at most beam_size = 2, got 3"),
    (call("beam_search", early_stopping="soon"),
     "beam_search: early_stopping must be True, False or 'never', got 'soon'"),
    (call("beam_search", length_formula="mean"),
     "beam_search: length_formula must be one of 'power', 'gnmt', got 'mean'"),
    (call("beam_search", length_penalty=math.inf), "beam_search: length_penalty must be a number "
     "from -20 to 20, got inf: 0 takes sums as they are, 1 takes means"),
    (call("exhaustive_search", length_penalty=None), "exhaustive_search: length_penalty must be a "
     "number from -20 to 20, got None: 0 takes sums as they are, 1 takes means"),
    (call("exhaustive_search", n_best=0), f"exhaustive_search: n_best {COUNT} 1, got 0"),
    (lambda room, to: room.length_normalizer(0), f"length_normalizer: length {COUNT} 1, got 0"),
    *(
        (call(name, START[:0]), f"{name}: B must be at least 1, got prefixes = (0, 1): "
         "a batch of at least one sentence, each with its start token")
        for name in ("greedy", "beam_search", "exhaustive_search", "sample")
    ),
    (call("greedy", START[0]), "greedy: prefixes must be (B, t), got (1,): "
     "a batch of at least one sentence, each with its start token"),
    (call("greedy", START[:, :0]), "greedy: t must be at least 1, got prefixes = (2, 0): "
     "a batch of at least one sentence, each with its start token"),
    (call("sample", START / 1), "sample: prefixes must be an integer array, got float64: "
     "pass token ids"),
    (call("sample", [[1]]), "sample: prefixes must be an integer array, got list: pass token ids"),
    (call("sample", uniforms=[0.5]), "sample: uniforms must be a float array, got list: "
     "convert it first"),
    (lambda room, to: call("sample", uniforms=to(np.zeros((2, 4))))(room, to),
     "sample: uniforms must be (B, max_new_tokens) = (2, 3), got (2, 4): "
     "a row for each sentence, a number for each token it may get"),
    (call("greedy", max_new_tokens=0), f"greedy: max_new_tokens {COUNT} 1, got 0"),
    (call("greedy", eos_id=-1), f"greedy: eos_id {COUNT} 0, got -1"),
    (call("greedy", pad_id=0.0), f"greedy: pad_id {COUNT} 0, got 0.0"),
    (call("greedy", eos_id=5), "greedy: eos_id must be below V = 5, got 5: "
     "the step must know the token that ends"),
    (call("greedy", scores=np.ones((2, 1, 5))), "greedy: step's result must be (N, V) = (2, V), "
     "got (2, 1, 5): one row for each prefix, for its next token alone"),
    (call("greedy", scores=np.ones((2, 1))), "greedy: V must be at least 2, got 1: "
     "step scores each token"),
    (call("beam_search", beam_size=3, scores=np.ones((2, 5))), "beam_search: step's result must "
     "be (N, V) = (6, V), got (2, 5): one row for each prefix, for its next token alone"),
    (call("sample", scores=np.ones((2, 5), int)), "sample: step's result must be a float array, "
     "got int64: log-probabilities of the next token"),
    *(
        (call(name, scores=NAN, **options), f"{name}: step must return log-probabilities, "
         "got nan in row 1: check the model's output")
        for name, options in (("greedy", {}), ("sample", {}), ("exhaustive_search", {}),
                              ("beam_search", {"beam_size": 1}))
    ),
    *(
        (call(name, scores=RAW.astype(dtype), **options), f"{name}: step must return "
         f"log-probabilities, got {7.2 if dtype == 'float32' else 7.19922} in row 1: none is "
         "above 0, so return log_softmax of the model's scores")
        for name, options in (("greedy", {}), ("sample", {}), ("exhaustive_search", {}),
                              ("beam_search", {"beam_size": 1}))
        for dtype in ("float32", "float16")
    ),
    (call("greedy", scores=-NAN * math.inf), "greedy: step must return log-probabilities, "
     "got inf in row 0: check the model's output"),
    (call("sample", scores=np.full((2, 5), -math.inf)),
     "sample: step must leave row 0 a token to go on with, got only -inf"),
    *(
        (call("sample", temperature=value), "sample: temperature must be a finite number above 0, "
         f"got {value!r}: greedy is what it tends to near 0")
        for value in (0, -1.0, math.inf, math.nan, None)
    ),
    *(
        (call("sample", top_p=value), f"sample: top_p must be a number in (0, 1], got {value!r}: "
         "1 keeps all")
        for value in (0, 1.1, math.nan, "0.9")
    ),
    (call("sample", top_k=0), f"sample: top_k {COUNT} 1, got 0"),
    (keep("top_p_filtering", np.ones(3), 0.0),
     "top_p_filtering: top_p must be a number in (0, 1], got 0.0: 1 keeps all"),
    (keep("top_k_filtering", np.ones(3), 1.5), f"top_k_filtering: top_k {COUNT} 1, got 1.5"),
    (keep("top_k_filtering", np.ones(3, int), 1),
     "top_k_filtering: scores must be a float array, got int64: convert it first"),
    (keep("top_p_filtering", np.array(1.0), 0.5),
     "top_p_filtering: scores must be (..., V), got (): one score for each token"),
    (keep("top_k_filtering", np.ones((2, 0)), 1),
     "top_k_filtering: V must be at least 1, got scores = (2, 0): one score for each token"),
]  # fmt: skip


@pytest.mark.parametrize(("room", "to"), ROOMS)
@pytest.mark.parametrize(("search", "words"), REFUSED, ids=[words[:60] for _, words in REFUSED])
def test_decoding_refuses(search, words, room, to):
    with np.errstate(invalid="ignore"), pytest.raises(ValueError) as error:  # noqa: PT011
        search(room, to)
    assert str(error.value) == words


@pytest.mark.parametrize(("room", "to"), ROOMS)
@pytest.mark.parametrize(
    ("dtype", "excess"), [("float64", 9e-3), ("float32", 9e-3), ("float16", 0.24)]
)
@pytest.mark.parametrize("name", ["greedy", "sample", "beam_search", "exhaustive_search"])
def test_what_rounding_adds_to_log_probabilities_is_taken(name, dtype, excess, room, to):
    """Half a unit in the last place of a score, which logsumexp has as well."""
    certain = np.array([[-99, -99, excess, -99, -99]] * 2, dtype)
    options = {"max_new_tokens": 1} | ({"beam_size": 1} if name == "beam_search" else {})
    tokens, _ = call(name, scores=certain, **options)(room, to)
    assert (np.asarray(tokens)[..., 1:] == 2).all()
    with pytest.raises(ValueError, match="none is above 0"):
        call(name, scores=certain + np.asarray(0.02, dtype), **options)(room, to)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_the_rooms_agree_or_refuse_in_the_same_words(data):
    options = {
        "eos_id": data.draw(st.sampled_from([0, 0, 0, None, 4, -1])),
        "max_new_tokens": data.draw(st.integers(0, 3)),
        "beam_size": data.draw(st.integers(0, 3)),
        "n_best": data.draw(st.integers(1, 3)),
        "length_formula": data.draw(st.sampled_from(["power", "gnmt", "none"])),
        "length_penalty": data.draw(st.sampled_from([0, 1, 0.5, None])),
        "early_stopping": data.draw(st.sampled_from([True, False, "never", 1])),
    }
    prefixes = np.ones(data.draw(st.lists(st.integers(0, 2), min_size=1, max_size=3)), int)
    said = []
    for param in ROOMS:
        room, to = param.values
        try:
            tokens, scores = room.beam_search(table(0, 4, to), to(prefixes), **options)
            said.append((tokens.tolist(), scores.tolist()))
        except ValueError as error:
            said.append(str(error))
    assert said[0] == said[1]
