"""What makes a hidden unit of the trained model active? Units of its encoder, on the grammar.

First by word: the share of a unit's activation that stands on one word. Then by context: at "will",
the unit that best tells whether "not" follows; at "not", the unit that best tells whether "did"
came before. Units are chosen on one half of the sentences and tested on the other. Each is done
once more with shuffled words or labels. Last, units and whole networks are deleted, and sentences
are translated.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from qkv.corpus import Pair, sentences
from qkv.experiments.stored import run_and_store
from qkv.numpy import relu
from qkv.pretrained import pretrained

Array = np.ndarray[Any, Any]


def hidden_units(pair: Pair) -> list[Array]:
    """The units at each word of the source, (words, d_ff) for each layer of the encoder."""
    translator = pretrained("numpy")
    model: Any = translator.model
    ids = np.array([translator.source.encode(" ".join(pair.source), eos=True)])
    found = []
    with model.evaluating():
        x, _ = model.source_inputs(model.source_embedding(ids))  # (1, S, d_model)
        for layer in model.encoder.layers:
            attend = layer.self_attention
            x = layer.self_attention_add_norm(x, lambda z, attend=attend: attend(z)[0])
            found.append(relu(layer.feed_forward.w_1(x))[0, : len(pair.source)])
            x = layer.feed_forward_add_norm(x, layer.feed_forward)
    return found


def on_one_word(hidden: Array, words: Array) -> tuple[Array, Array]:
    """For each unit: the share of its activation on its main word, and that word's index."""
    _, index = np.unique(words, return_inverse=True)
    sums = np.zeros((index.max() + 1, hidden.shape[1]))
    np.add.at(sums, index, hidden)
    shares = sums / np.maximum(sums.sum(axis=0), 1e-9)
    return shares.max(axis=0), shares.argmax(axis=0)


def separation(hidden: Array, label: Array) -> Array:
    """For each unit: how often it is larger where the label is true; ties count half."""
    yes, no = hidden[label][:, None], hidden[~label][None]
    larger: Array = ((yes > no) + 0.5 * (yes == no)).mean(axis=(0, 1))
    return larger


def best_unit(hidden: Array, label: Array) -> dict[str, float]:
    """The unit that separates best on even rows, and how it does on the odd ones."""
    shown = separation(hidden[::2], label[::2])
    unit = int(shown.argmax())
    tested = separation(hidden[1::2, unit : unit + 1], label[1::2])[0]
    return {
        "unit": unit,
        "chosen at": round(float(shown[unit]), 2),
        "tested": round(float(tested), 2),
    }


def translated(pairs: list[Pair], units: dict[str, list[int] | None]) -> int:
    """How many sentences are translated as the grammar has them, without these units.

    Args:
        units: for each layer, such as "encoder.layers.1", the units whose row of W_2 becomes 0;
            None is all of them.
    """
    translator = pretrained("numpy")
    parameters = dict(translator.model.named_parameters())
    weights: dict[str, Any] = {n: parameters[f"{n}.feed_forward.w_2.weight"] for n in units}
    kept = {name: weight.copy() for name, weight in weights.items()}
    for name, rows in units.items():
        weights[name][slice(None) if rows is None else rows] = 0
    said = translator.translate([" ".join(pair.source) for pair in pairs])
    for name, weight in weights.items():
        weight[:] = kept[name]
    return sum(a == " ".join(pair.target) for a, pair in zip(said, pairs, strict=True))


