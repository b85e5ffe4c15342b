"""The package behind *The Runnable Transformer*: one concept, one name, in every room."""


def __getattr__(name: str) -> str:
    """`qkv.__version__`, looked up when somebody asks for it: to import qkv is no work."""
    if name == "__version__":
        from importlib.metadata import version

        return version("qkv")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
