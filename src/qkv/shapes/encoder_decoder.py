"""Check the public calls of an encoder–decoder model, each once for all the layers inside."""

from collections.abc import Callable
from typing import Any

from qkv.shapes.checker import ShapeChecker
from qkv.shapes.transformer import check_decoding_mode


class EncoderDecoderChecks:
    """What each call of a `Transformer` refuses: it takes the model, and what the call takes.

    Args:
        check_shapes, check_tokens, check_stack: those of the room.
    """

    def __init__(
        self,
        check_shapes: ShapeChecker,
        check_tokens: Callable[..., None],
        check_stack: Callable[..., None],
    ) -> None:
        self.check_shapes, self.check_tokens = check_shapes, check_tokens
        self.check_stack = check_stack

    def texts(
        self,
        model: Any,
        source: Any,
        target: Any,
        *,
        source_mask: Any = None,
        target_mask: Any = None,
        attention_maps: Any = None,
    ) -> None:
        """Refuse texts and masks that do not fit the model, or one another."""
        call = "Transformer"
        self.check_shapes(call, source=(source, "int B+ S+"), target=(target, "int B+ T+"))
        self.source(model, source, source_mask, call=call)
        self.check_tokens(call, "target", target, model.target_embedding, model.target_inputs)
        if target_mask is not None:
            (B, T), H, mask = target.shape, model.config.n_heads, (target_mask, "bool -> B H T S")
            self.check_shapes(call, B=B, H=H, T=T, S=T, target_mask=mask)

    def source(
        self,
        model: Any,
        source: Any,
        source_mask: Any = None,
        *,
        call: str = "Transformer.memory_mask",
    ) -> None:
        """Refuse a source, or a mask of it, that does not fit."""
        mask = (source_mask, "bool -> B 1 1 S")
        self.check_shapes(call, source=(source, "int B+ S+"), source_mask=mask)
        self.check_tokens(call, "source", source, model.source_embedding, model.source_inputs)

    def encode(
        self, model: Any, source: Any, *, source_mask: Any = None, attention_maps: Any = None
    ) -> None:
        """Refuse what the encoder cannot read."""
        self.source(model, source, source_mask, call="Transformer.encode")

    def decode(
        self,
        model: Any,
        target: Any,
        memory: Any,
        *,
        target_mask: Any = None,
        caches: Any = None,
        attention_maps: Any = None,
        last: bool = False,
        **options: Any,
    ) -> None:
        """Refuse a target, memory, masks and caches that do not fit together."""
        call, embedding = "Transformer.decode", model.target_embedding
        self.check_shapes(call, target=(target, "int B+ T+"))
        cached = 0 if caches is None else caches[0].self_attention.length
        self.check_tokens(call, "target", target, embedding, model.target_inputs, cached)
        options |= {"mask": target_mask, "mask_name": "target_mask", "caches": caches}
        self.check_stack(call, model.decoder, target, embedding, memory, **options)

    def start_decoding(self, model: Any, source: Any, *, source_mask: Any = None) -> None:
        """Refuse a model that cannot decode, and a source that does not fit."""
        call = "Transformer.start_decoding"
        check_decoding_mode(call, model.training, model.config.causal)
        self.source(model, source, source_mask, call=call)
