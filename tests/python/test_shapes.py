"""The shapes that tmajit._shapes computes in Python are those of the library."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from operation_cases import CASES, as_list
from support import SEED
from tmajit import _conveniences, _core, _shapes, _values

OPERATIONS = [operation["name"] for operation in _values.OPERATIONS]


def check(number, sources, out, dtype, values):
    """Runs in place of an operation: compares the shapes of its results."""
    sources = as_list(sources)
    described = _core.describe_results(number, [(x.dtype, x.shape) for x in sources], dtype, values)
    for given in (values, _values.restored(number, _values.flattened(number, values))):
        named = _values.named(number, given)
        found = _shapes.results(OPERATIONS[number], [x.shape for x in sources], named)
        assert found == [tuple(shape) for _, shape in described], (OPERATIONS[number], given)


#: tmajit's functions, which call check() and do nothing else.
checked = SimpleNamespace(
    **_conveniences.functions_over(
        {
            "_one": check,
            "_some": check,
            "_all": check,
            "_given": _values.given_sources,
            "_present": _values.present_sources,
        }
    )
)


def zeros(shape):
    """An array that needs no memory."""
    return np.broadcast_to(np.float32(0), shape)


def integers(numbers):
    return tuple(int(n) for n in numbers)


def test_only_these_operations_have_no_symbolic_shapes():
    assert [name for name in OPERATIONS if not _shapes.is_described(name)] == [
        "scatter",
        "scatter_add",
        "reduce_into",
        "tiles",
    ]


@pytest.mark.parametrize("case", [case for case in CASES if _shapes.is_described(case.name)], ids=str)
def test_cases(case):
    case.call(checked, lambda x: x)


def test_random_calls():
    print(f"seed {SEED}")
    rng = np.random.default_rng(SEED)
    for _ in range(100):
        rank = int(rng.integers(1, 9))
        shape = integers(rng.integers(0, 6, rank))
        x = zeros(shape)
        axes = [d - rank * int(rng.integers(2)) for d in range(rank) if rng.integers(2)]
        axis = int(rng.integers(-rank, rank))
        y = zeros([n if rng.integers(2) else 1 for n in shape][int(rng.integers(rank)) :])
        checked.permute(x, integers(rng.permutation(rank)))
        first = int(rng.integers(rank))
        index = np.broadcast_to(np.int32(0), integers(rng.integers(0, 4, rng.integers(1, 3))))
        last = min(first + int(rng.integers(1, 3)), rank)
        if rank + index.ndim <= 8:
            checked.gather(x, [index] * (last - first), tuple(range(first, last)))
        places = [1 if rng.integers(4) == 0 else n for n in shape]
        places[first] = int(rng.integers(4))
        checked.gather(x, np.broadcast_to(np.int32(0), places), first - rank, along=True)
        if rank > 1:
            ids = np.broadcast_to(np.int32(0), (shape[0], int(rng.integers(0, 4))))
            checked.moe_permute(x, ids, int(rng.integers(1, 9)), int(rng.integers(1, 9)))
            checked.moe_permute(x, ids[:, :1].reshape(-1) if ids.size else ids, 3)
        if shape[axis] > 0:
            checked.top_k(x, int(rng.integers(1, shape[axis] + 1)), axis)
            checked.top_k(x, 1, axis, index="no")
        checked.flip(x, axes)
        checked.pad(x, [integers(pair) for pair in rng.integers(0, 4, (rank, 2))])
        checked.pad(x, [(-(n // 2), -(n // 3)) for n in shape])
        bounds = [None, *range(-7, 8)]
        checked.slice(
            x,
            tuple(
                slice(bounds[rng.integers(16)], bounds[rng.integers(16)], step)
                for step in rng.choice([1, 2, 3, -1, -2], rng.integers(rank + 1)).tolist()
            ),
        )
        checked.broadcast(y, shape)
        checked.concat([x, x, x], axis)
        if rank < 8:
            checked.concat([x, x], int(rng.integers(-rank - 1, rank + 1)), new_axis=True)
        checked.split(x, axis, (shape[axis] // 2, shape[axis] - shape[axis] // 2))
        checked.map("x0 + x1", y, x)
        checked.reduce([y, x], "sum", axes, expression="x0 * x1")
        checked.reduce(x, "max", axis, keep_dims=True)
        checked.scan([x, y], "sum", axis, expression="x0 * x1")
        checked.copy_ragged([x, y])


def test_random_rows():
    print(f"seed {SEED}")
    rng = np.random.default_rng(SEED)
    for _ in range(100):
        rank = int(rng.integers(1, 8))
        shape = integers(2 * rng.integers(1, 4, rank))
        x = zeros(shape)
        axes = [d - rank * int(rng.integers(2)) for d in range(rank) if rng.integers(2)] or [-1]
        axis = int(rng.integers(-rank, rank))
        checked.rowwise([x, x[..., :1]], "m = max(x0); y0 = x0 - m; y1 = m; y2 = sum(x1)", axes)
        checked.rowwise(x, "y = mean(x)")
        checked.softmax(x, axis)
        checked.layer_norm(x, zeros((shape[axis],)), axis=axis)
        checked.max_with_index(x, axis)
        checked.cross_entropy_with_gradient(
            x, zeros(shape[:axis] + shape[axis % rank + 1 :]).astype("i8"), axis=axis
        )
        if rank > 1 and rank < 7:
            checked.quantize_blocks(x, 1)
            checked.dequantize_blocks(x.astype("i1"), x, block=1)
        if rank == 2:
            checked.quantize_blocks(np.repeat(np.repeat(x, 64, -1), 64, -2))
        checked.quantize_tensor(x)
        checked.dequantize_tensor(x.astype("i1"), zeros(()))
        checked.quantize_rows(x, axis)
        checked.quantize_rows(x, axis, 2)
        checked.swiglu(x, axis=axis)
        checked.swiglu(x, x, axis=axis)
        checked.swiglu_backward(x, np.concatenate([x, x], axis), axis=axis)
        checked.swiglu_backward(x, x, x, axis=axis)
        checked.rotary(x, *2 * [np.split(x, 2, axis)[0]], axis=axis)


def test_random_windows():
    print(f"seed {SEED}")
    rng = np.random.default_rng(SEED)
    for _ in range(200):
        rank = int(rng.integers(1, 4))
        filter, dilations, strides = (integers(rng.integers(1, 4, rank)) for _ in range(3))
        padding = tuple(integers(pair) for pair in rng.integers(0, 4, (rank, 2)))
        pixels = [
            (n - 1) * dilation + 1 + int(rng.integers(4))
            for n, dilation in zip(filter, dilations, strict=True)
        ]
        images = zeros((2, *pixels, 5))
        checked.im2col(images, filter, strides, dilations, padding)
        checked.convolution(
            images, zeros((7, *filter, 5)), strides=strides, dilations=dilations, padding=padding
        )


def test_slices_select_what_pythons_select():
    far = _values.FAR
    bounds = [None, *range(-6, 7), far, -far]
    for extent, start, stop, step in itertools.product(range(5), bounds, bounds, [None, 1, 2, 3, -1, -2, -3]):
        one = slice(start, stop, step)
        wanted = range(*one.indices(extent))
        first, count, found_step = _shapes.selected(one, extent)
        assert (count, found_step) == (len(wanted), wanted.step), (extent, one)
        assert not wanted or first == wanted.start, (extent, one)
