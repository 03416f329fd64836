"""Numbers in place of sources: p0, p1 … of expressions."""

from __future__ import annotations

import numpy as np
import pytest

import tmajit
from support import SEED, assert_same, random_shape, random_view


def test_random_maps_with_numbers():
    print(f"seed {SEED}")
    rng = np.random.default_rng(SEED)
    for rank in range(9):
        a = random_view(rng, random_shape(rng, rank), np.float32)
        scale, shift = (float(np.float32(value)) for value in rng.normal(size=2))
        wanted = np.fmax(np.asarray(a), np.float32(scale)) - np.float32(shift)
        assert_same(tmajit.map("fmaxf(x, p0) - p1", a, scale, shift), wanted, (rank, scale, shift))


def test_the_types_of_numbers():
    single = np.arange(6, dtype=np.float32)
    assert_same(tmajit.map("x * p0", single, 3), single * np.float32(3))
    double = single.astype(np.float64)
    assert_same(tmajit.map("x * p0", double, 0.1), double * 0.1)
    whole = np.arange(6, dtype=np.int32)
    assert_same(tmajit.map("x + p0", whole, 7), whole + np.int32(7))
    assert_same(tmajit.map("x * p0", whole, 0.5), whole.astype(np.float32) * np.float32(0.5), "float32")
    wide = np.arange(6, dtype=np.int64)
    assert_same(tmajit.map("x + p0", wide, 1 << 40), wide + (1 << 40))
    half = np.arange(6, dtype=np.float16)
    assert tmajit.map("x * p0", half, 0.5).dtype == np.float16  # a number does not change the type
    with pytest.raises(tmajit.ArgumentError, match="i32"):
        tmajit.map("x + p0", whole, 1 << 40)
    with pytest.raises(tmajit.ArgumentError, match="out of range; legal is"):
        tmajit.map("x + p0", wide, 1 << 70)


def test_reductions_scans_and_rows_take_numbers():
    x = np.arange(12, dtype=np.int64).reshape(3, 4)
    assert_same(tmajit.reduce([x, 3], "sum", 1, expression="x * p0"), (x * 3).sum(1))
    assert_same(tmajit.scan([x, 3], "sum", 1, expression="x + p0"), np.cumsum(x + 3, 1))
    f = x.astype(np.float32)
    rows = tmajit.rowwise([f, 2.0], "y0 = x * p0; y1 = sum(x) / p0")
    assert_same(rows[0], f * 2)
    assert_same(rows[1], f.sum(1) / 2)


def test_epilogues_and_stencils_take_numbers():
    print(f"seed {SEED}")
    rng = np.random.default_rng(SEED)
    x = rng.integers(-9, 10, (5, 7)).astype(np.float32)
    for p in (0, -0.0, *(float(np.float32(value)) for value in rng.normal(size=3))):
        number = np.float32(p)
        assert_same(tmajit.reduce([x, p], "sum", 1, epilogue="x * p0"), x.sum(1) * number)
        found = tmajit.reduce([x, 2, p], "max", expression="x * p0", epilogue="x - p1")
        assert_same(found, np.float32((x * 2).max() - number))
        padded = np.pad(x, ((0, 0), (1, 1)))
        found = tmajit.stencil("fmaxf(x(-1), x(1)) * p0", x, p)
        assert_same(found, np.maximum(padded[:, :-2], padded[:, 2:]) * number)
    whole = x.astype(np.int32)
    assert_same(tmajit.reduce([whole, 0.5], "sum", epilogue="x * p0"), np.float32(whole.sum() / 2), "float32")
    with pytest.raises(tmajit.SpecError, match="numbers that exist"):
        tmajit.reduce([x, 2.0], "sum", epilogue="x * p1")
    with pytest.raises(tmajit.SpecError, match="1 is a tensor"):
        tmajit.stencil("p0", 2.0, out=x)


def test_tiles_take_numbers():
    x = np.arange(16 * 24, dtype=np.float32).reshape(16, 24)
    for p in 0.0, 0.5, -3.0:
        found = tmajit.tiles([x, p, 2], "map", "x * p0 + p1", box=(8, 16))
        assert_same(found, x * np.float32(p) + 2)
        assert_same(tmajit.tiles([x, p], "bulk", "x - p0"), x - np.float32(p))
    found = tmajit.tiles([x, x, 3], "map", "x0 + x1 * p0")
    assert_same(found, x + x * 3)
    with pytest.raises(tmajit.SpecError, match="numbers"):
        tmajit.tiles([x, 2.0], "copy")
    with pytest.raises(tmajit.SpecError, match="numbers that exist"):
        tmajit.tiles(x, "map", "x * p0")


def test_plans_take_other_numbers():
    x = np.arange(6, dtype=np.float32)
    plan = tmajit.plan("map", x, 2.0, expression="x * p0")
    for value in (2.0, 3, -0.5):
        assert_same(plan(x, value), x * np.float32(value))
    assert_same(tmajit.plan("map", x, 0.0, expression="x + p0")(x, 1.0), x + 1)
    whole = tmajit.plan("map", x.astype(np.int32), 2, expression="x * p0")
    with pytest.raises(tmajit.ArgumentError, match="integer"):
        whole(x.astype(np.int32), 0.5)
    with pytest.raises(tmajit.ArgumentError, match="number in place"):
        plan(x, x)


def test_a_map_of_numbers_alone():
    out = np.empty((3, 5), np.float32)
    tmajit.map("p0 + g[0]", 0.5, out=out)
    assert_same(out, np.repeat(np.arange(3) + 0.5, 5).reshape(3, 5).astype(np.float32))
    with pytest.raises(tmajit.ArgumentError, match="needs out"):
        tmajit.map("p0", 0.5)


def test_wrong_uses_of_numbers_are_refused():
    x = np.arange(6, dtype=np.float32)
    with pytest.raises(tmajit.SpecError, match="after all tensors"):
        tmajit.map("x * p0", 2.0, x)
    with pytest.raises(tmajit.SpecError, match="numbers that exist"):
        tmajit.map("x * p0", x)
    with pytest.raises(TypeError, match="a source is no tensor"):
        tmajit.concat([x, 2.0], 0)
