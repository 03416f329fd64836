"""A function for each operation. python/generate.py writes this file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _core
from ._types import Axes, DType, Extents, Slices, Tensor, Widths
from ._values import given_sources as _given
from ._values import present_sources as _present

_one = _core.run_one
_some = _core.run_some
_all = _core.run_all


def copy(
    x: Tensor,
    out: Tensor | None = None,
) -> Any:
    """Copies elements as they are, repeated where the source's extents are 1.

    Args:
        x: a tensor with any strides and 0 to 8 dimensions.
        out: the tensor to write; by default a new tensor of the first source's library.

    Returns:
        out, or the new tensor, which is dense and row-major.

    Types:
        every type; bits are moved unchanged.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _one(0, x, out, None, ())


def permute(
    x: Tensor,
    axes: Axes,
    out: Tensor | None = None,
) -> Any:
    """Copies elements in another order of the dimensions.

    Args:
        x: a tensor with any strides and 0 to 8 dimensions.
        axes: the new order of the dimensions (dimensions; -1 is the last). For example (0, 2, 1, 3).
        out: the tensor to write; by default a new tensor of the first source's library.

    Returns:
        out, or the new tensor, which is dense and row-major.

    Types:
        every type; bits are moved unchanged.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _one(1, x, out, None, (axes,))


def slice(
    x: Tensor,
    slices: Slices,
    out: Tensor | None = None,
) -> Any:
    """Copies a part of the source.

    Args:
        x: a tensor with any strides and 0 to 8 dimensions.
        slices: the part to copy, as Python's start:stop:step for each dimension (a slice for each
            dimension; numpy.s_ makes them). For example numpy.s_[100:200, ::2].
        out: the tensor to write; by default a new tensor of the first source's library.

    Returns:
        out, or the new tensor, which is dense and row-major.

    Types:
        every type; bits are moved unchanged.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _one(2, x, out, None, (slices,))


def flip(
    x: Tensor,
    axes: Axes,
    out: Tensor | None = None,
) -> Any:
    """Copies elements with some dimensions backwards.

    Args:
        x: a tensor with any strides and 0 to 8 dimensions.
        axes: the dimensions that are walked backwards (dimensions; -1 is the last). For example (0, 2).
        out: the tensor to write; by default a new tensor of the first source's library.

    Returns:
        out, or the new tensor, which is dense and row-major.

    Types:
        every type; bits are moved unchanged.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _one(3, x, out, None, (axes,))


def broadcast(
    x: Tensor,
    shape: Extents,
    out: Tensor | None = None,
) -> Any:
    """Repeats the source to a shape, by NumPy's rules.

    Args:
        x: a tensor with any strides and 0 to 8 dimensions.
        shape: the shape to which the source is repeated (whole numbers, 0 or more). For example (8, 64,
            64).
        out: the tensor to write; by default a new tensor of the first source's library.

    Returns:
        out, or the new tensor, which is dense and row-major.

    Types:
        every type; bits are moved unchanged.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _one(4, x, out, None, (shape,))


def pad(
    x: Tensor,
    widths: Widths,
    value: float | None = None,
    out: Tensor | None = None,
) -> Any:
    """Copies elements and surrounds them with a value.

    Args:
        x: a tensor with any strides and 0 to 8 dimensions.
        widths: elements added before each dimension, a colon, and those added after each; negative numbers
            crop (for each dimension a whole number, or a pair (before, after)). For example ((1, 2), (1,
            2)).
        value: the value around the source, converted to the element type (a number; default: 0). For
            example 0.5.
        out: the tensor to write; by default a new tensor of the first source's library.

    Returns:
        out, or the new tensor, which is dense and row-major.

    Types:
        every type; bits are moved unchanged.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _one(5, x, out, None, (widths, value))


def cast(
    x: Tensor,
    dtype: DType,
    out: Tensor | None = None,
) -> Any:
    """Converts values to the destination's type.

    Args:
        x: a tensor with any strides and 0 to 8 dimensions.
        dtype: the element type of the result: "bfloat16", numpy.int8, torch.float16 …
        out: the tensor to write; by default a new tensor of the first source's library.

    Returns:
        out, or the new tensor, which is dense and row-major.

    Types:
        integers and floating point; bool is treated as uint8.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _one(6, x, out, dtype, ())


def concat(
    sources: Sequence[Tensor],
    axis: int,
    *,
    new_axis: bool | None = None,
    out: Tensor | None = None,
) -> Any:
    """Joins sources one after the other along a dimension.

    Args:
        sources: the tensors, in order.
        axis: the dimension along which the sources are joined (a dimension; -1 is the last). For example 0.
        new_axis: whether only the destination has that dimension, so that the sources are stacked (a bool;
            default: False). For example True.
        out: the tensor to write; by default a new tensor of the first source's library.

    Returns:
        out, or the new tensor, which is dense and row-major.

    Types:
        every type; bits are moved unchanged.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _one(7, sources, out, None, (axis, new_axis))


def split(
    x: Tensor,
    axis: int,
    parts: Sequence[int] | None = None,
    drop_axis: bool | None = None,
    out: Sequence[Tensor] | None = None,
) -> Any:
    """Cuts the source along a dimension.

    Args:
        x: a tensor with any strides and 0 to 8 dimensions.
        axis: the dimension along which the source is cut (a dimension; -1 is the last). For example 0.
        parts: the destinations' extents along that dimension (any number of whole numbers, 0 or more;
            default: 1 for each index). For example (10, 20, 30).
        drop_axis: whether only the source has that dimension: each destination is one index of it (a bool;
            default: False). For example True.
        out: the tensors to write; by default new tensors of the sources' library.

    Returns:
        out, or a tuple of the new tensors.

    Types:
        every type; bits are moved unchanged.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _all(8, x, out, None, (axis, parts, drop_axis))


