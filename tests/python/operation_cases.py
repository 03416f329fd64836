"""One or more calls of each operation, for the tests of PyTorch's operators and of JAX's functions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tmajit import _values

#: The descriptions of recipes, by name.
RECIPES = {operation["name"]: operation for operation in _values.OPERATIONS if operation["sources"]}


def numbers(*shape: int) -> np.ndarray:
    """Whole numbers, so that sums are exact in any order."""
    return np.random.default_rng(7).integers(-8, 9, shape).astype(np.float32)


def different(*shape: int) -> np.ndarray:
    """Different whole numbers, so that a small step changes no order."""
    return np.random.default_rng(7).permutation(np.prod(shape)).reshape(shape).astype(np.float32)


def indices(*places: int) -> np.ndarray:
    return np.array(places, np.int32)


class Case(NamedTuple):
    """One call; its sources are float32, except index tensors and a recipe's labels and quantised rows."""

    name: str
    sources: np.ndarray | list
    arguments: dict[str, Any]

    @property
    def many(self) -> bool:
        """Whether the call takes several sources."""
        return isinstance(self.sources, list)

    @property
    def linear(self) -> bool:
        """Whether the results are linear in all sources, so that each has gradients."""
        if self.name in (
            "map",
            "stencil",
            "rowwise",
            "cast_transpose",
            "gather",
            "gather_sum",
            "moe_permute",
            "top_k",
            "tiles",
            *RECIPES,
        ):
            return False
        return self.arguments.get("op") in (None, "sum", "mean")

    def __str__(self) -> str:
        return f"{self.name} {self.arguments}"

    def call(self, module, convert, **named):
        """Calls the function of `module` on the sources that `convert` makes."""
        sources = [convert(x) for x in self.sources] if self.many else convert(self.sources)
        return self.call_on(module, sources, **named)

    def call_on(self, module, sources, **named):
        arguments = self.arguments | named
        function = getattr(module, self.name)
        if self.name in ("map", "stencil"):
            return function(arguments.pop("expression"), *sources, **arguments)
        if self.name == "gather":
            return function(sources[0], list(sources[1:]), **arguments)
        if arguments.pop("ragged", False):
            return function(*sources[:-1], offsets=sources[-1], **arguments)
        if self.name in ("convolution", "cast_transpose", "gather_sum", "moe_permute") or (
            self.name in RECIPES and self.many
        ):
            return function(*sources, **arguments)
        return function(sources, **arguments)


