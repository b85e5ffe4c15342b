"""torch.nn.Transformer and Hugging Face's Marian, of the sizes of a configuration of ours."""

from __future__ import annotations

import math
import warnings
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from qkv.config import TransformerConfig
from qkv.text import EOS, PAD, SOS
from qkv.torch import Transformer, sinusoidal_encoding
from qkv.trainer import TranslationLoss

__all__ = ["NAMES", "Peer", "make", "marian_sizes"]

NAMES = ("qkv", "torch.nn.Transformer", "Marian")


def make(name: str, config: TransformerConfig, label_smoothing: float, seed: int) -> nn.Module:
    """A model with its loss; all take what `TranslationLoss` takes, and sum over all tokens."""
    torch.manual_seed(seed)
    if name == "qkv":
        return TranslationLoss(Transformer(config), label_smoothing)
    return Peer(TorchTransformer(config) if name == NAMES[1] else Marian(config), label_smoothing)


class Peer(nn.Module):
    """A model of others with its loss, as most write it: projection, then cross-entropy.

    Args:
        model: with `hidden(source, target)`, (B, T, d_model), and `table`, (V, d_model).
        label_smoothing: of the loss while training.
    """

    def __init__(self, model: TorchTransformer | Marian, label_smoothing: float) -> None:
        super().__init__()
        self.model, self.label_smoothing = model, label_smoothing

    def forward(self, source: Tensor, target: Tensor, places: Tensor, words: Tensor) -> Tensor:
        """The sum over all words; no scores for padding here either."""
        x = self.model.hidden(source, target).flatten(0, 1).index_select(0, places)  # (N, d_model)
        logits = F.linear(x, self.model.table).float()  # (N, V)
        return F.cross_entropy(logits, words, label_smoothing=self.label_smoothing, reduction="sum")


class TorchTransformer(nn.Module):
    """torch's own, with one table for all, the paper's waves, and dropout on their sum.

    Its dropout falls on attention's weights and inside the feed-forward part, too.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        d = config.d_model
        self.embedding = nn.Embedding(config.vocab_size, d, PAD)
        nn.init.normal_(self.embedding.weight, 0, 1 / math.sqrt(d))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # no nested tensors with norms in front: let it be so
            self.inner = nn.Transformer(
                d,
                config.n_heads,
                config.n_layers,
                config.decoder_layers,
                config.d_ff,
                config.dropout,
                batch_first=True,
                norm_first=config.norm_first,
            )
        self.register_buffer("waves", sinusoidal_encoding(config.max_len, d))
        self.dropout = nn.Dropout(config.dropout)

    @property
    def table(self) -> Tensor:
        return self.embedding.weight

    def embed(self, ids: Tensor) -> Tensor:
        """(B, T) -> (B, T, d_model)."""
        x: Tensor = self.embedding(ids) * math.sqrt(self.embedding.embedding_dim)
        waves: Any = self.waves
        out: Tensor = self.dropout(x + waves[: ids.shape[1]])
        return out

    def encode(self, source: Tensor) -> Tensor:
        memory: Tensor = self.inner.encoder(self.embed(source), src_key_padding_mask=source == PAD)
        return memory

    def decode(self, target: Tensor, memory: Tensor, source: Tensor) -> Tensor:
        T = target.shape[1]
        later = torch.ones(T, T, dtype=torch.bool).triu(1)  # True = blocked, here
        x: Tensor = self.inner.decoder(
            self.embed(target),
            memory,
            tgt_mask=later,
            tgt_is_causal=True,
            memory_key_padding_mask=source == PAD,
        )
        return x

    def hidden(self, source: Tensor, target: Tensor) -> Tensor:
        return self.decode(target, self.encode(source), source)


class Marian(nn.Module):
    """Hugging Face's, which has its norms behind each part, as the paper."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        from transformers import MarianConfig, MarianModel

        self.inner = MarianModel(MarianConfig(**marian_sizes(config), use_cache=False))

    @property
    def table(self) -> Tensor:
        table: Tensor = self.inner.shared.weight
        return table

    def hidden(self, source: Tensor, target: Tensor) -> Tensor:
        out: Tensor = self.inner(
            input_ids=source,
            attention_mask=source.ne(PAD).long(),
            decoder_input_ids=target,
        ).last_hidden_state
        return out


def marian_sizes(config: TransformerConfig) -> dict[str, Any]:
    """A configuration of ours in Marian's words."""
    return {
        "vocab_size": config.vocab_size,
        "d_model": config.d_model,
        "encoder_layers": config.n_layers,
        "decoder_layers": config.decoder_layers,
        "encoder_attention_heads": config.n_heads,
        "decoder_attention_heads": config.n_heads,
        "encoder_ffn_dim": config.d_ff,
        "decoder_ffn_dim": config.d_ff,
        "dropout": config.dropout,
        "activation_function": config.activation,
        "max_position_embeddings": config.max_len,
        "scale_embedding": True,
        "pad_token_id": PAD,
        "decoder_start_token_id": SOS,
        "eos_token_id": EOS,
    }