def map(
    expression: str,
    *sources: Tensor,
    out: Tensor | None = None,
    dtype: DType | None = None,
) -> Any:
    """Computes an expression of each element's sources.

    Args:
        sources: up to 8 tensors, broadcast to a common shape by NumPy's rules. Python's numbers after them
            are p0, p1 …; their values share a kernel. Without sources, out is required.
        expression: the C expression of x (or x0 … x7), p0 …, and g[d], the element's coordinate in
            dimension d (an expression). For example "x*2+1".
        out: the tensor to write; by default a new tensor of the first source's library.
        dtype: the element type of the new tensor; by default the type follows NumPy's rules.

    Returns:
        out, or the new tensor, which is dense and row-major.

    Types:
        integers and floating point; bool is treated as uint8.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
        CompileError: the compiler refused the expression; `log` has its output.
    """
    return _one(9, sources, out, dtype, (expression,))


def stencil(
    expression: str,
    *sources: Tensor,
    boundary: str | None = None,
    value: float | None = None,
    dims: Extents | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
) -> Any:
    """Computes an expression of each element's neighbours.

    Args:
        sources: up to 8 tensors, broadcast to a common shape by NumPy's rules. Python's numbers after them
            are p0, p1 …; their values share a kernel.
        expression: the C expression, in which x(-1,0) is a neighbour of x, or x0(-1,0) of x0; it may read
            p0 … (an expression). For example "x(-1,0)+x(1,0)".
        boundary: the values of neighbours beyond an edge ("zero", "constant", "clamp", "wrap", "reflect";
            default: zero). For example "clamp".
        value: the value beyond an edge for the boundary "constant", converted to the element type (a
            number; default: 0). For example 0.5.
        dims: the dimension to which each offset applies, such as -1 and 0 of x(-1,0) (whole numbers;
            default: the last ones). For example (0, 1).
        out: the tensor to write; by default a new tensor of the first source's library.
        dtype: the element type of the new tensor; by default the type follows NumPy's rules.

    Returns:
        out, or the new tensor, which is dense and row-major.

    Types:
        integers and floating point; bool is treated as uint8.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
        CompileError: the compiler refused the expression; `log` has its output.
    """
    return _one(10, sources, out, dtype, (expression, boundary, value, dims))


def reduce(
    x: Tensor | Sequence[Tensor],
    op: str,
    axes: Axes | None = None,
    expression: str | None = None,
    epilogue: str | None = None,
    keep_dims: bool | None = None,
    *,
    out: Tensor | None = None,
    dtype: DType | None = None,
) -> Any:
    """Reduces dimensions of the sources.

    Args:
        x: a tensor, or a sequence of up to 8, broadcast to a common shape by NumPy's rules. Python's
            numbers after them are p0, p1 …; their values share a kernel.
        op: how the elements are combined ("sum", "mean", "min", "max", "any", "all", "arg_min", "arg_max").
            For example "sum".
        axes: the dimensions that are reduced (dimensions; -1 is the last; default: all). For example (0,
            2).
        expression: the C expression of x (or x0 … x7) and p0 … that is reduced (an expression; default: the
            source's elements). For example "x*x".
        epilogue: the epilogue of each result: a C expression of x, the result, n, the number of its
            elements, and p0 … (an expression; default: the result). For example "sqrt(x/n)".
        keep_dims: whether the destination keeps the reduced dimensions, with an extent of 1 (a bool;
            default: False). For example True.
        out: the tensor to write; by default a new tensor of the first source's library.
        dtype: the element type of the new tensor; by default the type follows NumPy's rules.

    Returns:
        out, or the new tensor, which is dense and row-major.

    Types:
        integers and floating point; bool is treated as uint8.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
        CompileError: the compiler refused the expression; `log` has its output.
    """
    return _one(11, x, out, dtype, (op, axes, expression, epilogue, keep_dims))


def scan(
    x: Tensor | Sequence[Tensor],
    op: str,
    axis: int | None = None,
    bound: str | None = None,
    direction: str | None = None,
    expression: str | None = None,
    *,
    out: Tensor | None = None,
    dtype: DType | None = None,
) -> Any:
    """Computes cumulative sums, products, minima or maxima along a dimension.

    Args:
        x: a tensor, or a sequence of up to 8, broadcast to a common shape by NumPy's rules. Python's
            numbers after them are p0, p1 …; their values share a kernel.
        op: how an element is combined with those before it ("sum", "product", "min", "max"). For example
            "sum".
        axis: the dimension that is scanned (a dimension; -1 is the last; default: the last one). For
            example 0.
        bound: whether a result combines the elements up to its own, or only those before it ("inclusive",
            "exclusive"; default: inclusive). For example "exclusive".
        direction: the direction of the scan along the dimension ("forwards", "backwards"; default:
            forwards). For example "backwards".
        expression: the C expression of x (or x0 … x7) and p0 … that is scanned (an expression; default: the
            source's elements). For example "x*x".
        out: the tensor to write; by default a new tensor of the first source's library.
        dtype: the element type of the new tensor; by default the type follows NumPy's rules.

    Returns:
        out, or the new tensor, which is dense and row-major.

    Types:
        integers and floating point; bool is treated as uint8.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
        CompileError: the compiler refused the expression; `log` has its output.
    """
    return _one(12, x, out, dtype, (op, axis, bound, direction, expression))


def rowwise(
    x: Tensor | Sequence[Tensor],
    steps: str,
    axes: Axes | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
    dtype: DType | None = None,
) -> Any:
    """Computes reductions and element-wise steps over rows, in one pass.

    Args:
        x: a tensor, or a sequence of up to 8, broadcast to a common shape by NumPy's rules. Python's
            numbers after them are p0, p1 …; their values share a kernel.
        steps: the steps: C assignments that read x (or x0 …), p0 …, earlier steps, i, n and reductions; y
            (or y0 …) is stored (an expression). For example "m = max(x); y = x - m".
        axes: the dimensions of a row (dimensions; -1 is the last; default: the last one). For example (1,
            2).
        out: the tensors to write; by default new tensors of the sources' library.
        dtype: the element type of the new tensor; by default the type follows NumPy's rules.

    Returns:
        out, or a tuple of the new tensors; if there is one, the new tensor.

    Types:
        integers and floating point; bool is treated as uint8.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
        CompileError: the compiler refused the expression; `log` has its output.
    """
    return _some(13, x, out, dtype, (steps, axes))


