"""Reductions and scans under the names that NumPy gives them."""

from __future__ import annotations

from typing import Any

from ._operations import reduce, scan
from ._types import Axes, DType, Tensor


def _reduction(op: str, summary: str):
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


def _scan(op: str, name: str, summary: str):
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


sum = _reduction("sum", "The sum")
mean = _reduction("mean", "The mean")
min = _reduction("min", "The least element (NaN propagates)")
max = _reduction("max", "The greatest element (NaN propagates)")
any = _reduction("any", "1 if any element is not 0, else 0,")
all = _reduction("all", "1 if no element is 0, else 0,")
argmin = _reduction("arg_min", "The index of the first least element")
argmax = _reduction("arg_max", "The index of the first greatest element")
cumsum = _scan("sum", "cumsum", "Cumulative sums")
cumprod = _scan("product", "cumprod", "Cumulative products")
cummin = _scan("min", "cummin", "Cumulative minima")
cummax = _scan("max", "cummax", "Cumulative maxima")

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
