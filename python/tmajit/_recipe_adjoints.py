"""Gradients of recipes (docs/rowwise.md) and of moe_permute, computed by other operations.

In every function, the attributes of `f` are the operations for one array library, and `call` is a
_adjoints.Call with its sources, its results and which sources need a gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ._libraries import type_name
from ._values import OPERATIONS, default_of

_NAMED = {operation["name"]: operation for operation in OPERATIONS}


def _axis(call: Any) -> int:
    return -1 if call.values["axis"] is None else call.values["axis"]


def _eps(call: Any) -> float:
    given = call.values["eps"]
    return default_of(_NAMED[call.name], "eps") if given is None else given


def _is_f64(call: Any) -> bool:
    return any(type_name(dtype) == "float64" for dtype in call.dtypes)


def _steps(call: Any, text: str) -> str:
    """Steps in which @ stands for the suffix of float and EPS for the argument."""
    eps = repr(float(_eps(call))) + "@" if "EPS" in text else ""
    return text.replace("EPS", eps).replace("@", "" if _is_f64(call) else "f")


def _by_row(call: Any, x: Any) -> Any:
    """A tensor with a value for each row, with an extent of 1 in place of the axis."""
    shape = list(call.shapes[0])
    shape[_axis(call)] = 1
    return x.reshape(tuple(shape))


def _along_axis(f: Any, call: Any, expression: str, terms: list) -> Any:
    """The sums over all rows of an expression's values, for each place of a row."""
    rank = len(call.shapes[0])
    axes = tuple(d for d in range(rank) if d != _axis(call) % rank)
    kind = "float64" if _is_f64(call) else "float32"
    if not axes:
        return f.map(expression, *terms, dtype=kind)
    return f.reduce(terms, "sum", axes, expression=expression, dtype=kind)


def _parts(f: Any, call: Any, x: Any) -> list:
    """The elements of x that rotary turns together: the first ones and the second ones."""
    rank, half = len(x.shape), x.shape[_axis(call)] // 2
    pairs = call.values["layout"] == "pairs"
    made = []
    for one in (slice(0, None, 2), slice(1, None, 2)) if pairs else (slice(0, half), slice(half, None)):
        slices = [slice(None)] * rank
        slices[_axis(call)] = one
        made.append(f.slice(x, tuple(slices)))
    return made


def summed_to(f: Any, gradient: Any, shape: Sequence[int], dtype: Any) -> Any:
    """The gradient of a source of that shape, from the gradient of the source after it was broadcast."""
    new = len(gradient.shape) - len(shape)
    axes = [
        axis
        for axis, extent in enumerate(gradient.shape)
        if axis < new or (shape[axis - new] == 1 and extent != 1)
    ]
    return f.reduce(gradient, "sum", tuple(axes), dtype=dtype).reshape(shape) if axes else gradient


def _softmax(f: Any, call: Any, gradients: list) -> list:
    return [f.softmax_backward(gradients[0], call.results[0], axis=_axis(call))]


def _log_softmax(f: Any, call: Any, gradients: list) -> list:
    return [f.log_softmax_backward(gradients[0], call.results[0], axis=_axis(call))]


def _logsumexp(f: Any, call: Any, gradients: list) -> list:
    sources = [_by_row(call, gradients[0]), call.sources[0], _by_row(call, call.results[0])]
    return [f.rowwise(sources, _steps(call, "y = x0 * exp@(x1 - x2)"), _axis(call))]


def _l2_normalize(f: Any, call: Any, gradients: list) -> list:
    steps = (
        "l = sqrt@(sum(x1 * x1)); c = sum(x0 * x1); r = 1.0@ / (l < EPS ? EPS : l); "
        "k = l < EPS ? 0.0@ : c * r * r * r; y = x0 * r - x1 * k"
    )
    return [f.rowwise([gradients[0], call.sources[0]], _steps(call, steps), _axis(call))]