def softmax(
    x: Tensor,
    axis: int | None = None,
    *,
    out: Tensor | None = None,
    dtype: DType | None = None,
) -> Any:
    """Computes the softmax of rows.

    Args:
        x: the rows (floating point).
        axis: the dimension of a row (a dimension; -1 is the last; default: the last one). For example 0.
        out: the tensor to write; by default a new tensor of the first source's library.
        dtype: the element type of the new tensor; docs/rowwise.md says which is the default.

    Returns:
        out, or the new tensor, which is dense and row-major.

    Types:
        as above; docs/rowwise.md has the results' types.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _one(14, x, out, dtype, (axis,))


def softmax_backward(
    dy: Tensor,
    y: Tensor,
    *,
    axis: int | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
) -> Any:
    """Computes the gradient of a softmax from its result y.

    Args:
        dy: the rows (floating point).
        y: the rows (floating point).
        axis: the dimension of a row (a dimension; -1 is the last; default: the last one). For example 0.
        out: the tensor to write; by default a new tensor of the first source's library.
        dtype: the element type of the new tensor; docs/rowwise.md says which is the default.

    Returns:
        out, or the new tensor, which is dense and row-major.

    Types:
        as above; docs/rowwise.md has the results' types.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _one(15, _given(dy, y), out, dtype, (axis,))


def log_softmax(
    x: Tensor,
    axis: int | None = None,
    *,
    out: Tensor | None = None,
    dtype: DType | None = None,
) -> Any:
    """Computes the logarithm of the softmax of rows.

    Args:
        x: the rows (floating point).
        axis: the dimension of a row (a dimension; -1 is the last; default: the last one). For example 0.
        out: the tensor to write; by default a new tensor of the first source's library.
        dtype: the element type of the new tensor; docs/rowwise.md says which is the default.

    Returns:
        out, or the new tensor, which is dense and row-major.

    Types:
        as above; docs/rowwise.md has the results' types.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _one(16, x, out, dtype, (axis,))


def log_softmax_backward(
    dy: Tensor,
    y: Tensor,
    *,
    axis: int | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
) -> Any:
    """Computes the gradient of a log_softmax from its result y.

    Args:
        dy: the rows (floating point).
        y: the rows (floating point).
        axis: the dimension of a row (a dimension; -1 is the last; default: the last one). For example 0.
        out: the tensor to write; by default a new tensor of the first source's library.
        dtype: the element type of the new tensor; docs/rowwise.md says which is the default.

    Returns:
        out, or the new tensor, which is dense and row-major.

    Types:
        as above; docs/rowwise.md has the results' types.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _one(17, _given(dy, y), out, dtype, (axis,))


def logsumexp(
    x: Tensor,
    axis: int | None = None,
    *,
    out: Tensor | None = None,
    dtype: DType | None = None,
) -> Any:
    """Computes the logarithm of the sum of a row's exponentials.

    Args:
        x: the rows (floating point).
        axis: the dimension of a row (a dimension; -1 is the last; default: the last one). For example 0.
        out: the tensor to write; by default a new tensor of the first source's library.
        dtype: the element type of the new tensor; docs/rowwise.md says which is the default.

    Returns:
        out, or the new tensor, which is dense and row-major.

    Types:
        as above; docs/rowwise.md has the results' types.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _one(18, x, out, dtype, (axis,))


def rms_norm(
    x: Tensor,
    weight: Tensor | None = None,
    *,
    axis: int | None = None,
    eps: float | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
) -> Any:
    """Divides rows by the root of their mean square, and multiplies by weights.

    Args:
        x: the rows (floating point).
        weight: one number for each place of a row, in one dimension (floating point).
        axis: the dimension of a row (a dimension; -1 is the last; default: the last one). For example 0.
        eps: the number that keeps divisors from 0 (a number; default: 1e-6). For example 1e-5.
        out: the tensor to write; by default a new tensor of the first source's library.
        dtype: the element type of the new tensor; docs/rowwise.md says which is the default.

    Returns:
        out, or the new tensor, which is dense and row-major.

    Types:
        as above; docs/rowwise.md has the results' types.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _one(19, _given(x, weight), out, dtype, (axis, eps))


def rms_norm_backward(
    dy: Tensor,
    x: Tensor,
    weight: Tensor | None = None,
    *,
    axis: int | None = None,
    eps: float | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
) -> Any:
    """Computes the gradient of rms_norm for x.

    Args:
        dy: the rows (floating point).
        x: the rows (floating point).
        weight: one number for each place of a row, in one dimension (floating point).
        axis: the dimension of a row (a dimension; -1 is the last; default: the last one). For example 0.
        eps: the number that keeps divisors from 0 (a number; default: 1e-6). For example 1e-5.
        out: the tensor to write; by default a new tensor of the first source's library.
        dtype: the element type of the new tensor; docs/rowwise.md says which is the default.

    Returns:
        out, or the new tensor, which is dense and row-major.

    Types:
        as above; docs/rowwise.md has the results' types.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _one(20, _given(dy, x, weight), out, dtype, (axis, eps))


def add_rms_norm(
    x: Tensor,
    residual: Tensor,
    weight: Tensor | None = None,
    *,
    axis: int | None = None,
    eps: float | None = None,
    out: Sequence[Tensor] | None = None,
) -> Any:
    """Computes rms_norm of x + residual, and the sum, too.

    Args:
        x: the rows (floating point).
        residual: the rows (floating point).
        weight: one number for each place of a row, in one dimension (floating point).
        axis: the dimension of a row (a dimension; -1 is the last; default: the last one). For example 0.
        eps: the number that keeps divisors from 0 (a number; default: 1e-6). For example 1e-5.
        out: the tensors to write; by default new tensors of the sources' library.

    Returns:
        out, or the new tensors y, sum.

    Types:
        as above; docs/rowwise.md has the results' types.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _some(21, _given(x, residual, weight), out, None, (axis, eps))


