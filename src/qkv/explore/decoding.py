"""Explorers of the chapter on decoding: a beam search as a tree, and what sampling draws from."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import qkv.numpy as qn
from qkv.explore.framework.panels import Bars, Node, Panels, Table, Tree
from qkv.language import gettext, gettext_noop
from qkv.numpy.array_types import Floats, Ints
from qkv.pretrained import pretrained
from qkv.text import EOS, SOS

STEP = 300  # of training: an early checkpoint, which still makes mistakes
LIMIT = 8  # tokens of a translation, <eos> among them
SENTENCES = (
    "The teacher will meet the doctor",
    "The student laughed in the wide park",
    "We threw the hat",
    "The student likes the sea because it is wide",
)
WIDTHS = [1, 2, 3, 4]
PENALTIES = [0.0, 0.3, 0.6, 1.0]
Prefix = tuple[int, ...]


@dataclass(frozen=True)
class Candidate:
    """A continuation that a beam search has looked at.

    Args:
        prefix: its tokens, <sos> first.
        total: the sum of their log-probabilities.
        state: "kept", "pruned" or "finished"; None where the search was over.
    """

    prefix: Prefix
    total: float
    state: str | None


class RecordingStep:
    """The step function of one sentence; it keeps the prefixes of each call and what it returned.

    Args:
        model: a Transformer of the NumPy room, in eval mode.
        source: (S,) token ids.
    """

    def __init__(self, model: Any, source: Ints) -> None:
        self.model, self.memory = model, model.encode(source[None])  # (1, S, d_model)
        self.calls: list[dict[Prefix, Floats]] = []

    def __call__(self, prefixes: Ints) -> Floats:
        memory = np.repeat(self.memory, len(prefixes), axis=0)  # (N, S, d_model)
        logits = self.model.decode(prefixes, memory, last=True)  # (N, 1, V)
        log_p: Floats = qn.log_softmax(logits)[:, 0]  # (N, V)
        self.calls.append(dict(zip(map(tuple, prefixes.tolist()), log_p, strict=True)))
        return log_p


def candidates(calls: Sequence[dict[Prefix, Floats]], width: int) -> list[Candidate]:
    """What each step of a recorded search ended and kept, and the best of what it dropped.

    After the last step nothing goes on: of it, the best `width` are given.
    """
    totals: dict[Prefix, float] = {(SOS,): 0.0}
    found: list[Candidate] = []
    for n, call in enumerate(calls):
        beams = [prefix for prefix in call if prefix in totals]
        sums = np.array([totals[prefix] + call[prefix] for prefix in beams])  # (K, V)
        best = np.argsort(-sums, axis=None, kind="stable")[: 2 * width + 1]
        going_on = calls[n + 1] if n + 1 < len(calls) else None
        dropped = 0
        for rank, (beam, token) in enumerate(zip(*np.unravel_index(best, sums.shape), strict=True)):
            prefix, total = (*beams[beam], int(token)), float(sums[beam, token])
            state = _state(prefix, rank < width, going_on)
            if state == "kept":
                totals[prefix] = total
            dropped += state == "pruned"
            if state != "pruned" or (dropped == 1 and going_on is not None):
                found.append(Candidate(prefix, total, state))
    return found


def _state(prefix: Prefix, is_among_best: bool, going_on: Container[Prefix] | None) -> str | None:
    is_end = prefix[-1] == EOS or len(prefix) == LIMIT + 1
    if is_end and is_among_best:
        return "finished"
    if going_on is None:
        return None if is_among_best else "pruned"
    return "kept" if prefix in going_on and not is_end else "pruned"


def beam(*, sentence: str, width: int, penalty: float) -> Panels:
    """Beam search by an early checkpoint of the model that ships, and the sentences that it ended.

    Args:
        sentence: English words that the model knows, such as one of SENTENCES.
        width: hypotheses kept at each step.
        penalty: α; the sum of log-probabilities is divided by length ** α.
    """
    translator = pretrained(step=STEP)
    model: Any = translator.model
    with model.inference_mode():
        step = RecordingStep(model, translator.source.encode(sentence, eos=True))
        tokens, scores = qn.beam_search(
            step,
            np.array([[SOS]]),
            eos_id=EOS,
            max_new_tokens=LIMIT,
            beam_size=width,
            length_penalty=penalty,
            n_best=width,
        )
    rows = []
    for row, score in zip(tokens[0].tolist(), scores[0].tolist(), strict=True):
        if np.isfinite(score):
            words = row[1 : row.index(EOS) + 1] if EOS in row else row[1:]
            total = score * len(words) ** penalty
            text = translator.target.decode(np.array(words)) + ("" if EOS in row else " …")
            rows.append([text, str(len(words)), *map(_signed, (total, score))])
    return {
        gettext_noop("translation"): rows[0][0],
        "tree": _tree(candidates(step.calls, width), translator.target.tokens),
        "hypotheses": Table(
            [gettext("best first"), gettext("tokens"), "Σ log p", gettext("score")], rows
        ),
    }


def _signed(number: float) -> str:
    return f"{number:.2f}".replace("-", "−")


def _tree(found: Sequence[Candidate], tokens: Sequence[str]) -> Tree:
    places: dict[Prefix, int] = {(SOS,): 0}
    nodes = [Node(tokens[SOS], value=0.0)]
    for candidate in found:
        places[candidate.prefix] = len(nodes)
        parent = places[candidate.prefix[:-1]]
        label = tokens[candidate.prefix[-1]]
        nodes.append(Node(label, parent, round(candidate.total, 2), candidate.state))
    return Tree(nodes)


AMBIGUOUS = "The girl was not sick"
BEFORE = "소녀는"  # the girl
SHOWN = 10  # bars; the other words share one
TEMPERATURES = [0.3, 0.5, 0.7, 1.0, 1.5, 2.0]
TOP_K = [1, 2, 5, 10, 525]
TOP_P = [0.3, 0.5, 0.8, 0.9, 1.0]


@cache
def ambiguous_logits() -> Floats:
    """The early checkpoint's logits (V,) of the word after BEFORE, in its translation."""
    translator = pretrained(step=STEP)
    model: Any = translator.model
    source = translator.source.encode(AMBIGUOUS, eos=True)[None]  # (1, S)
    written = np.array([[SOS, *translator.target.encode(BEFORE)]])  # (1, 2)
    with model.inference_mode():
        logits: Floats = model(source, written)[0, -1]  # (V,)
    return logits


def distribution(logits: Floats, temperature: float, top_k: int, top_p: float) -> Floats:
    """What `qn.sample` draws from: softmax(logits / temperature), cut by top-k, then by top-p."""
    scores = qn.top_p_filtering(qn.top_k_filtering(logits / temperature, top_k), top_p)
    p: Floats = qn.softmax(scores)
    return p


def sampling(*, temperature: float, top_k: int, top_p: float) -> Panels:
    """The next word's distribution after a temperature, top-k and top-p.

    Args:
        temperature: above 0; 1 leaves the model's own.
        top_k: how many words stay, at most.
        top_p: the words that stay are the likeliest whose probabilities reach it.
    """
    logits = ambiguous_logits()
    p = distribution(logits, temperature, top_k, top_p)  # (V,)
    order = np.argsort(-logits, kind="stable")
    words = pretrained(step=STEP).target.tokens
    shown, others = order[:SHOWN], order[SHOWN:]
    return {
        "probability": Bars(
            [*p[shown], p[others].sum()],
            [*(words[n] for n in shown), gettext("{count} others").format(count=len(others))],
            limits=(0, 1),
        ),
        "words": f"{int((p > 0).sum())}",
    }
