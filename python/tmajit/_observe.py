"""Where kernels came from, and how long they took: counters, history, and a call for each new kernel."""

import logging
import threading
from collections.abc import Callable
from typing import Any

from . import _core

_listeners: list[Callable[[dict[str, Any]], None]] = []
_lock = threading.Lock()


def counters(gpu: int | None = None) -> dict[str, Any]:
    """The counters of a GPU's runtime, or of the simulated device's: requests, times, bytes, swaps."""
    return _core.counters(gpu)


def history(gpu: int | None = None) -> list[dict[str, Any]]:
    """The last kernels of a GPU's runtime, or the simulated device's: at most 256, the oldest first."""
    return _core.history(gpu)


def on_kernel(function: Callable[[dict[str, Any]], None]) -> None:
    """Calls `function` with the record of each kernel that is made from now on, on any device.

    The calls come from a thread of their own, shortly after the kernel was made, so that they delay nothing.
    An exception is logged.
    """
    with _lock:
        _listeners.append(function)
        if len(_listeners) == 1:
            _core.start_records()
            threading.Thread(target=_listen, name="tmajit records", daemon=True).start()


def _listen() -> None:
    while True:
        record = _core.next_record()
        for function in list(_listeners):
            try:
                function(record)
            except Exception:
                logging.getLogger("tmajit").exception("the function of on_kernel() failed")