def layer_norm(
    x: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    *,
    axis: int | None = None,
    eps: float | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
) -> Any:
    """Subtracts rows' means, divides by their standard deviations, applies weights and a bias.

    Args:
        x: the rows (floating point).
        weight: one number for each place of a row, in one dimension (floating point).
        bias: one number for each place of a row, in one dimension (floating point).
        axis: the dimension of a row (a dimension; -1 is the last; default: the last one). For example 0.
        eps: the number that keeps divisors from 0 (a number; default: 1e-5). For example 1e-5.
        out: the tensor to write; by default a new tensor of the first source's library.
        dtype: the element type of the new tensor; docs/rowwise.md says which is the default.

    Returns:
        out, or the new tensor, which is dense and row-major.

    Types:
        as above; docs/rowwise.md has the results' types.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _one(22, _given(x, weight, bias), out, dtype, (axis, eps))


def layer_norm_backward(
    dy: Tensor,
    x: Tensor,
    weight: Tensor | None = None,
    *,
    axis: int | None = None,
    eps: float | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
) -> Any:
    """Computes the gradient of layer_norm for x.

    Args:
        dy: the rows (floating point).
        x: the rows (floating point).
        weight: one number for each place of a row, in one dimension (floating point).
        axis: the dimension of a row (a dimension; -1 is the last; default: the last one). For example 0.
        eps: the number that keeps divisors from 0 (a number; default: 1e-5). For example 1e-5.
        out: the tensor to write; by default a new tensor of the first source's library.
        dtype: the element type of the new tensor; docs/rowwise.md says which is the default.

    Returns:
        out, or the new tensor, which is dense and row-major.

    Types:
        as above; docs/rowwise.md has the results' types.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _one(23, _given(dy, x, weight), out, dtype, (axis, eps))


def l2_normalize(
    x: Tensor,
    axis: int | None = None,
    eps: float | None = None,
    *,
    out: Tensor | None = None,
    dtype: DType | None = None,
) -> Any:
    """Divides rows by their Euclidean norm, or by eps if that is greater.

    Args:
        x: the rows (floating point).
        axis: the dimension of a row (a dimension; -1 is the last; default: the last one). For example 0.
        eps: the number that keeps divisors from 0 (a number; default: 1e-12). For example 1e-5.
        out: the tensor to write; by default a new tensor of the first source's library.
        dtype: the element type of the new tensor; docs/rowwise.md says which is the default.

    Returns:
        out, or the new tensor, which is dense and row-major.

    Types:
        as above; docs/rowwise.md has the results' types.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _one(24, x, out, dtype, (axis, eps))


def cross_entropy(
    logits: Tensor,
    labels: Tensor,
    *,
    axis: int | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
) -> Any:
    """Computes the cross-entropy of rows of logits with labels.

    Args:
        logits: the rows (floating point).
        labels: one number for each row, with the axis missing or of extent 1 (integers).
        axis: the dimension of a row (a dimension; -1 is the last; default: the last one). For example 0.
        out: the tensor to write; by default a new tensor of the first source's library.
        dtype: the element type of the new tensor; docs/rowwise.md says which is the default.

    Returns:
        out, or the new tensor, which is dense and row-major.

    Types:
        as above; docs/rowwise.md has the results' types.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _one(25, _given(logits, labels), out, dtype, (axis,))


def cross_entropy_with_gradient(
    logits: Tensor,
    labels: Tensor,
    *,
    axis: int | None = None,
    out: Sequence[Tensor] | None = None,
) -> Any:
    """Computes cross_entropy and the gradient of each loss for its logits.

    Args:
        logits: the rows (floating point).
        labels: one number for each row, with the axis missing or of extent 1 (integers).
        axis: the dimension of a row (a dimension; -1 is the last; default: the last one). For example 0.
        out: the tensors to write; by default new tensors of the sources' library.

    Returns:
        out, or the new tensors loss, dlogits.

    Types:
        as above; docs/rowwise.md has the results' types.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _some(26, _given(logits, labels), out, None, (axis,))


def cross_entropy_backward(
    dloss: Tensor,
    logits: Tensor,
    labels: Tensor,
    *,
    axis: int | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
) -> Any:
    """Computes the gradient of cross_entropy for the logits.

    Args:
        dloss: one number for each row, with the axis missing or of extent 1 (floating point).
        logits: the rows (floating point).
        labels: one number for each row, with the axis missing or of extent 1 (integers).
        axis: the dimension of a row (a dimension; -1 is the last; default: the last one). For example 0.
        out: the tensor to write; by default a new tensor of the first source's library.
        dtype: the element type of the new tensor; docs/rowwise.md says which is the default.

    Returns:
        out, or the new tensor, which is dense and row-major.

    Types:
        as above; docs/rowwise.md has the results' types.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _one(27, _given(dloss, logits, labels), out, dtype, (axis,))


