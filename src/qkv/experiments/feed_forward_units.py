"""Does a hidden unit of the trained model react to a context? And can one see whether it is needed?

At the word "will", the unit of each layer of the encoder that best tells whether "not" follows. It
is chosen on one half of the sentences and tested on the other; once more for the model after one
step of training, and with shuffled labels. Then whole networks are deleted, and sentences are
translated: if they stay right without a network, no unit of it can be needed for them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from qkv.corpus import Pair, sentences
from qkv.experiments.stored_results import run_and_store
from qkv.numpy import relu
from qkv.pretrained import pretrained

Array = np.ndarray[Any, Any]


def units_at(word: str, pair: Pair, step: int | None = None) -> list[Array]:
    """The units of each layer of the encoder at this word of the source, (d_ff,) each."""
    translator = pretrained("numpy", step=step)
    model: Any = translator.model
    ids = np.array([translator.source.encode(" ".join(pair.source), eos=True)])
    found = []
    with model.inference_mode():
        x, _ = model.source_inputs(model.source_embedding(ids))  # (1, S, d_model)
        for layer in model.encoder.layers:
            attend = layer.self_attention
            x = layer.self_attention_add_norm(x, lambda z, attend=attend: attend(z)[0])
            found.append(relu(layer.feed_forward.w_1(x))[0, pair.source.index(word)])
            x = layer.feed_forward_add_norm(x, layer.feed_forward)
    return found


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
    return {"unit": unit, "tested": round(float(tested), 2)}


def translated(pairs: list[Pair], layers: list[str]) -> int:
    """How many sentences are translated as the grammar has them, without these networks.

    Args:
        layers: such as "encoder.layers.1"; W_2 of their networks becomes 0, b_2 stays.
    """
    translator = pretrained("numpy")
    parameters = dict(translator.model.named_parameters())
    weights: dict[str, Any] = {n: parameters[f"{n}.feed_forward.w_2.weight"] for n in layers}
    kept = {name: weight.copy() for name, weight in weights.items()}
    for weight in weights.values():
        weight[:] = 0
    said = translator.translate([" ".join(pair.source) for pair in pairs])
    for name, weight in weights.items():
        weight[:] = kept[name]
    return sum(a == " ".join(pair.target) for a, pair in zip(said, pairs, strict=True))


def measure(small: bool = False) -> dict[str, Any]:
    """{"will not": units that tell it, "deleted": units, "networks": deleted as a whole}."""
    rng = np.random.default_rng(0)
    everything = sentences()
    picked = [everything[i] for i in rng.permutation(len(everything))]
    future = [pair for pair in picked if "will" in pair.source][:600]
    label = np.array([pair.features.negated for pair in future])
    trained, untrained = (
        [np.array(rows) for rows in zip(*(units_at("will", p, step) for p in future), strict=True)]
        for step in (None, 1)
    )  # (sentences, d_ff) for each layer
    found = {
        "trained": [best_unit(hidden, label) for hidden in trained],
        "after 1 step": [best_unit(hidden, label) for hidden in untrained],
        "labels shuffled": [best_unit(h, rng.permutation(label)) for h in trained],
    }

    tested = [pair for pair in future if pair.features.negated][: 20 if small else 100]
    some = picked[-60:] if small else picked[-500:]
    model: Any = pretrained("numpy").model
    encoder, decoder = (
        [f"{part}.layers.{i}" for i in range(len(getattr(model, part).layers))]
        for part in ("encoder", "decoder")
    )
    deleted: dict[str, list[str]] = {
        "none": [],
        "encoder, layer 1": encoder[:1],
        "encoder, layer 2": encoder[1:],
        "encoder": encoder,
        "decoder": decoder,
        "all": encoder + decoder,
    }
    return {
        "will not": found,
        "of": {"will not": len(tested), "any": len(some)},
        "right": {
            which: {"will not": translated(tested, layers), "any": translated(some, layers)}
            for which, layers in deleted.items()
        },
    }


def check(figures: dict[str, Any]) -> None:
    """Units tell whether "will" is negated, and the network of either layer can be deleted."""
    found = figures["will not"]
    assert min(of["tested"] for of in found["trained"]) > 0.9
    assert max(of["tested"] for of in found["labels shuffled"]) < 0.7
    right, of = figures["right"], figures["of"]
    for which in ("none", "encoder, layer 1", "encoder, layer 2"):
        assert right[which]["will not"] >= 0.95 * of["will not"]
    assert right["none"]["any"] >= 0.95 * of["any"] > right["all"]["any"]


if __name__ == "__main__":
    run_and_store("feed_forward_units", measure)