def measure(small: bool = False) -> dict[str, Any]:
    """{"words": …, "past": …, "deleted": …}; the comments in the chapter say what each means."""
    rng = np.random.default_rng(0)
    everything = sentences()
    picked = [everything[i] for i in rng.permutation(len(everything))]
    some = picked[: 300 if small else 1000]
    words = np.array([word.lower() for pair in some for word in pair.source])
    per_layer = zip(*(hidden_units(pair) for pair in some), strict=True)
    layers = [np.concatenate(rows) for rows in per_layer]
    vocabulary = np.unique(words)
    by_word = []
    for hidden in layers:
        share, word = on_one_word(hidden, words)
        shuffled, _ = on_one_word(hidden, rng.permutation(words))
        top = share.argsort()[::-1][:3]
        by_word.append(
            {
                "units": len(share),
                "half on one word": int((share > 0.5).sum()),
                "half on one word, shuffled": int((shuffled > 0.5).sum()),
                "dead": int((hidden.max(axis=0) <= 0).sum()),
                "top": [
                    {
                        "unit": int(u),
                        "word": str(vocabulary[word[u]]),
                        "share": round(float(share[u]), 3),
                    }
                    for u in top
                ],
            }
        )

    n = 150 if small else 600
    future = [pair for pair in picked if "will" in pair.source][:n]
    negated = [pair for pair in picked if _after_not(pair)][:n]
    questions = {
        "will: negated": ("will", future, np.array([p.features.negated for p in future])),
        "not: past": ("not", negated, np.array([p.features.tense == "past" for p in negated])),
    }
    contexts: dict[str, Any] = {}
    at_will: list[Array] = []
    for name, (at, pairs, label) in questions.items():
        rows = zip(*(_units_at(at, pair) for pair in pairs), strict=True)
        at_word = [np.array(row) for row in rows]  # (sentences, d_ff) for each layer
        at_will = at_will or at_word
        contexts[name] = {
            "found": [best_unit(hidden, label) for hidden in at_word],
            "shuffled": [best_unit(hidden, rng.permutation(label)) for hidden in at_word],
        }

    tested = [pair for pair in future if pair.features.negated][: 20 if small else 100]
    label = questions["will: negated"][2]
    order = separation(at_will[-1], label).argsort(kind="stable")[::-1].tolist()
    last = f"encoder.layers.{len(layers) - 1}"
    encoder = {f"encoder.layers.{i}": None for i in range(len(layers))}
    decoder = {f"decoder.layers.{i}": None for i in range(_decoder_layers())}
    some = picked[-60:] if small else picked[-500:]
    return {
        "words": by_word,
        "contexts": contexts,
        "deleted": {
            "of": len(tested),
            "best": {str(n): translated(tested, {last: order[:n]}) for n in (0, 1, 8, 32)},
        },
        "networks": {
            "of": len(some),
            "none": translated(some, {}),
            "of the last encoder layer": translated(some, {last: None}),
            "of the encoder": translated(some, {**encoder}),
            "of the decoder": translated(some, {**decoder}),
            "all": translated(some, {**encoder, **decoder}),
        },
    }


def _decoder_layers() -> int:
    model: Any = pretrained("numpy").model
    return len(model.decoder.layers)


def _units_at(word: str, pair: Pair) -> list[Array]:
    """The units of each layer at this word of the source, (d_ff,) each."""
    return [hidden[pair.source.index(word)] for hidden in hidden_units(pair)]


def _after_not(pair: Pair) -> bool:
    """Whether "do", "does", "did" or "will" stands before "not"."""
    words = [word.lower() for word in pair.source]
    return "not" in words and words[words.index("not") - 1] in ("do", "does", "did", "will")


def check(figures: dict[str, Any]) -> None:
    """Units go by words, and one by whether "will" is negated, more than by chance."""
    for layer in figures["words"]:
        assert layer["half on one word"] > layer["half on one word, shuffled"]
    of = figures["contexts"]["will: negated"]
    assert max(found["tested"] for found in of["found"]) > 0.9
    assert max(chance["tested"] for chance in of["shuffled"]) < 0.7
    deleted = figures["deleted"]
    assert deleted["best"]["0"] >= 0.95 * deleted["of"]
    assert deleted["best"]["32"] >= 0.9 * deleted["of"]
    networks = figures["networks"]
    assert networks["none"] >= 0.95 * networks["of"] > networks["all"]


if __name__ == "__main__":
    run_and_store("feed_forward_units", measure)
