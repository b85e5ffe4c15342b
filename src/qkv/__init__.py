"""The package behind *The Runnable Transformer*: one concept, one name, in every room."""

from typing import Any


def __getattr__(name: str) -> Any:
    """`__version__` and `set_language`, looked up when asked for: to import qkv is no work."""
    if name == "__version__":
        from importlib.metadata import version

        return version("qkv")
    if name == "set_language":
        from qkv.language import set_language

        return set_language
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