def max_with_index(
    x: Tensor,
    axis: int | None = None,
    *,
    out: Sequence[Tensor] | None = None,
) -> Any:
    """Finds the greatest element of each row and its first index.

    Args:
        x: the rows (any type).
        axis: the dimension of a row (a dimension; -1 is the last; default: the last one). For example 0.
        out: the tensors to write; by default new tensors of the sources' library.

    Returns:
        out, or the new tensors y, index.

    Types:
        as above; docs/rowwise.md has the results' types.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _some(28, x, out, None, (axis,))


def quantize_rows(
    x: Tensor,
    axis: int | None = None,
    block: int | None = None,
    to: str | None = None,
    *,
    out: Sequence[Tensor] | None = None,
) -> Any:
    """Converts rows, or blocks of them, to 8 bits with a scale each.

    Args:
        x: the rows (floating point).
        axis: the dimension of a row (a dimension; -1 is the last; default: the last one). For example 0.
        block: the number of neighbouring elements of a row that share a scale, a divisor of its length (a
            whole number, 0 or more; default: 0, the whole row). For example 128.
        to: the type of the quantised elements ("e4m3", "e5m2", "i8"; default: the destination's type, else
            e4m3). For example "i8".
        out: the tensors to write; by default new tensors of the sources' library.

    Returns:
        out, or the new tensors q, scale.

    Types:
        as above; docs/rowwise.md has the results' types.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _some(29, x, out, None, (axis, block, to))


def dequantize_rows(
    q: Tensor,
    scale: Tensor,
    *,
    axis: int | None = None,
    block: int | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
) -> Any:
    """Multiplies rows, or blocks of them, by their scales.

    Args:
        q: the rows (float8_e4m3fn, float8_e5m2 or int8).
        scale: one number for each row, with the axis missing or of extent 1; or one for each block, whose
            number is then the axis's extent (floating point).
        axis: the dimension of a row (a dimension; -1 is the last; default: the last one). For example 0.
        block: the number of neighbouring elements of a row that share a scale, a divisor of its length (a
            whole number, 0 or more; default: 0, the whole row). For example 128.
        out: the tensor to write; by default a new tensor of the first source's library.
        dtype: the element type of the new tensor; docs/rowwise.md says which is the default.

    Returns:
        out, or the new tensor, which is dense and row-major.

    Types:
        as above; docs/rowwise.md has the results' types.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _one(30, _given(q, scale), out, dtype, (axis, block))


def quantize_blocks(
    x: Tensor,
    block: int | None = None,
    to: str | None = None,
    *,
    out: Sequence[Tensor] | None = None,
) -> Any:
    """Converts square blocks of matrices to 8 bits with a scale each.

    Args:
        x: the rows (floating point).
        block: the rows and columns of a block, a divisor of the extents (a whole number, 0 or more;
            default: 128). For example 64.
        to: the type of the quantised elements ("e4m3", "e5m2", "i8"; default: the destination's type, else
            e4m3). For example "i8".
        out: the tensors to write; by default new tensors of the sources' library.

    Returns:
        out, or the new tensors q, scale.

    Types:
        as above; docs/rowwise.md has the results' types.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _some(31, x, out, None, (block, to))


def dequantize_blocks(
    q: Tensor,
    scale: Tensor,
    *,
    block: int | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
) -> Any:
    """Multiplies square blocks of matrices by their scales.

    Args:
        q: the rows (float8_e4m3fn, float8_e5m2 or int8).
        scale: one number for each block (floating point).
        block: the rows and columns of a block, a divisor of the extents (a whole number, 0 or more;
            default: 128). For example 64.
        out: the tensor to write; by default a new tensor of the first source's library.
        dtype: the element type of the new tensor; docs/rowwise.md says which is the default.

    Returns:
        out, or the new tensor, which is dense and row-major.

    Types:
        as above; docs/rowwise.md has the results' types.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _one(32, _given(q, scale), out, dtype, (block,))


def quantize_tensor(
    x: Tensor,
    to: str | None = None,
    *,
    out: Sequence[Tensor] | None = None,
) -> Any:
    """Converts a tensor to 8 bits with one scale.

    Args:
        x: the rows (floating point).
        to: the type of the quantised elements ("e4m3", "e5m2", "i8"; default: the destination's type, else
            e4m3). For example "i8".
        out: the tensors to write; by default new tensors of the sources' library.

    Returns:
        out, or the new tensors q, scale.

    Types:
        as above; docs/rowwise.md has the results' types.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _some(33, x, out, None, (to,))


def dequantize_tensor(
    q: Tensor,
    scale: Tensor,
    *,
    out: Tensor | None = None,
    dtype: DType | None = None,
) -> Any:
    """Multiplies a tensor by its scale.

    Args:
        q: the rows (float8_e4m3fn, float8_e5m2 or int8).
        scale: one number, without dimensions (floating point).
        out: the tensor to write; by default a new tensor of the first source's library.
        dtype: the element type of the new tensor; docs/rowwise.md says which is the default.

    Returns:
        out, or the new tensor, which is dense and row-major.

    Types:
        as above; docs/rowwise.md has the results' types.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _one(34, _given(q, scale), out, dtype, ())


def swiglu(
    a: Tensor,
    b: Tensor | None = None,
    *,
    axis: int | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
) -> Any:
    """Computes silu(a) * b; without b, a holds both in two halves.

    Args:
        a: the rows, or both halves of each row if b is None (floating point).
        b: the rows (floating point).
        axis: the dimension of a row (a dimension; -1 is the last; default: the last one). For example 0.
        out: the tensor to write; by default a new tensor of the first source's library.
        dtype: the element type of the new tensor; docs/rowwise.md says which is the default.

    Returns:
        out, or the new tensor, which is dense and row-major.

    Types:
        as above; docs/rowwise.md has the results' types.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _one(35, _given(a, b), out, dtype, (axis,))


