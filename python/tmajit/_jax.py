"""A JAX primitive that runs an operation: its shapes, lowering, gradients and rule for jax.vmap."""

from __future__ import annotations

import functools
import re
import struct
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from . import _adjoints, _core, _values
from ._conveniences import functions_over
from ._libraries import numpy_type, type_name
from ._values import given_sources as _given  # noqa: F401  functions_over() takes it from here
from ._values import present_sources as _present  # noqa: F401

_MAX_RANK = 8  # of tmajit's tensors
_TARGET = "tmajit"  # the name of the handlers in XLA

jax.ffi.register_ffi_target(_TARGET, _core.xla_handler(False), platform="cpu")
jax.ffi.register_ffi_target(_TARGET, _core.xla_handler(True), platform="CUDA")

#: The primitive. Its parameters are `number`, the index of the operation in _values.OPERATIONS; `values`, the
#: arguments as _values.flattened() returns them; `numbers`, those in place of the last sources as
#: _texts_of_numbers() returns them; and `results`, the (shape, type) of each result.
_operation = Primitive("tmajit")
_operation.multiple_results = True

#: The recipes whose sources all have the shape of the rows.
_ROWS_ALONE = [
    operation["name"]
    for operation in _values.OPERATIONS
    if operation["sources"]
    and all(source["shape"] in ("rows", "rows_or_halves") for source in operation["sources"])
    and any(argument["name"] == "axis" for argument in operation["arguments"])
]

_Results = tuple[tuple[tuple[int, ...], Any], ...]


def _name(number: int) -> str:
    return _values.OPERATIONS[number]["name"]


def _named(number: int, values: tuple) -> dict[str, Any]:
    return _values.named(number, _values.restored(number, values))


def _shapes(*sources: Any, number: int, values: tuple, numbers: str, results: _Results) -> list:
    return [jax.core.ShapedArray(shape, kind) for shape, kind in results]


def _lower(ctx: Any, *operands: Any, number: int, values: tuple, numbers: str, results: _Results) -> Any:
    reads = _values.OPERATIONS[number]["reads_destination"]
    rule = jax.ffi.ffi_lowering(_TARGET, operand_output_aliases={len(operands) - 1: 0} if reads else None)
    return rule(ctx, *operands, **_core.xla_attributes(number, _values.restored(number, values), numbers))


@functools.lru_cache(maxsize=4096)
def _compiled(number: int, values: tuple, numbers: str, results: _Results) -> Any:
    given = {"number": number, "values": values, "numbers": numbers, "results": results}
    return jax.jit(functools.partial(_operation.bind, **given))


def _run(*sources: Any, number: int, values: tuple, numbers: str, results: _Results) -> Any:
    return _compiled(number, values, numbers, results)(*sources)


def _differentiate(
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    number: int,
    values: tuple,
    numbers: str,
    results: _Results,
) -> tuple[list, list]:
    given = {"number": number, "numbers": numbers, "results": results}
    made = _operation.bind(*primals, values=values, **given)
    varies = [not isinstance(tangent, ad.Zero) for tangent in tangents]
    if not any(varies) or not any(jnp.issubdtype(kind, jnp.inexact) for _, kind in results):
        return made, [ad.Zero(jax.typeof(one).to_tangent_aval()) for one in made]
    name, arguments = _name(number), _named(number, values)
    if reason := _adjoints.why_not(name, arguments):
        raise NotImplementedError(reason)
    if name in ("pad", "gather"):
        arguments["value"] = None  # the value beside the source's elements is constant
        values = tuple(_values.flattened(number, tuple(arguments.values())))
    described = _values.OPERATIONS[number]
    if described["has_indices"] and not described["has_weights"]:
        # Index tensors are constant; the operation is linear in the other sources together.
        moved = [
            ad.instantiate_zeros(t) if jnp.issubdtype(x.dtype, jnp.inexact) else x
            for x, t in zip(primals, tangents, strict=True)
        ]
        return made, _operation.bind(*moved, values=values, **given)
    if name in _adjoints.NEEDS_SOURCES:
        terms = [
            _operation.bind(*(t if i == j else x for j, x in enumerate(primals)), values=values, **given)[0]
            for i, t in enumerate(tangents)
            if varies[i]
        ]
        return made, [functools.reduce(jnp.add, terms)]
    return made, _operation.bind(*map(ad.instantiate_zeros, tangents), values=values, **given)


