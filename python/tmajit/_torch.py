"""The operations as custom operators of PyTorch: their schemas, kernels, shapes and gradients."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch

from . import _adjoints, _core, _shapes, _values
from ._conveniences import functions_over
from ._libraries import type_name
from ._values import given_sources as _given  # noqa: F401  functions_over() takes it from here
from ._values import present_sources as _present  # noqa: F401

#: The type in a schema for each type of an argument.
_SCHEMA_TYPES = {
    "number": "float",
    "count": "int",
    "text": "str",
    "choice": "str",
    "axis": "int",
    "axes": "int[]",
    "extents": "SymInt[]",
    "parts": "SymInt[]",
    "numbers": "int[]",
    "slices": "SymInt[]",
    "widths": "SymInt[]",
}
_library = torch.library.Library("tmajit", "DEF")
_AFTER_AUTOGRAD = torch._C._after_autograd_keyset
_DEVICES = {"CPU": torch._C.DispatchKey.CPU, "CUDA": torch._C.DispatchKey.CUDA}
_DEVICE_KEYS = frozenset(_DEVICES.values())
_NUMBERS = (int, float, torch.SymInt, torch.SymFloat)
#: Numbers of the same Python type, for symbolic ones.
_STAND_INS: dict[type, Any] = {torch.SymInt: 0, torch.SymFloat: 0.0}


def _torch_type(kind: Any) -> Any:
    if kind is None or isinstance(kind, torch.dtype):
        return kind
    found = getattr(torch, type_name(kind), None)
    if not isinstance(found, torch.dtype):
        raise TypeError(f"PyTorch has no element type {kind!r}; tmajit's own types work without torch.ops")
    return found


class _Operator:
    """One operation: its description, and its two overloads."""

    def __init__(self, number: int, described: dict[str, Any]) -> None:
        self.number = number
        self.name: str = described["name"]
        self.arguments: list[dict[str, Any]] = described["arguments"]
        self.takes_many: bool = described["max_sources"] > 1
        self.gives_many: bool = described["many_results"]
        self.needs_out: bool = described["reads_destination"]
        always_moves_bits = described["moves_bits"] and all(a["name"] != "expression" for a in self.arguments)
        self.has_type: bool = not always_moves_bits and not self.needs_out
        self.takes_numbers: bool = described["takes_numbers"]
        self.has_symbolic_shapes = _shapes.is_described(self.name)
        kinds = ["bool" if a["choices"] == ["no", "yes"] else a["type"] for a in self.arguments]
        parameters = ["Tensor[] sources" if self.takes_many else "Tensor x"]
        for argument, kind in zip(self.arguments, kinds, strict=True):
            optional = "" if argument["required"] else "?"
            default = "" if argument["required"] else "=None"
            parameters.append(f"{_SCHEMA_TYPES.get(kind, kind)}{optional} {argument['name']}{default}")
        named = ["Scalar[]? numbers=None"] if self.takes_numbers else []
        self.functional: Any = None
        if not self.needs_out:
            is_cast = not self.arguments and not described["sources"]  # a recipe has sources with names
            kind = "ScalarType dtype" if is_cast else "ScalarType? dtype=None"
            given = [*parameters, "*", *named, kind] if self.has_type else parameters
            result = "Tensor[]" if self.gives_many else "Tensor"
            self.functional = self.define(self.name, f"({', '.join(given)}) -> {result}", self.run, self.fake)
            recorder = _KernelRecorder()
            torch.library.register_autograd(
                f"tmajit::{self.name}", self.backward, setup_context=self.setup_context, lib=recorder
            )
            self.differentiated = recorder.kernel
            _library.impl(self.name, self.run_autograd, "Autograd", with_keyset=True)
        out = "Tensor(a!)[] out" if self.gives_many else "Tensor(a!) out"
        name = f"{self.name}.out"
        self.out = self.define(
            name, f"({', '.join([*parameters, '*', *named, out])}) -> ()", self.run_out, _no_result
        )
        _library.impl(name, self.run_out_autograd, "Autograd", with_keyset=True)

    def define(self, name: str, schema: str, run: Callable, fake: Callable) -> Any:
        _library.define(name + schema)
        for device in _DEVICES:
            _library.impl(name, run, device)
        torch.library.register_fake(f"tmajit::{name}", fake, lib=_library)
        return getattr(getattr(torch.ops.tmajit, self.name), name[len(self.name) + 1 :] or "default")

    def divided(self, sources: Any) -> tuple[Any, dict[str, list]]:
        """The tensors as the operator takes them, and the argument of its numbers, if there are any."""
        if self.takes_many and not isinstance(sources, (list, tuple)):
            sources = (sources,)
        if not self.takes_numbers:
            return sources, {}
        tensors, numbers = _values.divided_sources(self.number, sources, _NUMBERS)
        return tensors, {"numbers": list(numbers)} if numbers else {}

    def run(self, sources: Any, *given: Any, numbers: Any = None, dtype: Any = None) -> Any:
        if numbers:
            sources = (*sources, *numbers)
        if self.gives_many:
            return list(
                _core.run_all(self.number, sources, None, dtype, _values.restored(self.number, given))
            )
        return _core.run_one(self.number, sources, None, dtype, _values.restored(self.number, given))

    def run_out(self, sources: Any, *given: Any, numbers: Any = None, out: Any) -> None:
        if numbers:
            sources = (*sources, *numbers)
        _core.run_all(self.number, sources, out, None, _values.restored(self.number, given))
        for tensor in out if self.gives_many else (out,):
            if not tensor.is_inference():
                torch.autograd.graph.increment_version(tensor)

    def traced(self, value: Any) -> Any:
        """An extent, a list of extents or another argument as it is in the call that PyTorch traces."""
        if isinstance(value, (list, tuple)):
            return list(map(self.traced, value))
        if not isinstance(value, torch.SymInt):
            return value
        if not value.node.has_hint():
            raise RuntimeError(
                f"tmajit.{self.name}: the extent {value} depends on data; give a tensor whose shape is known "
                "when it is traced"
            )
        # int() adds a guard: for another extent PyTorch traces again.
        return int(value.node.hint) if self.has_symbolic_shapes else int(value)

    def fake(self, sources: Any, *given: Any, numbers: Any = None, dtype: Any = None) -> Any:
        tensors = sources if self.takes_many else [sources]
        shapes = [tuple(x.shape) for x in tensors]
        # The library checks the traced call and knows the results' types.
        read = [(x.dtype, self.traced(shape)) for x, shape in zip(tensors, shapes, strict=True)]
        # Types follow from a number's Python type. A symbolic value stays unknown, so that it makes no guard.
        read += [_STAND_INS.get(type(number), number) for number in numbers or ()]
        values = _values.restored(self.number, self.traced(given))
        kinds, extents = zip(*_core.describe_results(self.number, read, dtype, values), strict=True)
        if self.has_symbolic_shapes:
            named = _values.named(self.number, _values.restored(self.number, given))
            extents = _shapes.results(self.name, shapes, named | {"numbers": len(numbers or ())})
        made = [
            tensors[0].new_empty(shape, dtype=_torch_type(kind))
            for kind, shape in zip(kinds, extents, strict=True)
        ]
        return made if self.gives_many else made[0]

    def setup_context(self, ctx: Any, inputs: tuple, output: Any, keyword_only_inputs: Any = None) -> None:
        sources, given = inputs[0], inputs[1:]
        tensors = sources if self.takes_many else [sources]
        ctx.call = _adjoints.Call(
            self.name,
            [tuple(x.shape) for x in tensors],
            [x.dtype for x in tensors],
            None,
            _values.named(self.number, _values.restored(self.number, given)),
        )
        if self.name in _adjoints.NEEDS_SOURCES:
            ctx.save_for_backward(*tensors)
        if self.name in _adjoints.RECIPES:
            results = output if self.gives_many else [output]
            ctx.source_count = len(tensors)
            ctx.save_for_backward(*tensors, *results)

    def backward(self, ctx: Any, *gradients: Any) -> tuple:
        call = ctx.call
        if reason := _adjoints.why_not(call.name, call.values):
            raise RuntimeError(reason)
        needed = list(ctx.needs_input_grad[0]) if self.takes_many else [ctx.needs_input_grad[0]]
        if self.name in _adjoints.RECIPES:
            count = ctx.source_count
            call = call._replace(
                sources=list(ctx.saved_tensors[:count]),
                results=list(ctx.saved_tensors[count:]),
                needed=needed,
            )
        elif ctx.saved_tensors:
            # A source is kept if another source, whose gradient depends on it, needs a gradient.
            sources = [
                x if any(needed[:i] + needed[i + 1 :]) else None for i, x in enumerate(ctx.saved_tensors)
            ]
            call = call._replace(sources=sources)
        found = _adjoints.gradients(
            _functions, call, list(gradients[0]) if self.gives_many else list(gradients)
        )
        # PyTorch mistakes an empty list of numbers for a list of tensors, and expects a list as its gradient.
        rest = [[] if needed == [] else None for needed in ctx.needs_input_grad[1:]]
        return (found if self.takes_many else found[0], *rest)

    def run_autograd(self, keyset: Any, *given: Any, **named: Any) -> Any:
        if torch.is_grad_enabled() and torch._C._any_requires_grad(*given):
            return self.differentiated(keyset, *given, **named)
        return _dispatch(keyset & _AFTER_AUTOGRAD, self.functional, self.run, given, named)

    def run_out_autograd(self, keyset: Any, *given: Any, out: Any, **named: Any) -> None:
        if torch.is_grad_enabled() and torch._C._any_requires_grad(*given, out):
            raise RuntimeError(
                f"tmajit.{self.name}(): functions with out=... arguments don't support automatic "
                "differentiation, but one of the arguments requires grad."
            )
        _dispatch(keyset & _AFTER_AUTOGRAD, self.out, self.run_out, given, {"out": out, **named})


class _KernelRecorder:
    """Stores the kernel that register_autograd() makes; it is passed to it in place of a library."""

    kernel: Any

    def impl(self, name: str, kernel: Callable, key: str, with_keyset: bool) -> None:
        self.kernel = kernel


def _dispatch(keyset: Any, overload: Any, run: Callable, given: tuple, named: dict[str, Any]) -> Any:
    """Runs the kernel of the first key. The kernel of a device is called without PyTorch's dispatcher."""
    if keyset.highestPriorityTypeId() in _DEVICE_KEYS:
        return run(*given, **named)
    with torch._C._AutoDispatchBelowAutograd():
        return overload.redispatch(keyset, *given, **named)


