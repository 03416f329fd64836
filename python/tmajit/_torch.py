"""The operations as custom operators of PyTorch: their schemas, kernels, shapes and gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from . import _adjoints, _core
from ._conveniences import functions_over
from ._libraries import type_name

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
#: Stands for an absent bound of a slice: a number beyond every extent.
_FAR = 1 << 60

_OPERATIONS = _core.operations()
_library = torch.library.Library("tmajit", "DEF")


def _integers(given: Any) -> Any:
    return (given,) if isinstance(given, (int, torch.SymInt)) else given


def _to_triples(given: Any) -> list:
    numbers: list = []
    for one in (given,) if isinstance(given, slice) else given:
        step = 1 if one.step is None else one.step
        start, stop = (0, _FAR) if step > 0 else (_FAR, -_FAR)
        numbers += [start if one.start is None else one.start, stop if one.stop is None else one.stop, step]
    return numbers


def _from_triples(numbers: Sequence[int]) -> tuple:
    return tuple(slice(*numbers[i : i + 3]) for i in range(0, len(numbers), 3))


def _to_pairs(given: Any) -> list:
    numbers: list = []
    for one in given:
        pair = _integers(one)
        numbers += [pair[0], pair[-1]]
    return numbers


def _from_pairs(numbers: Sequence[int]) -> tuple:
    return tuple(zip(numbers[::2], numbers[1::2], strict=True))


#: The value in a schema from a caller's, and back, for the types of arguments that differ.
_ENCODED: dict[str, tuple[Callable, Callable | None]] = {
    "axes": (_integers, None),
    "extents": (_integers, None),
    "parts": (_integers, None),
    "numbers": (_integers, None),
    "slices": (_to_triples, _from_triples),
    "widths": (_to_pairs, _from_pairs),
}


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
        self.has_type: bool = not described["moves_bits"] and not self.needs_out
        kinds = ["bool" if a["choices"] == ["no", "yes"] else a["type"] for a in self.arguments]
        self.encoders = tuple(_ENCODED.get(kind, (None, None))[0] for kind in kinds)
        self.decoders = [
            (i, _ENCODED[kind][1]) for i, kind in enumerate(kinds) if _ENCODED.get(kind, (0, None))[1]
        ]
        parameters = ["Tensor[] sources" if self.takes_many else "Tensor x"]
        for argument, kind in zip(self.arguments, kinds, strict=True):
            optional = "" if argument["required"] else "?"
            default = "" if argument["required"] else "=None"
            parameters.append(f"{_SCHEMA_TYPES.get(kind, kind)}{optional} {argument['name']}{default}")
        self.functional: Any = None
        if not self.needs_out:
            kind = "ScalarType dtype" if not self.arguments else "ScalarType? dtype=None"
            given = [*parameters, "*", kind] if self.has_type else parameters
            result = "Tensor[]" if self.gives_many else "Tensor"
            self.functional = self.define(self.name, f"({', '.join(given)}) -> {result}", self.run, self.fake)
            torch.library.register_autograd(
                f"tmajit::{self.name}", self.backward, setup_context=self.remember, lib=_library
            )
        out = "Tensor(a!)[] out" if self.gives_many else "Tensor(a!) out"
        name = f"{self.name}.out"
        self.out = self.define(
            name, f"({', '.join([*parameters, '*', out])}) -> ()", self.run_out, _no_result
        )
        _library.impl(name, self.refuse_gradient, "Autograd", with_keyset=True)

    def define(self, name: str, schema: str, run: Callable, fake: Callable) -> Any:
        _library.define(name + schema)
        for device in ("CPU", "CUDA"):
            _library.impl(name, run, device)
        torch.library.register_fake(f"tmajit::{name}", fake, lib=_library)
        return getattr(getattr(torch.ops.tmajit, self.name), name[len(self.name) + 1 :] or "default")

    def values(self, given: Sequence[Any]) -> tuple:
        """The arguments for the library. The dispatcher drops trailing defaults."""
        values = [*given, *[None] * (len(self.arguments) - len(given))]
        for i, decode in self.decoders:
            if values[i] is not None:
                values[i] = decode(values[i])
        return tuple(values)

    def run(self, sources: Any, *given: Any, dtype: Any = None) -> Any:
        if self.gives_many:
            return list(_core.run_all(self.number, sources, None, dtype, self.values(given)))
        return _core.run_one(self.number, sources, None, dtype, self.values(given))

    def run_out(self, sources: Any, *given: Any, out: Any) -> None:
        _core.run_all(self.number, sources, out, None, self.values(given))
        for tensor in out if self.gives_many else (out,):
            if not tensor.is_inference():
                torch.autograd.graph.increment_version(tensor)

    def known(self, number: Any) -> int:
        try:
            return int(number)
        except GuardOnDataDependentSymNode:
            raise RuntimeError(
                f"tmajit.{self.name}: the extent {number} depends on data; kernels are made for known "
                "extents, so give a tensor whose shape is known when it is traced"
            ) from None

    def fake(self, sources: Any, *given: Any, dtype: Any = None) -> Any:
        tensors = sources if self.takes_many else [sources]
        read = [(x.dtype, [self.known(extent) for extent in x.shape]) for x in tensors]
        values = tuple(
            [self.known(number) for number in value] if isinstance(value, (list, tuple)) else value
            for value in given
        )
        described = _core.describe_results(self.number, read, dtype, self.values(values))
        made = [tensors[0].new_empty(shape, dtype=_torch_type(kind)) for kind, shape in described]
        return made if self.gives_many else made[0]

    def remember(self, ctx: Any, inputs: tuple, output: Any, keyword_only_inputs: Any = None) -> None:
        sources, given = inputs[0], inputs[1:]
        tensors = sources if self.takes_many else [sources]
        ctx.call = _adjoints.Call(
            self.name,
            [tuple(x.shape) for x in tensors],
            [x.dtype for x in tensors],
            None,
            _adjoints.named_values(self.number, self.values(given)),
        )
        if self.name in _adjoints.NEEDS_SOURCES:
            ctx.save_for_backward(*tensors)

    def backward(self, ctx: Any, *gradients: Any) -> tuple:
        call = ctx.call._replace(sources=ctx.saved_tensors or None)
        found = _adjoints.gradients(
            _functions, call, list(gradients[0]) if self.gives_many else list(gradients)
        )
        # PyTorch takes an empty list of numbers for a list of tensors.
        rest = [[] if needed == [] else None for needed in ctx.needs_input_grad[1:]]
        return (found if self.takes_many else found[0], *rest)

    def refuse_gradient(self, keyset: Any, sources: Any, *given: Any, out: Any) -> None:
        tensors = [*(sources if self.takes_many else [sources]), *(out if self.gives_many else [out])]
        if torch.is_grad_enabled() and any(x.requires_grad for x in tensors):
            raise RuntimeError(
                f"tmajit.{self.name}(): functions with out=... arguments don't support automatic "
                "differentiation, but one of the arguments requires grad."
            )
        with torch._C._AutoDispatchBelowAutograd():
            self.out.redispatch(keyset & torch._C._after_autograd_keyset, sources, *given, out=out)


def _no_result(*given: Any, **named: Any) -> None:
    return None


_OPERATORS = [_Operator(number, described) for number, described in enumerate(_OPERATIONS)]


def _call(number: int, sources: Any, out: Any, dtype: Any, values: tuple) -> Any:
    operator = _OPERATORS[number]
    if operator.takes_many and isinstance(sources, torch.Tensor):
        sources = (sources,)
    if operator.takes_many and not sources and out is None:
        return _core.run_all(number, (), None, None, values)  # raises the error of the library
    given = [
        encode(value) if encode is not None and value is not None else value
        for encode, value in zip(operator.encoders, values, strict=True)
    ]
    if out is not None:
        operator.out(sources, *given, out=out)
        return out
    if operator.has_type:
        return operator.functional(sources, *given, dtype=_torch_type(dtype))
    return operator.functional(sources, *given)


_one = _call


def _all(number: int, sources: Any, out: Any, dtype: Any, values: tuple) -> Any:
    made = _call(number, sources, out, dtype, values)
    return made if out is not None else tuple(made)


class _Functions:
    """The functions as attributes, for _adjoints."""


FUNCTIONS = functions_over(globals())
_functions = _Functions()
vars(_functions).update(FUNCTIONS)
