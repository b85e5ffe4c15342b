"""Every word that an option may be works in both rooms: built, trained a step, decoded, searched.

A word that is added to `qkv.shapes.choices` is tried here at once, with nothing to write.
"""

import json
import subprocess
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import torch

import qkv
import qkv.numpy as qn
import qkv.torch as qt
from qkv.config import TransformerConfig
from qkv.learning_rate_schedules import SCHEDULES
from qkv.shapes import choices
from qkv.trainer import TrainingConfig
from tests.helpers.layers import same_gradients
from tests.helpers.models import CHOICES, MODELS, detached, tensors, texts, twins
from tests.helpers.node import node
from tests.helpers.rooms import close
from tests.helpers.waiting import WAIT_SECONDS

TABLES = {
    "ACTIVATIONS": "feed_forward.activations",
    "NORMS": "add_norm.norms",
    "POSITIONS": "transformer.positional_encoding",
    "OPTIMIZERS": "training.optimizers",
}
WORDS = [(option, word) for option, words in CHOICES.items() for word in words]
JAVASCRIPT = Path(qkv.__file__).parent / "javascript"
LOSS = {"label_smoothing": 0.1, "ignore_index": 0}


def models_with(option, word, model):
    return twins("as in the paper", model, **{option: word, "max_len": 11, "d_k": 4})


def test_every_list_of_words_is_tried():
    lists = {name: x for name, x in vars(choices).items() if isinstance(x, tuple)}
    tried = {
        *CHOICES.values(),
        choices.LENGTH_FORMULAS,
        choices.REDUCTIONS,
        tuple(MODELS),
    }
    tried |= {choices.OPTIMIZERS, choices.SCHEDULES}
    some_of_them = {choices.GATED, choices.GELUS}
    untried = set(lists.values()) - tried - some_of_them
    assert untried == {choices.APPROXIMATIONS, choices.PAGE_POSITIONS}
    assert set(choices.PAGE_POSITIONS) < set(choices.POSITIONS)
    assert {word for words in some_of_them for word in words} <= set(choices.ACTIVATIONS)


@pytest.mark.parametrize("room", ["numpy", "torch"])
@pytest.mark.parametrize(("table", "module"), TABLES.items())
def test_each_room_has_one_function_or_class_for_every_word(room, table, module):
    assert tuple(getattr(import_module(f"qkv.{room}.{module}"), table)) == getattr(choices, table)


def in_node(code, *values):
    """What JavaScript gives for some values: `code` is a function of them."""
    imports = "".join(
        f"import {{ {names} }} from {json.dumps((JAVASCRIPT / file).as_uri())};\n"
        for file, names in (
            ("config.js", "checkConfig"),
            ("feed_forward.js", "feedForward"),
            ("matrix.js", "Matrix"),
        )
    )
    script = f"{imports}console.log(JSON.stringify(({code})(...{json.dumps(values)})));"
    command = [node(), "--input-type=module", "--eval", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_SECONDS)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_page_takes_every_word_but_what_it_cannot_compute():
    configs = [asdict(TransformerConfig(7, d_model=32, **{option: w})) for option, w in WORDS]
    code = """(configs) => configs.map((config) => {
      try {
        return Boolean(checkConfig(config));
      } catch (error) {
        if (error.name !== "InputError") throw error;
        return false;
      }
    })"""
    taken = in_node(code, configs)
    refused = {word for word, is_taken in zip(WORDS, taken, strict=True) if not is_taken}
    unknown = set(choices.POSITIONS) - set(choices.PAGE_POSITIONS)
    assert refused == {("positions", word) for word in unknown}