def _transpose(
    cotangents: Sequence[Any], *sources: Any, number: int, values: tuple, numbers: str, results: _Results
) -> list:
    unknown = [ad.is_undefined_primal(x) for x in sources]
    kinds = [x.aval if u else x for x, u in zip(sources, unknown, strict=True)]
    call = _adjoints.Call(
        _name(number),
        [tuple(kind.shape) for kind in kinds],
        [kind.dtype for kind in kinds],
        [None if u else x for x, u in zip(sources, unknown, strict=True)],
        _named(number, values),
    )
    found = _adjoints.gradients(_functions, call, list(map(ad.instantiate_zeros, cotangents)))
    return [gradient if u else None for gradient, u in zip(found, unknown, strict=True)]


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1, 2))
def _recipe(number: int, values: tuple, results: _Results, *sources: Any) -> tuple:
    """A recipe that has a gradient."""
    return tuple(_operation.bind(*sources, number=number, values=values, numbers="", results=results))


def _run_recipe(number: int, values: tuple, results: _Results, *sources: Any) -> tuple:
    made = _recipe(number, values, results, *sources)
    return made, (sources, made)


def _reverse_recipe(
    number: int, values: tuple, results: _Results, saved: tuple, cotangents: Sequence[Any]
) -> tuple:
    sources, made = saved
    call = _adjoints.Call(
        _name(number),
        [tuple(x.shape) for x in sources],
        [x.dtype for x in sources],
        sources,
        _named(number, values),
        made,
        [bool(jnp.issubdtype(x.dtype, jnp.inexact)) for x in sources],
    )
    return tuple(_adjoints.gradients(_functions, call, list(cotangents)))


_recipe.defvjp(_run_recipe, _reverse_recipe)


def _shifted(name: str, arguments: dict[str, Any], shapes: Sequence[tuple[int, ...]]) -> dict | None:
    """The arguments that run a call on whole batches: all sources get a new first dimension, the batch.

    None if the operation cannot run on a whole batch.
    """
    (first, *others), shifted = shapes, dict(arguments)
    rank = len(first)
    if any(len(shape) != rank for shape in others):
        return None
    axes = arguments.get("axes")
    axes = (axes,) if isinstance(axes, int) else tuple(axes or ())
    if name in ("map", "stencil") and re.search(r"\bg\b", arguments["expression"]):
        return None  # it reads coordinates
    if name in ("copy", "copy_ragged", "cast", "map", "quantize_blocks", "dequantize_blocks"):
        pass
    elif name == "permute":
        shifted["axes"] = (0, *(axis % rank + 1 for axis in axes))
    elif name in ("flip", "reduce"):
        listed = range(rank) if name == "reduce" and not axes else axes
        shifted["axes"] = tuple(axis % rank + 1 for axis in listed)
        if name == "reduce" and not shifted["axes"]:
            return None
    elif name in ("split", "scan", "concat", "top_k", *_ROWS_ALONE):
        rank += arguments.get("new_axis") in (True, "yes")
        if arguments["axis"] is not None:
            shifted["axis"] = arguments["axis"] % rank + 1
    elif name == "slice":
        slices = arguments["slices"]
        shifted["slices"] = (slice(None), *([slices] if isinstance(slices, slice) else slices))
    elif name == "pad":
        shifted["widths"] = ((0, 0), *arguments["widths"])
    elif name == "stencil":
        if arguments["dims"] is not None:
            shifted["dims"] = tuple(axis % rank + 1 for axis in arguments["dims"])
    else:
        return None
    return shifted


def _batch(
    sources: Sequence[Any],
    dims: Sequence[int | None],
    *,
    number: int,
    values: tuple,
    numbers: str,
    results: _Results,
) -> tuple[list, list]:
    name, arguments = _name(number), _named(number, values)
    (size,) = {x.shape[d] for x, d in zip(sources, dims, strict=True) if d is not None}
    moved = [x if d is None else jnp.moveaxis(x, d, 0) for x, d in zip(sources, dims, strict=True)]
    shapes = [x.shape if d is None else x.shape[1:] for x, d in zip(moved, dims, strict=True)]
    batched = tuple(((size, *shape), kind) for shape, kind in results)
    if name == "im2col" or (name == "convolution" and dims[1] is None):
        # The elements of the batch are further images.
        images = moved[0].reshape((size * moved[0].shape[1], *moved[0].shape[2:]))
        ((shape, kind),) = results
        batch_results = (((size * shape[0], *shape[1:]), kind),)
        given = {"number": number, "values": values, "numbers": numbers, "results": batch_results}
        (made,) = _operation.bind(images, *moved[1:], **given)
        return [made.reshape((size, *shape))], [0]
    if name == "broadcast":
        new = len(arguments["shape"]) - len(shapes[0])
        moved = [moved[0].reshape((size, *(1,) * new, *shapes[0]))]
        arguments["shape"] = (size, *arguments["shape"])
        shifted: dict | None = arguments
    else:
        shifted = _shifted(name, arguments, shapes)
    ranks = [len(shape) + 1 for shape in shapes] + [len(shape) for shape, _ in batched]
    if shifted is None or max(ranks) > _MAX_RANK:
        # One call for each element of the batch.
        def one(mapped: list) -> list:
            remaining = iter(mapped)
            given = [x if d is None else next(remaining) for x, d in zip(moved, dims, strict=True)]
            return _operation.bind(*given, number=number, values=values, numbers=numbers, results=results)

        made = jax.lax.map(one, [x for x, d in zip(moved, dims, strict=True) if d is not None])
    else:
        moved = [
            jnp.broadcast_to(x, (size, *x.shape)) if d is None else x
            for x, d in zip(moved, dims, strict=True)
        ]
        flat = tuple(_values.flattened(number, tuple(shifted.values())))
        made = _operation.bind(*moved, number=number, values=flat, numbers=numbers, results=batched)
    return made, [0] * len(made)


