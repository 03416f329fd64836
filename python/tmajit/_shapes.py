"""Shapes of results, computed from extents that may be symbolic.

PyTorch traces dynamic shapes with symbolic extents, but tmajit._core computes with known extents only. The
functions here use arithmetic and comparisons. Each comparison that PyTorch cannot decide becomes a guard, and
PyTorch traces again where it has another outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from . import _core
from ._values import FAR, OPERATIONS

Shape = tuple[int, ...]


def is_zero(number: Any) -> bool:
    """Whether a number is 0 for all values of the symbols in it. Makes no guard."""
    node = getattr(number, "node", None)  # of a symbolic number
    return (number if node is None else node.maybe_as_int()) == 0


def axes_of(axes: Any, rank: int) -> tuple[int, ...]:
    """An argument `axes`, as dimensions counted from the front; all dimensions if it is None or empty."""
    axes = (axes,) if isinstance(axes, int) else tuple(axes or ())
    return tuple(axis % rank for axis in axes) or tuple(range(rank))


def pairs_of(widths: Any) -> list[tuple[int, int]]:
    """An argument `widths`, as the elements before and after each dimension."""
    return [(width[0], width[-1]) if isinstance(width, (tuple, list)) else (width, width) for width in widths]


def slices_of(slices: Any, rank: int) -> list[slice]:
    """An argument `slices`, with a slice for each dimension."""
    given = [slices] if isinstance(slices, slice) else list(slices)
    return given + [slice(None)] * (rank - len(given))


def _index(bound: int, extent: int, low: int, high: int) -> int:
    """A bound of a slice as an index from the front, between `low` and `high`."""
    if isinstance(bound, int) and abs(bound) >= FAR:
        return high if bound > 0 else low  # without a guard
    if bound < 0:
        bound = bound + extent
        return low if bound < low else bound
    return high if bound > high else bound


def selected(one: slice, extent: int) -> tuple[int, int, int]:
    """The first index that a slice selects, the number of indices, and the step between them."""
    step = 1 if one.step is None else one.step
    low, high = (0, extent) if step > 0 else (-1, extent - 1)
    start, stop = (low, high) if step > 0 else (high, low)
    if one.start is not None:
        start = _index(one.start, extent, low, high)
    if one.stop is not None:
        stop = _index(one.stop, extent, low, high)
    distance, size = (stop - start, step) if step > 0 else (start - stop, -step)
    return start, (distance + size - 1) // size if distance > 0 else 0, step


class Windows:
    """The windows of images, and of a convolution's filter if there is one, by dimension of an image."""

    def __init__(self, shapes: Sequence[Shape], values: dict[str, Any]) -> None:
        self.extents = shapes[0][1:-1]
        rank = len(self.extents)

        def numbers(given: Any) -> Shape:
            if given is None:
                return (1,) * rank
            return tuple(given) if isinstance(given, (tuple, list)) else (given,) * rank

        self.taps = tuple(shapes[1][1:-1]) if len(shapes) > 1 else numbers(values["filter"])
        self.steps, self.dilations = numbers(values["strides"]), numbers(values["dilations"])
        pairs = pairs_of(values["padding"] or (0,) * rank)
        self.padding = [before for before, _ in pairs]  #: before the images
        self.counts = tuple(
            (extent + sum(pair) - (k - 1) * dilation - 1) // step + 1
            for extent, pair, k, dilation, step in zip(
                self.extents, pairs, self.taps, self.dilations, self.steps, strict=True
            )
        )


def common_shape(shapes: Sequence[Shape]) -> Shape:
    """The shape to which sources are repeated, by NumPy's rules."""
    common = [1] * max(map(len, shapes))
    for shape in shapes:
        for k in range(1, len(shape) + 1):
            if common[-k] == 1:
                common[-k] = shape[-k]
    return tuple(common)


def _common(shapes: Sequence[Shape], values: dict[str, Any]) -> list[Shape]:
    return [common_shape(shapes)]


def _permute(shapes: Sequence[Shape], values: dict[str, Any]) -> list[Shape]:
    axes = values["axes"]
    return [tuple(shapes[0][axis] for axis in ((axes,) if isinstance(axes, int) else axes))]