@pytest.mark.parametrize("activation", choices.ACTIVATIONS)
def test_the_page_computes_every_activation(activation):
    rng = np.random.default_rng(3)
    layer = qn.FeedForward(3, 5, activation=activation, rng=rng)
    x = rng.standard_normal((7, 3), np.float32)
    parameters = {}
    for name, value in layer.named_parameters():
        value += rng.standard_normal(value.shape).astype(np.float32)
        part, _, kind = name.partition(".")
        parameters.setdefault(part, {})[kind] = value.tolist()
    code = """(x, parameters, activation) => {
      const floats = (rows) => Float32Array.from(rows.flat());
      const matrix = (rows) => new Matrix(rows.length, rows[0].length, floats(rows));
      for (const part of Object.values(parameters)) part.weight = matrix(part.weight);
      return [...feedForward(matrix(x), parameters, activation)].map((row) => [...row]);
    }"""
    close(
        np.array(in_node(code, x.tolist(), parameters, activation), np.float32), layer(x), "float32"
    )


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("option", "word"), WORDS)
def test_a_training_step_is_the_same_in_both_rooms(option, word, model):
    ours, theirs = models_with(option, word, model)
    inputs = texts(ours.config, model)
    targets = np.random.default_rng(2).integers(0, ours.config.target_vocabulary, inputs[-1].shape)
    logits = ours(*inputs)
    loss = qn.cross_entropy(logits, targets, **LOSS)
    ours.backward(qn.cross_entropy_backward(1.0, logits, targets, **LOSS))
    expected = qt.cross_entropy(theirs(*tensors(inputs)), torch.tensor(targets), **LOSS)
    expected.backward()
    close(loss, expected.detach())
    same_gradients(ours, theirs)
    for room, each in ((qn, ours), (qt, theirs)):
        room.clip_grad_norm(each, 1.0)
        room.Adam(each).step(1e-2)
    after = qn.cross_entropy(ours(*inputs), targets, **LOSS)
    assert after < loss
    with torch.no_grad():
        again = qt.cross_entropy(theirs(*tensors(inputs)), torch.tensor(targets), **LOSS)
    close(after, again, "float32")  # Adam makes steps of the last digits of a gradient of 0


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("option", "word"), WORDS)
def test_decoding_with_the_cache_gives_the_logits_of_the_whole_text(option, word, model):
    ours, theirs = models_with(option, word, model)
    *source, ids = texts(ours.config, model)
    expected = ours.eval()(*source, ids)
    for each, to in ((ours, np.asarray), (theirs.eval(), torch.tensor)):
        state = each.start_decoding(*map(to, source))
        steps = [
            np.asarray(detached(state.extend(to(ids[:, t : t + 1])))) for t in range(ids.shape[1])
        ]
        close(np.concatenate(steps, 1), expected)


@pytest.mark.parametrize("formula", choices.LENGTH_FORMULAS)
def test_a_length_formula_ranks_alike_in_both_rooms(formula):
    found = []
    for each, room, to in zip(
        twins("as in the paper"), (qn, qt), (np.asarray, torch.tensor), strict=True
    ):
        source, ids = texts(each.config)
        state = each.eval().start_decoding(to(source))
        options = {"eos_id": 3, "max_new_tokens": 5, "beam_size": 3, "length_formula": formula}
        found.append(room.beam_search(state, to(ids[:, :1]), **options))
    np.testing.assert_array_equal(*[np.asarray(tokens) for tokens, _ in found])
    close(*[detached(scores) for _, scores in found])


@pytest.mark.parametrize("reduction", choices.REDUCTIONS)
def test_a_reduction_and_its_backward_are_those_of_autograd(reduction):
    rng = np.random.default_rng(0)
    logits, targets = rng.standard_normal((2, 3, 5)), rng.integers(0, 5, (2, 3))
    options = {**LOSS, "reduction": reduction}
    theirs = torch.tensor(logits, requires_grad=True)
    expected = qt.cross_entropy(theirs, torch.tensor(targets), **options)
    dloss = rng.standard_normal(expected.shape)
    expected.backward(torch.tensor(dloss))
    close(qn.cross_entropy(logits, targets, **options), expected.detach())
    close(qn.cross_entropy_backward(dloss, logits, targets, **options), theirs.grad)


@pytest.mark.parametrize("name", ["optimizer", "schedule"])
def test_training_takes_the_words_of_the_tables_and_no_other(name):
    tables = {"optimizer": choices.OPTIMIZERS, "schedule": choices.SCHEDULES}
    words = ", ".join(map(repr, tables[name]))
    with pytest.raises(ValueError, match=f"{name} must be one of {words}, got 'sgd'"):
        TrainingConfig(**{name: "sgd"})


def test_a_schedule_is_its_function():
    assert tuple(SCHEDULES) == choices.SCHEDULES
    for step in range(1, 8):
        rates = {name: schedule(step, 7, 2, 0.03, 5) for name, schedule in SCHEDULES.items()}
        assert rates == {
            "linear": qn.linear_schedule(step, 7, warmup=2, peak=0.03),
            "noam": qn.noam_schedule(step, 5, warmup=2, factor=0.03),
        }