_operation.def_impl(_run)
_operation.def_abstract_eval(_shapes)
for _platform in ("cpu", "cuda"):
    mlir.register_lowering(_operation, _lower, platform=_platform)
ad.primitive_jvps[_operation] = _differentiate
ad.primitive_transposes[_operation] = _transpose
batching.primitive_batchers[_operation] = _batch


def _type_name(kind: Any) -> str | None:
    if kind is None:
        return None
    name = type_name(kind)
    if numpy_type(name).name != name:
        raise TypeError(f"JAX has no element type {kind!r}; arrays of other libraries may have it")
    return name


def _texts_of_numbers(numbers: Sequence[int | float]) -> str:
    """Ints by their digits and floats by their bits, since 2 == 2.0 and 0.0 == -0.0 in Python."""
    bits = [struct.unpack("<q", struct.pack("<d", n))[0] if isinstance(n, float) else int(n) for n in numbers]
    return " ".join(f"{'f' if isinstance(n, float) else 'i'}{b}" for n, b in zip(numbers, bits, strict=True))


def _all(number: int, sources: Any, out: Any, dtype: Any, values: tuple) -> tuple:
    described = _values.OPERATIONS[number]
    given = list(sources) if isinstance(sources, (list, tuple)) else [sources]
    given, scalars = _values.divided_sources(number, given, (int, float))
    arrays = [jnp.asarray(x) for x in given]
    if not arrays and out is None:
        return _core.run_all(number, tuple(scalars), None, None, values)  # raises the error of the library
    if described["reads_destination"]:
        out = jnp.asarray(out)
        arrays.append(out)
        results = [out]
    elif out is not None:
        results = list(out) if isinstance(out, (list, tuple)) else [out]
        if not all(isinstance(one, jax.ShapeDtypeStruct) for one in results):
            raise TypeError(
                f"{described['name']}: arrays of JAX are never written; out may be a jax.ShapeDtypeStruct, "
                "which gives the shape and type of the new array"
            )
    else:
        read = [*((x.dtype.name, x.shape) for x in arrays), *scalars]
        found = _core.describe_results(number, read, _type_name(dtype), values)
        results = [
            jax.ShapeDtypeStruct(shape, jax.dtypes.canonicalize_dtype(numpy_type(kind)))
            for kind, shape in found
        ]
    flat = tuple(_values.flattened(number, values))
    wanted = tuple((tuple(one.shape), one.dtype) for one in results)
    if described["name"] in _adjoints.RECIPES:
        return _recipe(number, flat, wanted, *arrays)
    numbers = _texts_of_numbers(scalars)
    return tuple(_operation.bind(*arrays, number=number, values=flat, numbers=numbers, results=wanted))


def _one(number: int, sources: Any, out: Any, dtype: Any, values: tuple) -> Any:
    return _all(number, sources, out, dtype, values)[0]


def _some(number: int, sources: Any, out: Any, dtype: Any, values: tuple) -> Any:
    made = _all(number, sources, out, dtype, values)
    return made[0] if len(made) == 1 and not isinstance(out, (list, tuple)) else made


FUNCTIONS = functions_over(globals())


def _bags(offsets: Any, count: int) -> Any:
    """The bag of each of `count` indices; the number of bags for an index that is in none."""
    bags = jnp.searchsorted(offsets, jnp.arange(count, dtype=offsets.dtype), side="right") - 1
    return jnp.where(bags < 0, offsets.shape[0] - 1, bags)


_functions = SimpleNamespace(**FUNCTIONS, zeros=lambda shape, like: jnp.zeros(shape, like.dtype), bags=_bags)
