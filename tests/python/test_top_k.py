"""top_k against NumPy's stable argsort."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import tmajit
from support import SEED

TYPES = [
    *(np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.uint64, np.int64),
    *(np.float16, ml_dtypes.bfloat16, np.float32, np.float64),
    *(ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2),
]


def ranks(x):
    """Numbers in the order of the elements: NaN is the greatest, and zeros of both signs are equal."""
    if x.dtype.kind in "ui":
        return np.unique(x, return_inverse=True)[1].reshape(x.shape)
    with np.errstate(invalid="ignore"):  # signalling NaN
        wide = x.astype(np.float64)
    numbers = np.where(np.isnan(wide), np.inf, wide)
    return np.unique(numbers, return_inverse=True)[1].reshape(x.shape) + np.isnan(wide)


def wanted_index(x, k, axis, largest):
    keys = ranks(x).astype(np.int64)
    order = np.argsort(-keys if largest else keys, axis=axis, kind="stable")
    return np.take(order, range(k), axis=axis)


def same_bits(a, b):
    return np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()


def check(x, k, axis=-1, largest=True):
    values, index = tmajit.top_k(x, k, axis=axis, largest=largest)
    wanted = wanted_index(x, k, axis, largest)
    assert index.dtype == np.int64 and values.dtype == x.dtype
    np.testing.assert_array_equal(index, wanted)
    assert same_bits(values, np.take_along_axis(x, wanted, axis))


@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: np.dtype(dtype).name)
def test_selects_as_a_stable_argsort_does(dtype):
    rng = np.random.default_rng(SEED)
    print(f"seed {SEED}")
    for shape, k in (((5, 64), 8), ((3, 41), 41), ((2, 3000), 1), ((2, 3, 700), 100), ((1, 5000), 2048)):
        bits = np.frombuffer(rng.bytes(int(np.prod(shape)) * np.dtype(dtype).itemsize), dtype).reshape(shape)
        few = rng.integers(0, 4, shape).astype(dtype)
        for x in (bits, few):
            for largest in (True, False):
                check(x, k, largest=largest)


def test_any_axis_and_strides():
    rng = np.random.default_rng(SEED)
    x = rng.integers(-50, 50, (6, 20, 7)).astype(np.float32)
    for axis in range(-3, 3):
        for view in (x, x[::-1, ::2, ::-1], x.transpose(2, 0, 1)):
            check(view, min(5, view.shape[axis]), axis, largest=bool(axis % 2))


def test_nan_infinities_and_denormals():
    x = np.array([0.0, -0.0, np.nan, -np.inf, 1e-45, np.inf, -np.nan, -1e-45, 5], np.float32)
    check(x, 9)
    check(x, 9, largest=False)
    assert tmajit.top_k(x, 9)[1].tolist() == [2, 6, 5, 8, 4, 0, 1, 7, 3]


def test_the_index_has_a_type_or_is_left_out():
    x = np.random.default_rng(SEED).random((4, 50), np.float32)
    values, index = tmajit.top_k(x, 3, index="i32")
    assert index.dtype == np.int32
    alone = tmajit.top_k(x, 3, index="no")
    assert isinstance(alone, np.ndarray) and (alone == values).all()
    out = [np.empty((4, 3), np.float32), np.empty((3, 4), np.int32).T]
    assert tmajit.top_k(x, 3, out=out) is out
    assert (out[0] == values).all() and (out[1] == index).all()


def test_wrong_calls_say_what_is_legal():
    x = np.zeros((4, 3000), np.float32)
    for call, words in (
        (lambda: tmajit.top_k(x, 0), "k = 0 of rows of 3000 elements; legal are 1 to 2048"),
        (lambda: tmajit.top_k(x, 2049), "k = 2049"),
        (lambda: tmajit.top_k(x, 5, axis=0), "k = 5 of rows of 4 elements"),
        (lambda: tmajit.top_k(x, 2, axis=2), "axis 2 of x"),
        (lambda: tmajit.top_k(x, 2, index="u8"), "u8"),
    ):
        with pytest.raises(tmajit.ArgumentError, match=words):
            call()
    out = (np.empty((4, 2), np.float32), np.empty((4, 2), np.uint32))
    with pytest.raises(tmajit.SpecError, match="i32 or i64"):
        tmajit.top_k(x, 2, out=out)