def _slice(shapes: Sequence[Shape], values: dict[str, Any]) -> list[Shape]:
    slices = slices_of(values["slices"], len(shapes[0]))
    return [tuple(selected(one, extent)[1] for one, extent in zip(slices, shapes[0], strict=True))]


def _broadcast(shapes: Sequence[Shape], values: dict[str, Any]) -> list[Shape]:
    return [tuple(values["shape"])]


def _pad(shapes: Sequence[Shape], values: dict[str, Any]) -> list[Shape]:
    pairs = pairs_of(values["widths"])
    return [tuple(before + n + after for n, (before, after) in zip(shapes[0], pairs, strict=True))]


def _concat(shapes: Sequence[Shape], values: dict[str, Any]) -> list[Shape]:
    axis, first = values["axis"], shapes[0]
    if values["new_axis"] in (True, "yes"):
        axis %= len(first) + 1
        return [(*first[:axis], len(shapes), *first[axis:])]
    axis %= len(first)
    return [(*first[:axis], sum(shape[axis] for shape in shapes), *first[axis + 1 :])]


def _split(shapes: Sequence[Shape], values: dict[str, Any]) -> list[Shape]:
    axis = values["axis"] % len(shapes[0])
    before, after = shapes[0][:axis], shapes[0][axis + 1 :]
    # Without parts each index is a part: the number of results fixes the extent.
    parts = (1,) * int(shapes[0][axis]) if values["parts"] is None else values["parts"]
    if values["drop_axis"] in (True, "yes"):
        return [(*before, *after) for _ in parts]
    return [(*before, part, *after) for part in parts]


def _copy_ragged(shapes: Sequence[Shape], values: dict[str, Any]) -> list[Shape]:
    return list(shapes)


def _reduce(shapes: Sequence[Shape], values: dict[str, Any]) -> list[Shape]:
    whole = common_shape(shapes)
    reduced = axes_of(values["axes"], len(whole))
    if values["keep_dims"] in (True, "yes"):
        return [tuple(1 if axis in reduced else n for axis, n in enumerate(whole))]
    return [tuple(n for axis, n in enumerate(whole) if axis not in reduced)]


def _gather(shapes: Sequence[Shape], values: dict[str, Any]) -> list[Shape]:
    source, index = shapes[0], common_shape(shapes[1:])
    axes = axes_of(0 if values["axes"] is None else values["axes"], len(source))
    if values["along"] in (True, "yes"):
        return [common_shape([(*source[: axes[0]], 1, *source[axes[0] + 1 :]), index])]
    return [(*source[: axes[0]], *index, *source[axes[-1] + 1 :])]


def _moe_permute(shapes: Sequence[Shape], values: dict[str, Any]) -> list[Shape]:
    (_, *row), experts = shapes
    alignment = 1 if values["alignment"] is None else values["alignment"]
    pairs, count = prod(experts), values["count"]
    used = count if count < pairs else pairs
    rows = (pairs + used * (alignment - 1) + alignment - 1) // alignment * alignment
    return [(rows, *row), tuple(experts), (count,), (count + 1,)]


def _gather_sum(shapes: Sequence[Shape], values: dict[str, Any]) -> list[Shape]:
    source, index = shapes[0], shapes[1]
    axes = axes_of(0 if values["axes"] is None else values["axes"], len(source))
    bags = (shapes[-1][0] - 1,) if values["ragged"] in (True, "yes") else index[:-1]
    return [(*source[: axes[0]], *bags, *source[axes[-1] + 1 :])]


def _windows(shapes: Sequence[Shape], values: dict[str, Any]) -> list[Shape]:
    windows = Windows(shapes, values)
    row = shapes[1][0] if len(shapes) > 1 else shapes[0][-1] * prod(windows.taps)
    return [(shapes[0][0] * prod(windows.counts), row)]


