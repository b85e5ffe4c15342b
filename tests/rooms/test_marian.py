"""Whole models against Hugging Face's Marian, with the same parameters, none of them loaded.

Marian is the paper's encoder–decoder with waves in halves, and with one more number for each score.
No id is both the padding and 0, with which Hugging Face fills short texts by their end instead.
"""

import functools
import logging

import numpy as np
import pytest
import torch

import qkv.bridge
import qkv.numpy as qn
import qkv.torch as qt
from qkv.config import TransformerConfig
from tests.helpers.rooms import ROOMS, close

START, EOS, PAD = 0, 1, 2
B, S, T, MAX_LEN, STEPS = 5, 7, 6, 12, 150
CASES = {
    "one table": {},
    "two vocabularies": {
        "decoder_vocab_size": 13,
        "share_encoder_decoder_embeddings": False,
        "scale_embedding": False,
        "activation_function": "gelu",
        "decoder_layers": 3,
    },
}


def marian(case, seed=0, dtype=torch.float64):
    """Marian with random parameters, none at its first value."""
    from transformers import MarianConfig, MarianMTModel  # takes seconds

    logging.getLogger("transformers").setLevel(logging.ERROR)
    options = {
        "vocab_size": 17,
        "d_model": 12,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "encoder_attention_heads": 3,
        "decoder_attention_heads": 3,
        "encoder_ffn_dim": 19,
        "decoder_ffn_dim": 19,
        "max_position_embeddings": 32,
        "activation_function": "relu",
        "scale_embedding": True,
        "pad_token_id": PAD,
        "eos_token_id": EOS,
        "decoder_start_token_id": START,
        "forced_eos_token_id": None,
    }
    model = MarianMTModel(MarianConfig(**{**options, **CASES[case]})).eval().to(dtype)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "embed_positions" not in name:
                parameter.normal_(0, 0.3, generator=generator)
            if "norm.weight" in name:
                parameter.add_(1)
        model.final_logits_bias.normal_(generator=generator)
        for part in (model.model.encoder, model.model.decoder):
            part.embed_tokens.weight[PAD] = 0
    return model


def half_learnt(model, seed):
    """Marian once it begins to read sources backwards: random parameters would repeat one token.

    So texts have many lengths, and beams compete.
    """
    from torch.nn.functional import cross_entropy

    rng = np.random.default_rng(seed)
    optimizer = torch.optim.Adam(model.parameters(), 0.02)
    for _ in range(STEPS):
        source, target = texts(model, rng, 32)
        words = model.config.decoder_vocab_size - 3
        answer = np.full((32, S + 1), PAD)
        for row, length in enumerate((source != PAD).sum(1)):
            answer[row, :length] = 3 + source[row, :length][::-1] % words
            answer[row, length] = EOS
        target = np.concatenate([np.full((32, 1), START), answer[:, :-1]], 1)
        logits = logits_of(model, source, target)
        optimizer.zero_grad()
        loss = cross_entropy(logits.mT, torch.tensor(answer), ignore_index=PAD)
        loss.backward()
        optimizer.step()
    return model


def logits_of(model, source, target):
    found = model(
        input_ids=torch.tensor(source),
        attention_mask=torch.tensor(source != PAD).long(),
        decoder_input_ids=torch.tensor(target),
    )
    return found.logits


def state_of_marian(model):
    """Its parameters under our names, in the NumPy room's layout."""
    theirs = {name: value.detach().numpy() for name, value in model.state_dict().items()}
    state = {
        "source_embedding.weight": theirs["model.encoder.embed_tokens.weight"],
        "output.bias": theirs["final_logits_bias"][0],
    }
    if not model.config.share_encoder_decoder_embeddings:
        state["target_embedding.weight"] = theirs["model.decoder.embed_tokens.weight"]

    def linear(ours, name):
        state[f"{ours}.weight"] = theirs[f"{name}.weight"].T
        state[f"{ours}.bias"] = theirs[f"{name}.bias"]

    parts = [("self_attention", "self_attn"), ("cross_attention", "encoder_attn")]
    stacks = [("encoder", model.config.encoder_layers), ("decoder", model.config.decoder_layers)]
    for stack, n_layers in stacks:
        for i in range(n_layers):
            layer = f"{stack}.layers.{i}"
            for ours, name in parts if stack == "decoder" else parts[:1]:
                for letter, projection in zip("qkvo", ("q", "k", "v", "out"), strict=True):
                    linear(f"{layer}.{ours}.w_{letter}", f"model.{layer}.{name}.{projection}_proj")
                norm = f"{layer}.{ours}_add_norm.norm"
                for kind in ("weight", "bias"):
                    state[f"{norm}.{kind}"] = theirs[f"model.{layer}.{name}_layer_norm.{kind}"]
            for n in (1, 2):
                linear(f"{layer}.feed_forward.w_{n}", f"model.{layer}.fc{n}")
            for kind in ("weight", "bias"):
                norm = f"{layer}.feed_forward_add_norm.norm"
                state[f"{norm}.{kind}"] = theirs[f"model.{layer}.final_layer_norm.{kind}"]
    return state


def twins(model):
    """Our model in both rooms, with Marian's parameters."""
    theirs, shared = model.config, model.config.share_encoder_decoder_embeddings
    config = TransformerConfig(
        vocab_size=theirs.vocab_size,
        target_vocab_size=None if shared else theirs.decoder_vocab_size,
        d_model=theirs.d_model,
        n_heads=theirs.encoder_attention_heads,
        d_ff=theirs.encoder_ffn_dim,
        n_layers=theirs.encoder_layers,
        n_decoder_layers=theirs.decoder_layers,
        dropout=0.0,
        activation=theirs.activation_function,
        layout="halves",
        tie_word_embeddings="all" if shared else "target",
        output_bias=True,
        scale_embedding=theirs.scale_embedding,
        pad_id=PAD,
    )
    dtype = model.dtype
    ours = qn.Transformer(config, dtype=str(dtype).removeprefix("torch."))
    ours.load_state_dict(state_of_marian(model))
    module = qt.Transformer(config, dtype=dtype)
    qkv.bridge.copy_parameters(ours, module)
    return {qn: ours.eval(), qt: module.eval()}


