"""Check arguments once, at the public call: the layers that it calls do not check them again."""

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

__all__ = ["CheckedCall"]

Call = TypeVar("Call", bound=Callable[..., Any])


class CheckedCall(threading.local):
    """Whether this thread is inside a call that has checked what it hands on; each room has one.

    `@checked_by(its_check)` sets `checked_call` as long as its method runs.

    Args:
        is_traced: whether a compiler traces this call; it keeps no check, so each layer has its
            own there. None has no compiler.
    """

    def __init__(self, is_traced: Callable[[], bool] | None = None) -> None:
        self.is_traced = is_traced
        self.checked_call = False

    def checked_by(self, check: Callable[..., None], *name: str) -> Callable[[Call], Call]:
        """Decorator of a method that calls layers: its check holds for all of them.

        In torch it is part of `forward` and not of `__call__`, so that it sees what hooks have made
        of the arguments.

        Args:
            check: takes what the method takes, and refuses what does not fit.
            name: what the check calls this method, and takes before that, if it is that of others.
        """
        is_traced = self.is_traced

        def decorate(call: Call) -> Call:
            @wraps(call)
            def checked_call(layer: Any, *args: Any, **kwargs: Any) -> Any:
                if is_traced is not None and is_traced():
                    check(layer, *name, *args, **kwargs)
                    return call(layer, *args, **kwargs)
                if self.checked_call:
                    return call(layer, *args, **kwargs)
                check(layer, *name, *args, **kwargs)
                try:
                    self.checked_call = True
                    return call(layer, *args, **kwargs)
                finally:
                    self.checked_call = False

            # A compiler counts how often it has compiled one code: each method has its own.
            method: Any = checked_call
            method.__code__ = method.__code__.replace(co_qualname=call.__qualname__)
            checked: Call = method
            return checked

        return decorate