def _rowwise(shapes: Sequence[Shape], values: dict[str, Any]) -> list[Shape]:
    whole = common_shape(shapes)
    axes = axes_of(values["axes"], len(whole)) if values["axes"] is not None else (len(whole) - 1,)
    rows = tuple(n for axis, n in enumerate(whole) if axis not in axes)
    # The steps tell which results have a value for each element. The library reads them; any extents will do.
    arguments = (values["steps"], axes)
    ones = [*(("float32", (1,) * len(shape)) for shape in shapes), *[0.0] * values.get("numbers", 0)]
    described = _core.describe_results(_core.find_operation("rowwise"), ones, None, arguments)
    return [whole if len(shape) == len(whole) else rows for _, shape in described]


def _recipe(operation: dict[str, Any]) -> Callable[[Sequence[Shape], dict[str, Any]], list[Shape]]:
    named, results = operation["sources"], operation["results"]
    of_rows = [source["shape"] in ("rows", "halves", "rows_or_halves") for source in named].index(True)
    may_join = any(source["shape"] == "rows_or_halves" for source in named)

    def compute(shapes: Sequence[Shape], values: dict[str, Any]) -> list[Shape]:
        joined = may_join and len(shapes) < len(named)
        own = shapes[of_rows]
        axis = (-1 if values.get("axis") is None else values["axis"]) % len(own)
        block = values.get("block") or 0
        square = block or 128
        before, n, after = own[:axis], own[axis], own[axis + 1 :]

        def shape_of(result: dict[str, Any]) -> Shape:
            kind = result["shape"]
            if kind == "row" or (kind == "block" and not block):
                return (*before, *after)
            if kind == "tensor":
                return ()
            if kind == "tile":
                return (*own[:-2], own[-2] // square, own[-1] // square)
            if kind == "block":
                return (*before, n // block, *after)
            if joined and kind != named[of_rows]["shape"]:  # of swiglu: y, whose a holds both halves; or da
                return (*before, n // 2 if kind == "rows" else 2 * n, *after)
            return own

        return [shape_of(result) for result in results[: 1 if joined else None]]

    return compute


def _top_k(shapes: Sequence[Shape], values: dict[str, Any]) -> list[Shape]:
    shape = list(shapes[0])
    shape[-1 if values["axis"] is None else values["axis"]] = values["k"]
    return [tuple(shape)] * (1 if values["index"] == "no" else 2)


def _cast_transpose(shapes: Sequence[Shape], values: dict[str, Any]) -> list[Shape]:
    orders = values["orders"] or "both"
    own = tuple(shapes[0])
    plain = [own] if orders != "transposed" else []
    transposed = [(*own[:-2], own[-1], own[-2])] if orders != "plain" else []
    return [*plain, *transposed, *([] if values["amax"] in (False, "no") else [()])]


_RESULTS: dict[str, Callable[[Sequence[Shape], dict[str, Any]], list[Shape]]] = {
    "copy": _common,
    "permute": _permute,
    "slice": _slice,
    "flip": _common,
    "broadcast": _broadcast,
    "pad": _pad,
    "cast": _common,
    "concat": _concat,
    "split": _split,
    "map": _common,
    "stencil": _common,
    "reduce": _reduce,
    "scan": _common,
    "rowwise": _rowwise,
    "cast_transpose": _cast_transpose,
    "top_k": _top_k,
    "gather": _gather,
    "moe_permute": _moe_permute,
    "gather_sum": _gather_sum,
    "copy_ragged": _copy_ragged,
    "im2col": _windows,
    "convolution": _windows,
} | {operation["name"]: _recipe(operation) for operation in OPERATIONS if operation["sources"]}


def is_described(operation: str) -> bool:
    """Whether results() computes the shapes of the operation's results."""
    return operation in _RESULTS


def results(operation: str, shapes: Sequence[Shape], values: dict[str, Any]) -> list[Shape]:
    """The shapes of the results of a legal call.

    Args:
        operation: the name of an operation for which is_described() is true.
        shapes: the shapes of the sources.
        values: the operation's arguments by name; None stands for the default. "numbers" is how many numbers
            follow the sources; 0 if it is absent.
    """
    return _RESULTS[operation](shapes, values)
