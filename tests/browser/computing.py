"""How long a page computes, in seconds of the processor, which no other work makes longer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from playwright.sync_api import Page


@dataclass
class Computed:
    seconds: float = 0.0


@contextmanager
def computing(page: Page) -> Iterator[Computed]:
    """Count the seconds that a page's main thread computes while this is open.

    That is how long the page would be dead to its reader on a machine that does nothing else.
    """
    devtools = page.context.new_cdp_session(page)
    devtools.send("Performance.enable", {"timeDomain": "threadTicks"})

    def thread_time() -> float:
        metrics = devtools.send("Performance.getMetrics")["metrics"]
        return float(next(each["value"] for each in metrics if each["name"] == "ThreadTime"))

    computed, before = Computed(), thread_time()
    yield computed
    computed.seconds = thread_time() - before
    devtools.detach()
