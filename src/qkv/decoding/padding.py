"""Padding of generated sentences: the token that stands after their end."""

__all__ = ["resolve_pad_id"]


def resolve_pad_id(eos_id: int | None, pad_id: int | None) -> int:
    """The token that pads a sentence after its end: pad_id, or else eos_id, or else 0."""
    return (eos_id or 0) if pad_id is None else pad_id