CASES = [
    Case(*case)
    for case in [
        ("copy", numbers(3, 4), {}),
        ("permute", numbers(2, 3, 4), {"axes": (2, 0, -2)}),
        ("slice", numbers(7, 9), {"slices": (slice(1, None, 2), slice(None, None, -3))}),
        ("slice", numbers(5, 6), {"slices": slice(-2, 0, -1)}),
        ("slice", numbers(4, 3), {"slices": (slice(3, 3), slice(None))}),
        ("flip", numbers(3, 4, 2), {"axes": (0, -1)}),
        ("broadcast", numbers(3, 1), {"shape": (2, 3, 4)}),
        ("pad", numbers(3, 4), {"widths": ((1, 2), (0, -1)), "value": 1.5}),
        ("cast", numbers(3, 4), {"dtype": "bfloat16"}),
        ("concat", [numbers(2, 3), numbers(2, 1), numbers(2, 2)], {"axis": -1}),
        ("concat", [numbers(2, 3), numbers(2, 3)], {"axis": 1, "new_axis": True}),
        ("split", numbers(6, 2), {"axis": 0, "parts": (1, 3, 2)}),
        ("split", numbers(2, 3), {"axis": -1, "drop_axis": True}),
        ("map", [numbers(2, 3), numbers(3)], {"expression": "x0 * x1 + 1"}),
        ("stencil", [numbers(4, 5)], {"expression": "x(0, 1) - x(0, -1)", "boundary": "clamp"}),
        ("reduce", numbers(3, 4, 2), {"op": "sum", "axes": (0, -1)}),
        ("reduce", numbers(3, 4), {"op": "mean", "axes": 1, "keep_dims": True}),
        ("reduce", numbers(3, 4), {"op": "sum", "dtype": "bfloat16"}),
        ("reduce", numbers(3, 4), {"op": "max", "axes": ()}),
        ("scan", numbers(3, 4), {"op": "sum", "axis": 0, "bound": "exclusive"}),
        ("scan", numbers(3, 4), {"op": "sum", "direction": "backwards"}),
        ("rowwise", numbers(3, 5), {"steps": "m = max(x); e = expf(x - m); y = e / sum(e)"}),
        (
            "rowwise",
            [numbers(4, 6), numbers(6)],
            {"steps": "y0 = x0 * x1 - mean(x0); y1 = max(x0)", "axes": (0,)},
        ),
        ("cast_transpose", [numbers(5, 8), numbers(1, 1)], {"to": "f16"}),
        ("cast_transpose", [numbers(2, 5, 8)], {"to": "bf16", "orders": "transposed", "amax": False}),
        ("top_k", different(4, 9), {"k": 3}),
        ("top_k", different(3, 5, 2), {"k": 4, "axis": -2, "largest": False, "index": "i32"}),
        ("gather", [numbers(5, 4), indices(2, -1, 0, 2, 7)], {"value": 1.5}),
        ("gather", [numbers(3, 4), indices(3, 0, -2).reshape(3, 1)], {"axes": 1, "along": True}),
        (
            "gather",
            [numbers(2, 3, 4), indices(0, 2).reshape(2, 1), indices(3, -9, 1)],
            {"axes": (-2, -1), "out_of_range": "clamp"},
        ),
        # No rows are padding, and twice an id is an id: elements of padding are undefined.
        ("moe_permute", [numbers(4, 3), indices(2, 0, 1, 3, 0, 2, 2, 1).reshape(4, 2)], {"count": 7}),
        ("moe_permute", [numbers(5, 2, 3), indices(1, 0, 2, 1, 1)], {"count": 5}),
        ("gather", [numbers(2, 3, 4), indices(0, 5, -2)], {"axes": (0, 1), "flat": True}),
        ("gather_sum", [numbers(5, 4), indices(2, -1, 0, 2, 7, 1).reshape(2, 3)], {}),
        (
            "gather_sum",
            [numbers(3, 4, 2), indices(3, 0, -2, 1).reshape(2, 2), numbers(2, 2)],
            {"axes": 1, "out_of_range": "clamp"},
        ),
        (
            "gather_sum",
            [numbers(3, 4, 2), indices(3, 0, -2, 11).reshape(1, 2, 2), numbers(1, 2, 2)],
            {"axes": (0, 1), "flat": True},
        ),
        (
            "gather_sum",
            [numbers(5, 4), indices(2, -1, 0, 2, 7, 1), indices(0, 2, 2, 5, 6)],
            {"ragged": True},
        ),
        (
            "gather_sum",
            [numbers(3, 4, 2), indices(3, 0, -2, 1, 9), numbers(5), indices(1, 1, 4)],
            {"axes": 1, "ragged": True},
        ),
        ("copy_ragged", [numbers(3, 4), numbers(2, 1)], {}),
        ("im2col", numbers(2, 5, 6, 2), {"filter": (3, 2), "padding": ((4, 1), (0, 1)), "strides": (2, 1)}),
        ("im2col", numbers(2, 8, 3), {"filter": 3, "dilations": 2}),
        ("im2col", numbers(1, 3, 3, 3, 2), {"filter": (2, 1, 2), "strides": (1, 2, 1)}),
        ("convolution", [numbers(2, 5, 6, 3), numbers(2, 3, 2, 3)], {"padding": ((1, 1), (0, 1))}),
        (
            "convolution",
            [numbers(2, 9, 3), numbers(4, 3, 3)],
            {"strides": 2, "dilations": 2, "padding": (3,)},
        ),
        ("convolution", [numbers(1, 7, 5, 2), numbers(2, 2, 2, 2)], {"strides": (3, 2)}),
        ("tiles", [numbers(32, 32)], {"family": "map", "expression": "x + 1", "box": (8, 32)}),
    ]
]


def _source_shape(kind: str, joined: bool, first: bool, arguments: dict[str, Any]) -> tuple[int, ...]:
    """The shape of a recipe's source for rows of the shape (4, 8)."""
    axis, block = arguments.get("axis", -1), arguments.get("block")
    shape = [4, 8]
    if kind == "axis":
        return (shape[axis],)
    if kind == "row" or (kind == "block" and not block):
        shape.pop(axis)
    elif kind == "block":
        shape[axis] //= block
    elif kind == "tile":
        shape = [extent // block for extent in shape]
    elif kind == "tensor":
        shape = []
    elif kind == "half":
        shape[axis] //= 2
    elif kind == "rows_or_halves" and joined and not first:
        shape[axis] *= 2
    return tuple(shape)


def _recipe_case(name: str, count: int, arguments: dict[str, Any]) -> Case:
    """A call of a recipe with its first `count` sources, which follow from the descriptions."""
    described = RECIPES[name]["sources"]
    sources = []
    for i, source in enumerate(described[:count]):
        elements = numbers(*_source_shape(source["shape"], count < len(described), i == 0, arguments))
        if source["elements"] == "integer":
            elements = abs(elements).astype(np.int64) % 8
        elif source["elements"] == "quantised":
            elements = elements.astype(np.int8)
        sources.append(elements)
    return Case(name, sources if len(described) > 1 else sources[0], arguments)


for _name, _described in RECIPES.items():
    _given = {"to": "i8"} if _name.startswith("quantize") else {}  # PyTorch checks no operators of fp8
    if _name.endswith("_blocks"):
        _given["block"] = 2
    for _count in range(_described["min_sources"], _described["max_sources"] + 1):
        CASES.append(_recipe_case(_name, _count, _given))
    if not _name.endswith(("_blocks", "_tensor")):
        CASES.append(_recipe_case(_name, _described["max_sources"], {"axis": 0, **_given}))
CASES.append(_recipe_case("quantize_rows", 1, {"block": 4, "to": "i8"}))
CASES.append(_recipe_case("dequantize_rows", 2, {"block": 2, "axis": 0}))
CASES.append(_recipe_case("rotary", 3, {"layout": "pairs"}))
CASES.append(_recipe_case("rms_norm", 2, {"eps": 0.5}))
LINEAR = [case for case in CASES if case.linear]


def as_list(results) -> list:
    return list(results) if isinstance(results, (list, tuple)) else [results]
