"""Does a hidden unit of the trained model react to a context? And is it needed?

At the word "will", the unit of each layer of the encoder that best tells whether "not" follows. It
is chosen on one half of the sentences and tested on the other; once more for the model after one
step of training, and with shuffled labels. Then units and whole networks are deleted, and sentences
are translated.
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
    order = separation(trained[-1], label).argsort(kind="stable")[::-1].tolist()
    model: Any = pretrained("numpy").model
    last = f"encoder.layers.{len(trained) - 1}"
    encoder = {f"encoder.layers.{i}": None for i in range(len(model.encoder.layers))}
    decoder = {f"decoder.layers.{i}": None for i in range(len(model.decoder.layers))}
    some = picked[-60:] if small else picked[-500:]
    return {
        "will not": found,
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


def check(figures: dict[str, Any]) -> None:
    """A unit tells whether "will" is negated, and it can be deleted; all networks cannot."""
    found = figures["will not"]
    assert min(of["tested"] for of in found["trained"]) > 0.9
    assert max(of["tested"] for of in found["labels shuffled"]) < 0.7
    deleted = figures["deleted"]
    assert deleted["best"]["0"] >= 0.95 * deleted["of"]
    assert deleted["best"]["32"] >= 0.9 * deleted["of"]
    networks = figures["networks"]
    assert networks["none"] >= 0.95 * networks["of"] > networks["all"]


if __name__ == "__main__":
    run_and_store("feed_forward_units", measure)
