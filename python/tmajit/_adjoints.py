"""Gradients of the linear operations and of recipes, computed by other operations.

In every function, the attributes of `f` are the operations for one array library: tmajit.torch, for example.
Its function `zeros(shape, like)` makes an array of the type of `like`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

from ._recipe_adjoints import RECIPES, summed_to
from ._shapes import Shape, Windows, axes_of, is_zero, pairs_of, selected, slices_of


class Call(NamedTuple):
    """A call whose results have gradients."""

    name: str  #: the operation
    shapes: Sequence[Shape]  #: of the sources
    dtypes: Sequence[Any]  #: of the sources
    #: The sources of a recipe, or of an operation in NEEDS_SOURCES, where a source is None if the other
    #: source needs no gradient. None for other operations.
    sources: Sequence[Any] | None
    values: dict[str, Any]  #: the arguments; None stands for the default
    results: Sequence[Any] = ()  #: of a recipe
    needed: Sequence[bool] = ()  #: which of a recipe's sources need a gradient


def _padded(f: Any, x: Any, widths: Sequence[tuple[int, int]]) -> Any:
    return x if all(is_zero(number) for width in widths for number in width) else f.pad(x, widths)


def _spread(f: Any, x: Any, steps: Sequence[int], before: Sequence[int], extents: Shape) -> Any:
    """Zeros of the shape `extents` with x's element i at before + i * step; elements outside are dropped."""
    for axis, step in enumerate(steps):
        if step > 1:
            shape = tuple(x.shape)
            outer, n, inner = prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])
            x = f.pad(x.reshape((outer, n, 1, inner)), ((0, 0), (0, 0), (0, step - 1), (0, 0)))
            x = x.reshape((*shape[:axis], n * step, *shape[axis + 1 :]))
    ends = [extent - first - n for extent, first, n in zip(extents, before, x.shape, strict=True)]
    return _padded(f, x, tuple(zip(before, ends, strict=True)))


def _copy(f: Any, call: Call, gradients: list) -> list:
    return gradients


def _permute(f: Any, call: Call, gradients: list) -> list:
    axes = axes_of(call.values["axes"], len(call.shapes[0]))
    return [f.permute(gradients[0], tuple(axes.index(axis) for axis in range(len(axes))))]


def _flip(f: Any, call: Call, gradients: list) -> list:
    return [f.flip(gradients[0], call.values["axes"])]


def _slice(f: Any, call: Call, gradients: list) -> list:
    (gradient,), (shape,) = gradients, call.shapes
    steps, before, backwards = [], [], []
    for axis, one in enumerate(slices_of(call.values["slices"], len(shape))):
        start, n, step = selected(one, shape[axis])
        steps.append(abs(step))
        before.append((start if step > 0 else start + (n - 1) * step) if n else 0)
        if step < 0 and n > 1:
            backwards.append(axis)
    if backwards:
        gradient = f.flip(gradient, tuple(backwards))
    return [_spread(f, gradient, steps, before, shape)]


def _broadcast(f: Any, call: Call, gradients: list) -> list:
    (gradient,), (shape,), (dtype,) = gradients, call.shapes, call.dtypes
    return [summed_to(f, gradient, shape, dtype)]


def _pad(f: Any, call: Call, gradients: list) -> list:
    widths = tuple((-before, -after) for before, after in pairs_of(call.values["widths"]))
    return [_padded(f, gradients[0], widths)]


def _concat(f: Any, call: Call, gradients: list) -> list:
    axis = call.values["axis"]
    if call.values["new_axis"] in (True, "yes"):
        return list(f.split(gradients[0], axis, drop_axis=True))
    return list(f.split(gradients[0], axis, tuple(shape[axis] for shape in call.shapes)))


def _split(f: Any, call: Call, gradients: list) -> list:
    new_axis = call.values["drop_axis"] in (True, "yes")
    return [f.concat(gradients, call.values["axis"], new_axis=new_axis)]