def _weights(f: Any, call: Any, gradient: Any, x: Any, first: int, centred: bool) -> list:
    """The gradients of a norm's weight and bias, which are the sources from `first` on, from that of y."""
    found: list = [None] * (len(call.sources) - first)
    if found and call.needed[first]:
        kind = "float64" if _is_f64(call) else "float32"
        if centred:
            steps = _steps(call, "u = mean(x); c = x - u; y0 = rsqrt@(mean(c * c) + EPS); y1 = u")
            root, mean = f.rowwise(x, steps, _axis(call), dtype=kind)
            terms = [gradient, x, _by_row(call, root), _by_row(call, mean)]
            found[0] = _along_axis(f, call, "x0 * (x1 - x3) * x2", terms)
        else:
            steps = _steps(call, "y = rsqrt@(mean(x * x) + EPS)")
            root = f.rowwise(x, steps, _axis(call), dtype=kind)
            found[0] = _along_axis(f, call, "x0 * x1 * x2", [gradient, x, _by_row(call, root)])
    if len(found) > 1 and call.needed[first + 1]:
        found[1] = _along_axis(f, call, "x", [gradient])
    return found


def _norm(f: Any, call: Any, gradient: Any, x: Any, first: int) -> tuple:
    """The gradients of a norm's x, and of its weight and bias, which are the sources from `first` on."""
    centred = call.name == "layer_norm"
    backward = f.layer_norm_backward if centred else f.rms_norm_backward
    weight = call.sources[first] if len(call.sources) > first else None
    named = {"axis": _axis(call), "eps": _eps(call)}
    found = backward(gradient, x, weight, **named) if any(call.needed[:first]) else None
    return found, _weights(f, call, gradient, x, first, centred)


def _one_norm(f: Any, call: Any, gradients: list) -> list:
    found, rest = _norm(f, call, gradients[0], call.sources[0], 1)
    return [found, *rest]


def _add_rms_norm(f: Any, call: Any, gradients: list) -> list:
    found, rest = _norm(f, call, gradients[0], call.results[1], 2)
    total = None if found is None else f.map("x0 + x1", found, gradients[1])
    return [total, total, *rest]


def _cross_entropy(f: Any, call: Any, gradients: list) -> list:
    logits, labels = call.sources
    return [f.cross_entropy_backward(gradients[0], logits, labels, axis=_axis(call)), None]


def _swiglu(f: Any, call: Any, gradients: list) -> list:
    found = f.swiglu_backward(gradients[0], *call.sources, axis=_axis(call))
    return list(found) if len(call.sources) == 2 else [found]


def _rotary(f: Any, call: Any, gradients: list) -> list:
    x, cos, sin = call.sources
    (gradient,) = gradients
    named = {"axis": _axis(call), "layout": call.values["layout"]}
    found: list = [None, None, None]
    if call.needed[0]:
        found[0] = f.rotary(gradient, cos, f.map("-x", sin), **named)
    if any(call.needed[1:]):
        terms = [*_parts(f, call, gradient), *_parts(f, call, x)]
        for i, steps in ((1, "x0 * x2 + x1 * x3"), (2, "x1 * x2 - x0 * x3")):
            if call.needed[i]:
                product = f.map(steps, *terms)
                found[i] = summed_to(f, product, call.shapes[i], call.dtypes[i])
    return found


def _moe_permute(f: Any, call: Any, gradients: list) -> list:
    """A token's gradient is the sum of those of its rows; slots without a row add nothing."""
    positions = call.results[1]
    rows = f.gather(gradients[0], positions)
    return [rows if len(positions.shape) == 1 else f.reduce(rows, "sum", 1), None]


def _top_k(f: Any, call: Any, gradients: list) -> list:
    """The places of a row's results are different: each element gets one gradient, or none."""
    places = call.results[1]
    zeros = f.zeros(call.shapes[0], gradients[0])
    return [f.scatter_add(gradients[0], places, _axis(call), along=True, out=zeros)]


#: By name, the function that computes the gradients of a recipe's sources from those of its results; so does
#: that of an operation whose gradient depends on its results.
RECIPES: dict[str, Callable[[Any, Any, list], list]] = {
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "logsumexp": _logsumexp,
    "l2_normalize": _l2_normalize,
    "rms_norm": _one_norm,
    "layer_norm": _one_norm,
    "add_rms_norm": _add_rms_norm,
    "cross_entropy": _cross_entropy,
    "swiglu": _swiglu,
    "rotary": _rotary,
    "moe_permute": _moe_permute,
    "top_k": _top_k,
}
