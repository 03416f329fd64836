"""Kernels that are made in the background, before they are asked for."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from . import _core
from ._plans import _found

Prefetch = _core.Prefetch


def prefetch(calls: Iterable[tuple], threads: int = 0) -> Prefetch:
    """Makes the kernels of operations in background threads, and returns at once.

    Args:
        calls: a tuple for each call: the name of the operation and a sequence of its sources, and perhaps a
            dict of its arguments, which may contain `out` and `dtype`. Only the layout, type and alignment
            of the tensors matter.
        threads: the most background threads, if these are more than the runtime has.

    Returns:
        A Prefetch. `done`, `made` and `total` count kernels, `failures` lists the kernels that could not be
        made as (kernel, error), wait() waits, and cancel() drops those that no thread makes yet.

    Raises:
        ArgumentError, SpecError: a call is illegal.
    """
    made = []
    for operation, sources, *rest in calls:
        arguments = dict(rest[0]) if rest else {}
        out = arguments.pop("out", None)
        dtype = arguments.pop("dtype", None)
        number, values = _found(operation, arguments)
        made.append((number, tuple(sources), out, dtype, values))
    return _core.make_prefetch(made, threads)


def _wait(
    self: Prefetch, timeout: float | None = None, progress: Callable[[int, int], Any] | None = None
) -> bool:
    """Waits until all kernels are done: made, failed or cancelled.

    Args:
        timeout: the most seconds to wait; by default there is no limit.
        progress: called in this thread with `done` and `total`, whenever `done` has changed.

    Returns:
        Whether all kernels are done.
    """
    end = None if timeout is None else time.monotonic() + timeout
    reported = -1
    while True:
        left = 0.1 if end is None else min(max(end - time.monotonic(), 0.0), 0.1)
        finished = self._wait_for(int(left * 1000))
        if progress is not None and self.done != reported:
            reported = self.done
            progress(reported, self.total)
        if finished:
            return True
        if end is not None and time.monotonic() >= end:
            return False


Prefetch.wait = _wait
