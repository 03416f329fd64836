"""Operations that compute, compared with NumPy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import tmajit
from support import EIGHT_BITS, FLOATS, INTEGERS, SEED, assert_same, random_array, random_shape, random_view


def test_random_maps():
    print(f"seed {SEED}")
    rng = np.random.default_rng(SEED)
    for rank in range(9):
        shape = random_shape(rng, rank)
        a = random_view(rng, shape, np.float32)
        b = random_view(rng, shape, np.float32)
        assert_same(tmajit.map("x0 * x1 + 1", a, b), np.asarray(a * b + 1), (rank, shape))


def test_maps_broadcast_sources():
    a = np.arange(6, dtype=np.int32).reshape(2, 3)
    b = np.arange(3, dtype=np.int32)
    assert_same(tmajit.map("x0 - x1", a, b), a - b)


def test_a_map_without_sources():
    out = np.empty((3, 5), np.float32)
    tmajit.map("g[0] * 10 + g[1]", out=out)  # g: the coordinates of the element
    assert_same(out, np.add.outer(np.arange(3) * 10, np.arange(5)).astype(np.float32))
    with pytest.raises(tmajit.ArgumentError, match="needs out"):
        tmajit.map("1.0f")


def test_a_map_in_place():
    x = np.arange(10, dtype=np.float32)
    tmajit.map("2 * x", x, out=x)
    assert_same(x, np.arange(10, dtype=np.float32) * 2)


@pytest.mark.parametrize("to", [*INTEGERS, *FLOATS, *EIGHT_BITS], ids=lambda dtype: np.dtype(dtype).name)
def test_casts(to):
    rng = np.random.default_rng(SEED)
    for dtype in (np.int8, np.float32, ml_dtypes.bfloat16):
        x = rng.integers(0, 9, (4, 5)).astype(np.float32).astype(dtype)
        assert_same(tmajit.cast(x, to), x.astype(np.float32).astype(to), dtype)


def test_types_by_name():
    x = np.arange(4, dtype=np.float32)
    for kind in ("float16", "f16", np.float16, np.dtype("float16")):
        assert tmajit.cast(x, kind).dtype == np.float16
    with pytest.raises(tmajit.Error, match="legal are"):
        tmajit.cast(x, "float17")


REDUCTIONS = [
    (tmajit.sum, np.sum),
    (tmajit.max, np.max),
    (tmajit.min, np.min),
    (tmajit.argmax, np.argmax),
    (tmajit.argmin, np.argmin),
]


@pytest.mark.parametrize("ours, numpys", REDUCTIONS, ids=lambda function: function.__name__)
def test_random_reductions(ours, numpys):
    print(f"seed {SEED}")
    rng = np.random.default_rng(SEED)
    for rank in range(1, 9):
        dtype = [np.int32, np.float32, np.uint8][rank % 3]
        x = random_view(rng, random_shape(rng, rank), dtype)
        axis = int(rng.integers(-rank, rank))
        wanted = numpys(x, axis=axis)
        found = ours(x, axis)
        assert found.shape == wanted.shape
        assert (found == wanted).all(), (rank, dtype, axis)
        assert ours(x, axis, keep_dims=True).shape == numpys(x, axis=axis, keepdims=True).shape
    assert ours(x) == numpys(x)


def test_reductions_of_expressions():
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    found = tmajit.reduce(x, "sum", 1, expression="x * x", epilogue="sqrt(x / n)")
    np.testing.assert_allclose(found, np.sqrt((x * x).mean(1)), rtol=1e-6)
    assert tmajit.mean(x) == x.mean()
    assert tmajit.any(x) == 1
    assert tmajit.all(x) == 0


def test_random_scans():
    rng = np.random.default_rng(SEED)
    for rank in range(1, 9):
        x = random_view(rng, random_shape(rng, rank), np.int32)
        axis = int(rng.integers(-rank, rank))
        assert_same(tmajit.cumsum(x, axis), np.cumsum(x, axis, dtype=np.int64), (rank, axis))
    x = np.arange(1, 6)
    assert tmajit.cumsum(x, exclusive=True).tolist() == [0, 1, 3, 6, 10]
    assert tmajit.cumprod(x, reverse=True).tolist() == [120, 120, 60, 20, 5]


def test_stencil():
    x = np.arange(30, dtype=np.float32).reshape(5, 6)
    padded = np.pad(x, 1, mode="edge")
    wanted = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
    assert_same(tmajit.stencil("x(-1,0) + x(1,0) + x(0,-1) + x(0,1)", x, boundary="clamp"), wanted)


def test_convolution_and_im2col():
    rng = np.random.default_rng(SEED)
    images = random_array(rng, (2, 6, 5, 4), np.float32)
    weights = random_array(rng, (3, 3, 3, 4), np.float32)
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))
    wanted = np.einsum("nhwcij,oijc->nhwo", windows, weights)
    found = tmajit.convolution(images, weights, padding=(1, 1))
    assert found.size == wanted.size
    assert (found.reshape(wanted.shape) == wanted).all()
    columns = tmajit.im2col(images, (3, 3), padding=((1, 1), (1, 1)))
    assert (columns.ravel() == windows.transpose(0, 1, 2, 4, 5, 3).ravel()).all()


def test_reduce_into():
    out = np.ones((4, 8), np.float32)
    x = np.arange(32, dtype=np.float32).reshape(4, 8)
    tmajit.reduce_into(x, "add", out)
    assert (out == x + 1).all()


def test_complex_numbers_are_only_moved():
    x = np.ones(3, np.complex64)
    with pytest.raises(tmajit.Error, match="complex64"):
        tmajit.map("x + 1", x)
    with pytest.raises(tmajit.Error, match="complex64"):
        tmajit.pad(x, ((1, 1),), value=2.0)