def texts(model, rng, n=B):
    """Sources of all lengths, padded, and targets."""
    source = rng.integers(3, model.config.vocab_size, (n, S))
    source[np.arange(S) >= rng.integers(1, S + 1, (n, 1))] = PAD
    target = rng.integers(3, model.config.decoder_vocab_size, (n, T))
    target[:, 0] = START
    return source, target


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_logits_are_marians(case, dtype):
    model = marian(case, dtype=getattr(torch, dtype))
    source, target = texts(model, np.random.default_rng(3))
    waves = qn.sinusoidal_encoding(32, 12, layout="halves", dtype=np.dtype(dtype))
    for part in (model.model.encoder, model.model.decoder):
        close(part.embed_positions.weight, waves, "float32")
        if dtype == "float64":  # Marian rounds its table to float32 whatever the model is
            part.embed_positions.weight.copy_(torch.tensor(waves))
    rooms = twins(model)
    for first in (START, PAD):  # published Marians begin with the padding
        target[:, 0] = first
        with torch.no_grad():
            expected = logits_of(model, source, target)
            logits = rooms[qt](torch.tensor(source), torch.tensor(target))
        close(logits, expected, dtype)
        close(rooms[qn](source, target), expected, dtype)
    assert expected.std() > 0.5  # random parameters, but no constant model


# ----------------------------------------------------------------------------------------- decoding

SEEDS = [("one table", 0), ("one table", 1), ("two vocabularies", 2)]
RULES = [True, False, "never"]
ALPHAS = [0.0, 0.6, 1.0, 2.0, -1.0]


@functools.cache
def models(case, seed):
    """A half-learnt Marian, its twins, and sources to read."""
    model = half_learnt(marian(case, seed), seed)
    return model, twins(model), texts(model, np.random.default_rng(seed))[0]


def generated(model, source, **options):
    """What Hugging Face's `generate` gives, with one score for each text."""
    return model.generate(
        torch.tensor(source),
        attention_mask=torch.tensor(source != PAD).long(),
        max_new_tokens=MAX_LEN,
        do_sample=False,
        return_dict_in_generate=True,
        output_scores=True,
        **options,
    )


LIMITS = {"eos_id": EOS, "max_new_tokens": MAX_LEN, "pad_id": PAD}


def same_search(ours, expected, scores):
    tokens, our_scores = (np.asarray(x) for x in ours)
    np.testing.assert_array_equal(tokens.reshape(-1, tokens.shape[-1]), expected)
    close(our_scores.reshape(-1), scores, "float32")  # the searches add float32 numbers up


@pytest.mark.parametrize(("room", "to"), ROOMS)
@pytest.mark.parametrize(("case", "seed"), SEEDS)
def test_greedy_is_marians(case, seed, room, to):
    model, rooms, source = models(case, seed)
    found = generated(model, source, num_beams=1)
    logs = torch.stack([scores.float().log_softmax(-1) for scores in found.scores], 1)  # (B, T, V)
    new = found.sequences[:, 1:]  # (B, T)
    steps = logs.gather(2, new[:, :, None])[:, :, 0].masked_fill(new == PAD, 0)  # (B, T)
    state = rooms[room].start_decoding(to(source))
    ours = room.greedy(state, to(np.full((B, 1), START)), **LIMITS)
    same_search(ours, found.sequences, steps.sum(1))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("beam_size", [2, 4])
@pytest.mark.parametrize(("case", "seed"), SEEDS)
def test_beam_search_is_marians(case, seed, beam_size, alpha, rule):
    """All beams of every text, token for token, from both rooms with their caches."""
    model, rooms, source = models(case, seed)
    options = {"length_penalty": alpha, "early_stopping": rule, "num_return_sequences": beam_size}
    found = generated(model, source, num_beams=beam_size, **options)
    for room, to in (room.values for room in ROOMS):
        state = rooms[room].start_decoding(to(source))
        prefixes = to(np.full((B, 1), START))
        options = {
            "beam_size": beam_size,
            "length_penalty": alpha,
            "early_stopping": rule,
            "n_best": beam_size,
        }
        ours = room.beam_search(state, prefixes, **LIMITS, **options)
        same_search(ours, found.sequences, found.sequences_scores)


def test_the_searches_differ_and_end_early():
    """What is compared above is no single answer: texts end at many lengths, and options matter."""
    lengths, answers = set(), {}
    for case, seed in SEEDS:
        _, rooms, source = models(case, seed)
        for rule in RULES:
            for alpha in ALPHAS:
                state = rooms[qn].start_decoding(source)
                options = {"beam_size": 4, "length_penalty": alpha, "early_stopping": rule}
                tokens, _ = qn.beam_search(state, np.full((B, 1), START), **LIMITS, **options)
                lengths |= set((tokens[:, 0] != PAD).sum(1).tolist())
                answers[case, seed, rule, alpha] = tokens.tolist()
    assert len(lengths) > 5

    def distinct(options):
        """How many of these (rule, alpha) give different texts."""
        return len({str([answers[*model, *option] for model in SEEDS]) for option in options})

    assert distinct([(False, alpha) for alpha in ALPHAS]) >= 4
    assert distinct([(rule, 2.0) for rule in RULES]) == 3
