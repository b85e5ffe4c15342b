"""What the searches ask of a step function and of its tokens, without a look at arrays."""

__all__ = ["fill_id", "keeps_cache"]


def keeps_cache(step: object) -> bool:
    """Whether a step function has a key-value cache, whose rows follow the beams by `reorder`."""
    return hasattr(step, "reorder")


def fill_id(eos_id: int | None, pad_id: int | None) -> int:
    """The token that fills a sentence up after its end: pad_id, or else eos_id, or else 0."""
    return (eos_id or 0) if pad_id is None else pad_id
