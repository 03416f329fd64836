"""Reductions and scans under NumPy's names, and the functions of tmajit.torch and tmajit.jax."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from . import _operations
from ._types import Axes, DType, Tensor


def _reduction(reduce: Callable, op: str, summary: str) -> Callable:
    def function(
        x: Tensor,
        axes: Axes | None = None,
        keep_dims: bool = False,
        *,
        out: Tensor | None = None,
        dtype: DType | None = None,
    ) -> Any:
        return reduce(x, op, axes, keep_dims=keep_dims, out=out, dtype=dtype)

    function.__name__ = function.__qualname__ = op.replace("_", "")
    function.__doc__ = (
        f"{summary} along axes; by default along all axes.\n\n"
        f'The same as reduce(x, "{op}", axes, keep_dims=keep_dims, out=out, dtype=dtype).'
    )
    return function


def _scan(scan: Callable, op: str, name: str, summary: str) -> Callable:
    def function(
        x: Tensor,
        axis: int | None = None,
        *,
        exclusive: bool = False,
        reverse: bool = False,
        out: Tensor | None = None,
        dtype: DType | None = None,
    ) -> Any:
        bound = "exclusive" if exclusive else None
        direction = "backwards" if reverse else None
        return scan(x, op, axis, bound, direction, out=out, dtype=dtype)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"{summary} along an axis; by default along the last one.\n\n"
        f'The same as scan(x, "{op}", axis, …); with exclusive=True the element itself is not included.'
    )
    return function


def conveniences(reduce: Callable, scan: Callable) -> tuple[Callable, ...]:
    """The functions that __all__ names, as calls of `reduce` and `scan`."""
    return (
        _reduction(reduce, "sum", "The sum"),
        _reduction(reduce, "mean", "The mean"),
        _reduction(reduce, "min", "The least element (NaN propagates)"),
        _reduction(reduce, "max", "The greatest element (NaN propagates)"),
        _reduction(reduce, "any", "1 if any element is not 0, else 0,"),
        _reduction(reduce, "all", "1 if no element is 0, else 0,"),
        _reduction(reduce, "arg_min", "The index of the first least element"),
        _reduction(reduce, "arg_max", "The index of the first greatest element"),
        _scan(scan, "sum", "cumsum", "Cumulative sums"),
        _scan(scan, "product", "cumprod", "Cumulative products"),
        _scan(scan, "min", "cummin", "Cumulative minima"),
        _scan(scan, "max", "cummax", "Cumulative maxima"),
    )


sum, mean, min, max, any, all, argmin, argmax, cumsum, cumprod, cummin, cummax = conveniences(
    _operations.reduce, _operations.scan
)

__all__ = [
    "sum",
    "mean",
    "min",
    "max",
    "any",
    "all",
    "argmin",
    "argmax",
    "cumsum",
    "cumprod",
    "cummin",
    "cummax",
]


def functions_over(namespace: dict[str, Any]) -> dict[str, Callable]:
    """Copies of all functions of tmajit, which call _one(), _some() and _all() of `namespace`."""
    made: dict[str, Callable] = {}
    for name in _operations.__all__:
        function = getattr(_operations, name)
        made[name] = FunctionType(function.__code__, namespace, name, function.__defaults__)
        made[name].__kwdefaults__ = function.__kwdefaults__
        made[name].__annotations__ = function.__annotations__
        made[name].__doc__ = function.__doc__
    return made | dict(zip(__all__, conveniences(made["reduce"], made["scan"]), strict=True))