def _reduce(f: Any, call: Call, gradients: list) -> list:
    (gradient,), (shape,) = gradients, call.shapes
    axes = axes_of(call.values["axes"], len(shape))
    if call.values["op"] == "mean":
        gradient = gradient / prod(shape[axis] for axis in axes)
    kept = tuple(1 if axis in axes else extent for axis, extent in enumerate(shape))
    return [f.broadcast(gradient.reshape(kept), shape)]


def _scan(f: Any, call: Call, gradients: list) -> list:
    values = call.values
    direction = "forwards" if values["direction"] == "backwards" else "backwards"
    return [f.scan(gradients[0], "sum", values["axis"], values["bound"], direction)]


def _indexing(call: Call) -> dict[str, Any]:
    names = ("axes", "along", "out_of_range", "flat")
    return {name: call.values[name] for name in names if name in call.values}


def _gather(f: Any, call: Call, gradients: list) -> list:
    _, *index = call.sources
    zeros = f.zeros(call.shapes[0], gradients[0])
    return [f.scatter_add(gradients[0], index, **_indexing(call), out=zeros), *[None] * len(index)]


def _scatter_add(f: Any, call: Call, gradients: list) -> list:
    """The last source is the tensor that is added to."""
    _, *index, _ = call.sources
    return [f.gather(gradients[0], index, **_indexing(call)), *[None] * len(index), gradients[0]]


def _gather_sum(f: Any, call: Call, gradients: list) -> list:
    (gradient,), (x, index, *weights) = gradients, call.sources
    ragged = call.values["ragged"] in (True, "yes")
    offsets = weights.pop() if ragged else None
    rank, terms = len(call.shapes[0]), call.shapes[1]
    axes = axes_of(0 if call.values["axes"] is None else call.values["axes"], rank)
    before, after = axes[0], rank - axes[-1] - 1
    if gradient.dtype.itemsize < 4:
        gradient = f.cast(gradient, "float32")
    shape, place = tuple(gradient.shape), before + len(terms) - 1
    whole = (*shape[:place], terms[-1], *shape[place + ragged :])
    if ragged:
        # Each index gets the gradient of its bag; an index before the first bag or after the last gets zeros.
        spread = f.gather(gradient, f.bags(offsets, terms[0]), before)
    else:
        # The gradient with a dimension of one element, which is that of the terms.
        spread = gradient.reshape((*shape[:place], 1, *shape[place:]))
    found: list = [None] * len(call.sources)
    if not weights or weights[0] is not None:
        if weights:
            moved = spread * weights[0].reshape((*(1,) * before, *terms, *(1,) * after))
        else:
            moved = spread if ragged else f.broadcast(spread, whole)
        found[0] = f.scatter_add(moved, index, **_indexing(call), out=f.zeros(call.shapes[0], moved))
    if weights and x is not None:
        products = spread * f.gather(x, index, **_indexing(call))
        others = (*range(before), *range(place + 1, len(whole)))
        found[2] = f.reduce(products, "sum", others) if others else products
    return found


def _im2col(f: Any, call: Call, gradients: list) -> list:
    windows = Windows(call.shapes, call.values)
    images, channels = call.shapes[0][0], call.shapes[0][-1]
    rank = len(windows.extents)
    gradient = gradients[0].reshape((images, *windows.counts, *windows.taps, channels))
    for d in reversed(range(rank)):
        # The windows and taps of one dimension become its pixels.
        axis, pixels = 1 + rank + d, 1 + d
        parts = []
        for tap, part in enumerate(f.split(gradient, axis, (1,) * windows.taps[d])):
            shape = tuple(part.shape)
            part = part.reshape((*shape[:axis], *shape[axis + 1 :]))
            before, to, strides = [0] * part.ndim, list(part.shape), [1] * part.ndim
            before[pixels] = tap * windows.dilations[d] - windows.padding[d]
            to[pixels] = windows.extents[d]
            strides[pixels] = windows.steps[d]
            parts.append(_spread(f, part, strides, before, tuple(to)))
        gradient = f.reduce(f.concat(parts, 0, new_axis=True), "sum", 0) if len(parts) > 1 else parts[0]
    return [gradient]