def _no_result(*given: Any, **named: Any) -> None:
    return None


_OPERATORS = [_Operator(number, described) for number, described in enumerate(_values.OPERATIONS)]


def _call(number: int, sources: Any, out: Any, dtype: Any, values: tuple) -> Any:
    operator = _OPERATORS[number]
    sources, named = operator.divided(sources)
    if operator.takes_many and not sources and out is None:
        numbers = tuple(named.get("numbers", ()))
        return _core.run_all(number, numbers, None, None, values)  # raises the error of the library
    given = _values.flattened(number, values)
    if out is not None:
        operator.out(sources, *given, **named, out=out)
        return out
    if operator.has_type:
        named["dtype"] = _torch_type(dtype)
    return operator.functional(sources, *given, **named)


_one = _call


def _all(number: int, sources: Any, out: Any, dtype: Any, values: tuple) -> Any:
    made = _call(number, sources, out, dtype, values)
    return made if out is not None else tuple(made)


def _some(number: int, sources: Any, out: Any, dtype: Any, values: tuple) -> Any:
    operator = _OPERATORS[number]
    if isinstance(out, torch.Tensor):
        sources, named = operator.divided(sources)
        operator.out(sources, *_values.flattened(number, values), **named, out=[out])
        return out
    made = _all(number, sources, out, dtype, values)
    return made[0] if out is None and len(made) == 1 else made


FUNCTIONS = functions_over(globals())


def _bags(offsets: Any, count: Any) -> Any:
    """The bag of each of `count` indices; the number of bags for an index that is in none."""
    places = torch.arange(count, dtype=offsets.dtype, device=offsets.device)
    bags = torch.searchsorted(offsets, places, right=True) - 1
    return bags.masked_fill(bags < 0, offsets.shape[0] - 1)


_functions = SimpleNamespace(**FUNCTIONS, zeros=lambda shape, like: like.new_zeros(shape), bags=_bags)
