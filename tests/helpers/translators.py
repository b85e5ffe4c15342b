"""What the tests of translation share: a small model that has learnt a few pairs by heart."""

from functools import lru_cache

import torch

import qkv.torch as qt
from qkv.bridge import state_dict
from qkv.checkpoint import Checkpoint
from qkv.config import TransformerConfig
from qkv.text import bucketed_batches, train_bpe, train_character_level, train_word_level

PAIRS = [
    ("The cat sat on the mat.", "고양이가 매트 위에 앉았다."),
    ("The dog slept.", "개가 잤다."),
    ("I ate rice.", "나는 밥을 먹었다."),
    ("The small cat drinks milk at home.", "작은 고양이가 집에서 우유를 마신다."),
    ("The dog does not eat rice.", "개가 밥을 먹지 않는다."),
    ("You read a book.", "너는 책을 읽는다."),
    ("The cat slept on the mat at home.", "고양이가 집에서 매트 위에 잤다."),
]
SOURCES = [source for source, _ in PAIRS]
TARGETS = [target for _, target in PAIRS]
MAX_LEN = 30


@lru_cache
def checkpoint(kind="bpe"):
    """A checkpoint of a model with 2 + 2 layers and 2 heads, in "bpe", "words" or "characters"."""
    if kind == "bpe":
        source, target = train_bpe(SOURCES, 60), train_bpe(TARGETS, 80)
    else:
        learn = {"words": train_word_level, "characters": train_character_level}[kind]
        source, target = learn(SOURCES), learn(TARGETS)
    own = {"d_model": 32, "n_heads": 2, "d_ff": 64, "n_layers": 2, "dropout": 0.0, "pad_id": 0}
    config = TransformerConfig(
        len(source), len(target), tie_word_embeddings="target", norm_first=True, **own
    )
    model = qt.Transformer(config, rng=torch.Generator().manual_seed(0))
    pairs = [(source.encode(a, eos=True), target.encode(b, sos=True, eos=True)) for a, b in PAIRS]
    (batch,) = bucketed_batches(pairs, 10_000)
    texts = [torch.from_numpy(ids) for ids in (batch.source, batch.target_in, batch.target_out)]
    optimizer = torch.optim.Adam(model.parameters(), 3e-3)
    for _ in range(80):
        optimizer.zero_grad()
        logits = model(*texts[:2])
        loss = torch.nn.functional.cross_entropy(logits.transpose(1, 2), texts[2], ignore_index=0)
        loss.backward()
        optimizer.step()
    return Checkpoint(config, state_dict(model), source, target, {"max_len": MAX_LEN})