def _convolution(f: Any, call: Call, gradients: list) -> list:
    windows = Windows(call.shapes, call.values)
    extents, taps, steps, dilations = windows.extents, windows.taps, windows.steps, windows.dilations
    (n, *_, channels), (outputs, *_) = call.shapes
    images, filters = call.sources
    last = len(extents) + 1
    pixels = tuple(range(1, last))
    swapped = (last, *pixels, 0)
    gradient = gradients[0].reshape((n, *windows.counts, outputs))
    reaches = [(k - 1) * dilation for k, dilation in zip(taps, dilations, strict=True)]
    images_gradient = filters_gradient = None
    if filters is not None:
        # A convolution of the gradient, spread by the strides, with the reversed filter.
        before = [0, *(reach - first for reach, first in zip(reaches, windows.padding, strict=True)), 0]
        to = (n, *(extent + reach for extent, reach in zip(extents, reaches, strict=True)), outputs)
        spread = _spread(f, gradient, (1, *steps, 1), before, to)
        images_gradient = f.convolution(
            spread, f.permute(f.flip(filters, pixels), swapped), dilations=dilations
        )
        images_gradient = images_gradient.reshape(call.shapes[0])
    if images is not None:
        # A convolution of the images, with their first and last dimensions swapped, and of the gradient as
        # the filter.
        widths = [
            (first, reach + (count - 1) * step + 1 - extent - first)
            for first, reach, count, step, extent in zip(
                windows.padding, reaches, windows.counts, steps, extents, strict=True
            )
        ]
        found = f.convolution(
            _padded(f, f.permute(images, swapped), ((0, 0), *widths, (0, 0))),
            f.permute(gradient, swapped),
            strides=dilations,
            dilations=steps,
        )
        filters_gradient = f.permute(found.reshape((channels, *taps, outputs)), swapped)
    return [images_gradient, filters_gradient]


_ADJOINTS: dict[str, Callable[[Any, Call, list], list]] = {
    "copy": _copy,
    "copy_ragged": _copy,
    "cast": _copy,  # gradients() casts to the sources' types
    "permute": _permute,
    "flip": _flip,
    "slice": _slice,
    "broadcast": _broadcast,
    "pad": _pad,
    "concat": _concat,
    "split": _split,
    "reduce": _reduce,
    "scan": _scan,
    "gather": _gather,
    "scatter_add": _scatter_add,
    "gather_sum": _gather_sum,
    "im2col": _im2col,
    "convolution": _convolution,
}
_ADJOINTS |= RECIPES
#: The operations whose gradients depend on the sources' elements.
NEEDS_SOURCES = ("convolution", "gather", "scatter_add", "gather_sum")
#: The operators of reduce and scan that are linear.
_LINEAR = {"reduce": ("sum", "mean"), "scan": ("sum",)}


def why_not(name: str, values: dict[str, Any]) -> str:
    """The sentence that tells why a call has no gradient; empty if it has one."""
    if name not in _ADJOINTS:
        return f"tmajit.{name} has no gradient: only linear operations and some recipes have one"
    for argument in ("expression", "epilogue"):
        if values.get(argument) is not None:
            return (
                f"tmajit.{name} with an {argument} has no gradient; leave it out, and compute it by "
                "PyTorch's or JAX's functions"
            )
    if name == "top_k" and values["index"] == "no":
        return "tmajit.top_k without an index has no gradient"
    if name in _LINEAR and values["op"] not in _LINEAR[name]:
        legal = " or ".join(f'"{op}"' for op in _LINEAR[name])
        return f'tmajit.{name} with "{values["op"]}" has no gradient; it has one with {legal}'
    return ""


def gradients(f: Any, call: Call, given: list) -> list:
    """The gradients of a call's sources from those of its results. why_not() must be empty."""
    found = _ADJOINTS[call.name](f, call, given)
    return [
        gradient if gradient is None or gradient.dtype == dtype else f.cast(gradient, dtype)
        for gradient, dtype in zip(found, call.dtypes, strict=True)
    ]