def swiglu_backward(
    dy: Tensor,
    a: Tensor,
    b: Tensor | None = None,
    *,
    axis: int | None = None,
    out: Sequence[Tensor] | None = None,
) -> Any:
    """Computes the gradients of swiglu; without b, of a that holds both.

    Args:
        dy: the rows (floating point).
        a: the rows, or both halves of each row if b is None (floating point).
        b: the rows (floating point).
        axis: the dimension of a row (a dimension; -1 is the last; default: the last one). For example 0.
        out: the tensors to write; by default new tensors of the sources' library.

    Returns:
        out, or the new tensors da, db.

    Types:
        as above; docs/rowwise.md has the results' types.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _some(36, _given(dy, a, b), out, None, (axis,))


def rotary(
    x: Tensor,
    cos: Tensor,
    sin: Tensor,
    *,
    axis: int | None = None,
    layout: str | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
) -> Any:
    """Turns pairs of a row's elements by angles, whose cosines and sines are given.

    Args:
        x: the rows (floating point).
        cos: broadcast by NumPy's rules to the rows' shape with half of their extent along the axis
            (floating point).
        sin: broadcast by NumPy's rules to the rows' shape with half of their extent along the axis
            (floating point).
        axis: the dimension of a row (a dimension; -1 is the last; default: the last one). For example 0.
        layout: which two elements of a row turn together: i and i + half of the row, or 2 i and 2 i + 1
            ("halves", "pairs"; default: halves). For example "pairs".
        out: the tensor to write; by default a new tensor of the first source's library.
        dtype: the element type of the new tensor; docs/rowwise.md says which is the default.

    Returns:
        out, or the new tensor, which is dense and row-major.

    Types:
        as above; docs/rowwise.md has the results' types.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _one(37, _given(x, cos, sin), out, dtype, (axis, layout))


