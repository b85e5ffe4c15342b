"""Public names of the rooms' packages: each is listed once, in the `__all__` of its module."""

import sys
from types import ModuleType

__all__ = ["publish"]


def publish(package: str) -> None:
    """Set the package's `__all__` to what its star imports brought: names of no module, no `_name`.

    A type checker follows the star imports, and would not follow an `__all__` that is computed.
    """
    names = vars(sys.modules[package])
    names["__all__"] = sorted(
        name
        for name, value in names.items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    )
