"""cast_transpose against its definition in NumPy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import tmajit
from support import SEED

X = np.random.default_rng(3).standard_normal((37, 72)).astype(np.float32)


def test_both_orders_and_the_greatest_magnitude():
    q, qt, amax = tmajit.cast_transpose(X, 4.0)
    wanted = (X * np.float32(4)).astype(ml_dtypes.float8_e4m3fn)
    assert q.dtype == wanted.dtype and qt.dtype == wanted.dtype and amax.dtype == np.float32
    assert (q.view(np.uint8) == wanted.view(np.uint8)).all()
    assert (qt.view(np.uint8) == wanted.T.view(np.uint8)).all()
    assert amax.shape == () and amax == np.abs(X).max()


def test_the_scale_is_a_tensor_or_a_number_or_missing():
    by_number = tmajit.cast_transpose(X, 2, to="bf16", orders="plain", amax=False)
    by_tensor = tmajit.cast_transpose(X, np.full((1,), 2, np.float32), to="bf16", orders="plain", amax=False)
    assert isinstance(by_number, np.ndarray)
    assert (by_number == by_tensor).all() and (by_number == (X * 2).astype(ml_dtypes.bfloat16)).all()
    plain, amax = tmajit.cast_transpose(X, to="f16", orders="plain")
    assert (plain == X.astype(np.float16)).all() and amax == np.abs(X).max()


def test_random_calls():
    print(f"seed {SEED}")
    rng = np.random.default_rng(SEED)
    for _ in range(12):
        shape = tuple(int(n) for n in rng.integers(1, 90, 2))
        if rng.integers(3) == 0:
            shape = (int(rng.integers(1, 4)), *shape)
        x = (rng.standard_normal(shape) * 100).astype(
            [np.float16, ml_dtypes.bfloat16, np.float32][rng.integers(3)]
        )
        scale = np.float32(rng.uniform(0.01, 2))
        q, qt, amax = tmajit.cast_transpose(x, np.asarray(scale), to="i8")
        wanted = np.clip(np.rint(x.astype(np.float32) * scale), -128, 127).astype(np.int8)
        assert (q == wanted).all() and (qt == np.swapaxes(wanted, -1, -2)).all()
        assert amax == np.abs(x.astype(np.float32)).max()


def test_out_and_nan():
    x = X.copy()
    x[3, 4] = np.nan
    out = [np.empty((72, 37), np.int8), np.empty(1, np.float32)]
    assert tmajit.cast_transpose(x, 1.0, orders="transposed", out=out) is out
    assert out[0][4, 3] == 0 and np.isnan(out[1][0])


def test_wrong_calls_say_what_is_legal():
    with pytest.raises(tmajit.ArgumentError, match="x has 1 dimension; legal are 2 or more"):
        tmajit.cast_transpose(X[0], 1.0)
    with pytest.raises(tmajit.SpecError, match="needs one element"):
        tmajit.cast_transpose(X, np.ones(2, np.float32))
    with pytest.raises(tmajit.SpecError, match="needs f16, bf16 or f32"):
        tmajit.cast_transpose(X.astype(np.int32), 1.0)