def cast_transpose(
    x: Tensor,
    scale: Tensor | float | None = None,
    to: str | None = None,
    orders: str | None = None,
    amax: bool | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Any:
    """Scales and converts a matrix, and stores it in both orders, with its greatest magnitude, in one pass.

    Args:
        x: a tensor of float16, bfloat16 or float32; its last two dimensions are the matrix, those before
            them count matrices.
        scale: the factor: a tensor with one element of float32, or a number, all of whose values share a
            kernel; None: 1.
        to: the type of the converted elements ("e4m3", "e5m2", "i8", "f16", "bf16"; default: the
            destination's type, else e4m3). For example "e5m2".
        orders: the orders in which the converted matrix is stored ("both", "plain", "transposed"; default:
            both). For example "transposed".
        amax: whether the last destination gets the greatest magnitude of x (a bool; default: True). For
            example False.
        out: the tensors to write; by default new tensors of the sources' library.

    Returns:
        out, or a tuple of the new tensors; if there is one, the new tensor.

    Types:
        as above.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _some(38, _given(x, scale), out, None, (to, orders, amax))


def top_k(
    x: Tensor,
    k: int,
    axis: int | None = None,
    largest: bool | None = None,
    index: str | None = None,
    *,
    out: Tensor | Sequence[Tensor] | None = None,
) -> Any:
    """Takes the k greatest or least elements of each row, in order, with their indices.

    Args:
        x: a tensor with any strides; bool is treated as uint8.
        k: the number of elements that are taken from each row (a whole number, 0 or more). For example 2.
        axis: the dimension along which rows run (a dimension; -1 is the last; default: the last one). For
            example 0.
        largest: whether the greatest elements are taken, or the least (a bool; default: True). For example
            False.
        index: the type of the index, or no for values alone ("i64", "i32", "no"; default: the destination's
            type, else i64). For example "i32".
        out: the tensors to write; by default new tensors of the sources' library.

    Returns:
        out, or a tuple of the new tensors; if there is one, the new tensor.

    Types:
        as above.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _some(39, x, out, None, (k, axis, largest, index))


def gather(
    x: Tensor,
    index: Tensor | Sequence[Tensor],
    axes: Axes | None = None,
    along: bool | None = None,
    out_of_range: str | None = None,
    value: float | None = None,
    flat: bool | None = None,
    expression: str | None = None,
    *,
    out: Tensor | None = None,
    dtype: DType | None = None,
) -> Any:
    """Takes the elements of the source that index tensors select.

    Args:
        x: the tensor whose elements are moved, with any strides.
        index: a tensor of integers of 32 or 64 bits, or one for each indexed dimension. Python's numbers
            after them are p0, p1 …; their values share a kernel. Negative ones count from the end.
        axes: the neighbouring dimensions that are indexed, one for each index tensor (dimensions; -1 is the
            last; default: 0). For example (1, 2).
        along: whether the one index tensor has the rank of the indexed tensor: NumPy's take_along_axis and
            put_along_axis (a bool; default: False). For example True.
        out_of_range: the element that an index outside of its dimension selects: none, the nearest one, or
            none after which the kernel stops by a device assertion ("skip", "clamp", "error"; default:
            skip). For example "clamp".
        value: the element that is stored where an index selects none (a number; default: 0). For example 1.
        flat: whether one index tensor numbers the elements of all axes together, in row-major order (a
            bool; default: False). For example True.
        expression: the C expression of x, the selected element, and p0 … that is stored (an expression;
            default: the selected elements' bits). For example "x*2+1".
        out: the tensor to write; by default a new tensor of the first source's library.
        dtype: the element type of the new tensor; by default the type follows NumPy's rules.

    Returns:
        out, or the new tensor, which is dense and row-major.

    Types:
        every type, moved unchanged; an expression takes integers and floating point.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
        CompileError: the compiler refused the expression; `log` has its output.
    """
    sources = (x, *index) if isinstance(index, (list, tuple)) else (x, index)
    return _one(40, sources, out, dtype, (axes, along, out_of_range, value, flat, expression))


def scatter(
    x: Tensor,
    index: Tensor | Sequence[Tensor],
    axes: Axes | None = None,
    along: bool | None = None,
    out_of_range: str | None = None,
    flat: bool | None = None,
    *,
    out: Tensor,
) -> Any:
    """Stores the source's elements where index tensors say; other elements stay.

    Args:
        x: the tensor whose elements are moved, with any strides.
        index: a tensor of integers of 32 or 64 bits, or one for each indexed dimension. Negative ones count
            from the end.
        axes: the neighbouring dimensions that are indexed, one for each index tensor (dimensions; -1 is the
            last; default: 0). For example (1, 2).
        along: whether the one index tensor has the rank of the indexed tensor: NumPy's take_along_axis and
            put_along_axis (a bool; default: False). For example True.
        out_of_range: the element that an index outside of its dimension selects: none, the nearest one, or
            none after which the kernel stops by a device assertion ("skip", "clamp", "error"; default:
            skip). For example "clamp".
        flat: whether one index tensor numbers the elements of all axes together, in row-major order (a
            bool; default: False). For example True.
        out: the tensor that is read and written.

    Returns:
        out.

    Types:
        every type; bits are moved unchanged.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    sources = (x, *index) if isinstance(index, (list, tuple)) else (x, index)
    return _one(41, sources, out, None, (axes, along, out_of_range, flat))


def scatter_add(
    x: Tensor,
    index: Tensor | Sequence[Tensor],
    axes: Axes | None = None,
    along: bool | None = None,
    out_of_range: str | None = None,
    deterministic: bool | None = None,
    flat: bool | None = None,
    *,
    out: Tensor,
) -> Any:
    """Adds the source's elements to those that index tensors select.

    Args:
        x: the tensor whose elements are moved, with any strides.
        index: a tensor of integers of 32 or 64 bits, or one for each indexed dimension. Negative ones count
            from the end.
        axes: the neighbouring dimensions that are indexed, one for each index tensor (dimensions; -1 is the
            last; default: 0). For example (1, 2).
        along: whether the one index tensor has the rank of the indexed tensor: NumPy's take_along_axis and
            put_along_axis (a bool; default: False). For example True.
        out_of_range: the element that an index outside of its dimension selects: none, the nearest one, or
            none after which the kernel stops by a device assertion ("skip", "clamp", "error"; default:
            skip). For example "clamp".
        deterministic: whether additions to an element have a fixed order, so that equal calls leave equal
            bits (a bool; default: False). For example True.
        flat: whether one index tensor numbers the elements of all axes together, in row-major order (a
            bool; default: False). For example True.
        out: the tensor that is read and written.

    Returns:
        out.

    Types:
        integers and floating point; bool is treated as uint8.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    sources = (x, *index) if isinstance(index, (list, tuple)) else (x, index)
    return _one(42, sources, out, None, (axes, along, out_of_range, deterministic, flat))


def moe_permute(
    x: Tensor,
    experts: Tensor,
    count: int,
    alignment: int | None = None,
    *,
    out: Sequence[Tensor] | None = None,
) -> Any:
    """Sorts the rows of tokens by expert, stably, and says where they are.

    Args:
        x: the tensor whose elements are moved, with any strides.
        experts: a tensor of integers of 32 or 64 bits.
        count: the number of experts; ids from this number on and negative ones move nothing (a whole
            number, 0 or more). For example 2.
        alignment: the first row of each expert is a multiple of this number (a whole number, 0 or more;
            default: 1). For example 128.
        out: the tensors to write; by default new tensors of the sources' library.

    Returns:
        out, or the new tensors rows, positions, counts, offsets.

    Types:
        every type; bits are moved unchanged.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _all(43, (x, experts), out, None, (count, alignment))


def gather_sum(
    x: Tensor,
    index: Tensor,
    weights: Tensor | None = None,
    axes: Axes | None = None,
    out_of_range: str | None = None,
    flat: bool | None = None,
    *,
    offsets: Tensor | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
) -> Any:
    """Adds up the elements of the source that an index tensor selects, times weights.

    Args:
        x: the tensor whose elements are moved, with any strides.
        index: a tensor of integers of 32 or 64 bits, whose last dimension is summed. Negative ones count
            from the end.
        weights: a floating-point tensor of the index tensor's shape; by default ones.
        axes: the dimension that is indexed; several neighbours if they are flat (dimensions; -1 is the
            last; default: 0). For example 1.
        out_of_range: the element that an index outside of its dimension selects: none, the nearest one, or
            none after which the kernel stops by a device assertion ("skip", "clamp", "error"; default:
            skip). For example "clamp".
        flat: whether one index tensor numbers the elements of all axes together, in row-major order (a
            bool; default: False). For example True.
        offsets: a tensor of int32 or int64 of one dimension: the first index of each bag, then the end of
            the last bag. The index tensor then has one dimension, too. By default each line of the index
            tensor is a bag.
        out: the tensor to write; by default a new tensor of the first source's library.
        dtype: the element type of the new tensor; docs/gather.md says which is the default.

    Returns:
        out, or the new tensor, which is dense and row-major.

    Types:
        integers and floating point; bool is treated as uint8.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    ragged = None if offsets is None else True
    return _one(44, _present(x, index, weights, offsets), out, dtype, (axes, out_of_range, flat, ragged))


def copy_ragged(
    sources: Sequence[Tensor],
    *,
    out: Sequence[Tensor] | None = None,
) -> Any:
    """Copies each source to a destination, tensors of different sizes in one launch.

    Args:
        sources: the tensors, in order.
        out: the tensors to write; by default new tensors of the sources' library.

    Returns:
        out, or a tuple of the new tensors.

    Types:
        every type; bits are moved unchanged.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _all(45, sources, out, None, ())


def reduce_into(
    x: Tensor,
    op: str,
    out: Tensor,
) -> Any:
    """Combines the source's elements with the destination's, by the copy engine.

    Args:
        x: a tensor with any strides and 0 to 8 dimensions.
        op: how each source element is combined with the destination's ("add", "min", "max", "inc", "dec",
            "and", "or", "xor"). For example "add".
        out: the tensor that is read and written.

    Returns:
        out.

    Types:
        integers and floating point; bool is treated as uint8.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _one(46, x, out, None, (op,))


