"""Options of the runtimes that the package makes for each device."""

from __future__ import annotations

from . import _core


def options(
    *, when_missing: str = "compile", allow_other_rounding: bool = False, background_compiles: int = 2
) -> None:
    """Sets options of all devices. Must be called before the first operation, plan, kernel or prefetch.

    Args:
        when_missing: what an operation does whose kernel is in no cache. "compile" waits for the compiler.
            "serve" runs another kernel that is there, makes the better one in the background and swaps it in
            between two calls; without another kernel it waits. "refuse" raises an Error with the code
            "missing_kernel", and no compiler is loaded.
        allow_other_rounding: whether "serve" may also use kernels that add up floating-point numbers in
            another order or round products differently, so that results can change at the swap.
        background_compiles: the most threads that make kernels in the background.

    Raises:
        ArgumentError: an unknown word, a negative number, or a device is in use already.
    """
    _core.set_missing(when_missing, allow_other_rounding, background_compiles)
