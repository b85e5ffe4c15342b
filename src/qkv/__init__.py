"""The package behind *The Runnable Transformer*: one concept, one name, in every room."""

__version__: str


def __getattr__(name: str) -> object:
    """`__version__` and `set_language`, looked up when asked for: to import qkv is no work."""
    if name == "__version__":
        from importlib.metadata import version

        return version("qkv")
    if name == "set_language":
        from qkv.language import set_language

        return set_language
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