def im2col(
    x: Tensor,
    filter: Extents,
    strides: Extents | None = None,
    dilations: Extents | None = None,
    padding: Widths | None = None,
    out: Tensor | None = None,
) -> Any:
    """Writes the pixels of each window of images side by side.

    Args:
        x: a tensor with any strides and 0 to 8 dimensions.
        filter: the taps of a window in each dimension of the images (whole numbers, 0 or more). For example
            (3, 3).
        strides: pixels from window to window (whole numbers; default: 1). For example (2, 2).
        dilations: pixels from tap to tap (whole numbers; default: 1). For example (2, 2).
        padding: pixels of zeros before and after each dimension of the images (for each dimension a whole
            number, or a pair (before, after); default: 0). For example ((1, 2), (1, 2)).
        out: the tensor to write; by default a new tensor of the first source's library.

    Returns:
        out, or the new tensor, which is dense and row-major.

    Types:
        every type; bits are moved unchanged.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _one(47, x, out, None, (filter, strides, dilations, padding))


def convolution(
    x0: Tensor,
    x1: Tensor,
    *,
    filter: Extents | None = None,
    strides: Extents | None = None,
    dilations: Extents | None = None,
    padding: Widths | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
) -> Any:
    """Computes the forward convolution of images and a filter, in f32.

    Args:
        x0, x1: the two tensors.
        filter: the taps of a window in each dimension of the images (whole numbers, 0 or more; default:
            those of the filter tensor). For example (3, 3).
        strides: pixels from window to window (whole numbers; default: 1). For example (2, 2).
        dilations: pixels from tap to tap (whole numbers; default: 1). For example (2, 2).
        padding: pixels of zeros before and after each dimension of the images (for each dimension a whole
            number, or a pair (before, after); default: 0). For example ((1, 2), (1, 2)).
        out: the tensor to write; by default a new tensor of the first source's library.
        dtype: the element type of the new tensor; by default the type follows NumPy's rules.

    Returns:
        out, or the new tensor, which is dense and row-major.

    Types:
        integers and floating point; bool is treated as uint8.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
    """
    return _one(48, (x0, x1), out, dtype, (filter, strides, dilations, padding))


def tiles(
    x: Tensor | Sequence[Tensor],
    family: str | None = None,
    expression: str | None = None,
    op: str | None = None,
    box: Extents | None = None,
    element_strides: Extents | None = None,
    swizzle: str | None = None,
    interleave: str | None = None,
    oob: str | None = None,
    l2: str | None = None,
    stages: int | None = None,
    output_stages: int | None = None,
    warps: int | None = None,
    ctas_per_sm: int | None = None,
    tiles_per_cta: int | None = None,
    *,
    out: Tensor | None = None,
    dtype: DType | None = None,
) -> Any:
    """Copies, combines or computes by a kernel whose tile you choose, without rewriting the tensors.

    Args:
        x: a tensor, or a sequence of up to 8, broadcast to a common shape by NumPy's rules. Python's
            numbers after them are p0, p1 …; their values share a kernel.
        family: the family of kernels ("copy", "map", "bulk", "snapshot", "reduce_into"; default: copy). For
            example "map".
        expression: the expression of map or bulk; it may read p0 …, t[d], the element's position in the
            tile, and tile_index, its number (an expression; default: none). For example "x*2+1".
        op: how each source element is combined with the destination's ("add", "min", "max", "inc", "dec",
            "and", "or", "xor"; default: add). For example "add".
        box: the tile of the first source, in elements; for bulk one number (whole numbers, 0 or more;
            default: the family's). For example (32, 64).
        element_strides: for each dimension a number n, 1 to 8: a tile loads every n-th element (whole
            numbers, 0 or more; default: every element). For example (2, 1).
        swizzle: how rows of the tile are permuted in shared memory ("none", "32B", "64B", "128B"; default:
            none). For example "128B".
        interleave: the layout of channels; every family supports only none ("none", "16B", "32B"; default:
            none). For example "none".
        oob: the values that elements outside the tensor have ("zero", "nan"; default: zero). For example
            "nan".
        l2: the granularity of fetches into L2 ("none", "64B", "128B", "256B"; default: 256B). For example
            "128B".
        stages: input tiles in flight (a whole number, 0 or more; default: the family's). For example 3.
        output_stages: output tiles in flight (a whole number, 0 or more; default: the family's). For
            example 2.
        warps: warps that compute (a whole number, 0 or more; default: the family's). For example 4.
        ctas_per_sm: CTAs that share an SM (a whole number, 0 or more; default: the family's). For example
            2.
        tiles_per_cta: tiles that a CTA processes before it ends; 0: a persistent grid (a whole number, 0 or
            more; default: the family's). For example 1.
        out: the tensor to write; by default a new tensor of the first source's library.
        dtype: the element type of the new tensor; by default the type follows NumPy's rules.

    Returns:
        out, or the new tensor, which is dense and row-major.

    Types:
        integers and floating point; bool is treated as uint8.

    Raises:
        ArgumentError: shapes, arguments and the number of tensors do not match.
        SpecError: tensors overlap or break another rule, which the error's `rule` names.
        CompileError: the compiler refused the expression; `log` has its output.
    """
    return _one(49, x, out, dtype, (family, expression, op, box, element_strides, swizzle, interleave, oob,
        l2, stages, output_stages, warps, ctas_per_sm, tiles_per_cta))


__all__ = ["copy", "permute", "slice", "flip", "broadcast", "pad", "cast", "concat", "split", "map",
    "stencil", "reduce", "scan", "rowwise", "softmax", "softmax_backward", "log_softmax",
    "log_softmax_backward", "logsumexp", "rms_norm", "rms_norm_backward", "add_rms_norm", "layer_norm",
    "layer_norm_backward", "l2_normalize", "cross_entropy", "cross_entropy_with_gradient",
    "cross_entropy_backward", "max_with_index", "quantize_rows", "dequantize_rows", "quantize_blocks",
    "dequantize_blocks", "quantize_tensor", "dequantize_tensor", "swiglu", "swiglu_backward", "rotary",
    "cast_transpose", "top_k", "gather", "scatter", "scatter_add", "moe_permute", "gather_sum",
    "copy_ragged", "reduce_into", "im2col", "convolution", "tiles"]
