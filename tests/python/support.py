"""Random arrays and comparisons that several tests use."""

from __future__ import annotations

import os

import ml_dtypes
import numpy as np

SEED = int(os.environ.get("TMAJIT_SEED", "20261126"))

INTEGERS = [np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.uint64, np.int64]
FLOATS = [np.float16, np.float32, np.float64, ml_dtypes.bfloat16]
EIGHT_BITS = [ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2]
MOVED = [*INTEGERS, *FLOATS, *EIGHT_BITS, np.bool_, np.complex64]


def random_shape(rng, rank, max_elements=200):
    """A shape of at most `max_elements` elements; some extents are 1."""
    shape = []
    left = max_elements
    for _ in range(rank):
        extent = int(rng.integers(1, max(2, min(left, 9))))
        shape.append(extent)
        left //= extent
    rng.shuffle(shape)
    return tuple(shape)


def random_array(rng, shape, dtype):
    """A dense array of random finite numbers."""
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(np.bool_)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    if dtype == np.complex64:
        return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)
    return rng.integers(-8, 9, shape).astype(np.float32).astype(dtype)


def random_view(rng, shape, dtype):
    """An array of that shape with random strides: negative, zero, permuted or with gaps."""
    rank = len(shape)
    order = rng.permutation(rank)
    steps = rng.choice([1, 1, 2, -1], rank)
    whole = [shape[d] * abs(int(steps[d])) for d in order]
    array = random_array(rng, tuple(whole), dtype)
    view = array.transpose(np.argsort(order)) if rank else array
    view = view[tuple(slice(None, None, int(step)) for step in steps)]
    for d in range(rank):
        if rng.integers(6) == 0:
            view = np.broadcast_to(
                view[tuple(slice(0, 1) if e == d else slice(None) for e in range(rank))], shape
            )
    assert view.shape == shape
    return view


def bits(array):
    """The bytes of an array, by which equal NaNs compare equal."""
    return np.ascontiguousarray(array).tobytes()


def assert_same(found, wanted, what=""):
    assert found.dtype == wanted.dtype, (what, found.dtype, wanted.dtype)
    assert found.shape == wanted.shape, (what, found.shape, wanted.shape)
    assert bits(found) == bits(wanted), (what, found, wanted)
