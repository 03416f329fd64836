"""gather, scatter, scatter_add and gather_sum against NumPy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tmajit
from support import SEED

TYPES = [np.float32, np.float16, np.uint8, np.int64, np.complex64]


def places(rng, extent, shape, dtype=np.int64, negative=True):
    """Random indices of a dimension."""
    low = -extent if negative and np.issubdtype(dtype, np.signedinteger) else 0
    return rng.integers(low, extent, shape).astype(dtype)


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.uint32, np.uint64])
@pytest.mark.parametrize("dtype", TYPES)
def test_take(dtype, kind):
    rng = np.random.default_rng(SEED)
    for shape, axis in ((9, 64), 0), ((4, 7, 5), 1), ((3, 5), -1), ((11,), 0):
        x = rng.integers(0, 100, shape).astype(dtype)
        for index_shape in (6,), (2, 3), ():
            index = places(rng, shape[axis], index_shape, kind)
            found = tmajit.gather(x, index, axis)
            wanted = x.take(index.astype(np.int64), axis)
            assert found.dtype == wanted.dtype
            np.testing.assert_array_equal(found, wanted)


def test_index_tensors_of_several_axes():
    rng = np.random.default_rng(SEED)
    x = rng.random((4, 5, 6, 7), np.float32)
    i, j = places(rng, 5, (3, 1)), places(rng, 6, (8,))
    np.testing.assert_array_equal(tmajit.gather(x, (i, j), (1, 2)), x[:, i, j])
    y = np.zeros_like(x)
    order = rng.permutation(30).reshape(5, 6)[:3]
    i, j = order // 6, order % 6
    values = rng.random((4, 3, 6, 7), np.float32)
    wanted = y.copy()
    wanted[:, i, j] = values
    np.testing.assert_array_equal(tmajit.scatter(values, [i, j], (1, 2), out=y), wanted)


def test_along_an_axis():
    rng = np.random.default_rng(SEED)
    x = rng.random((6, 5, 4), np.float32)
    for axis in range(-3, 3):
        index = np.argsort(x, axis)
        np.testing.assert_array_equal(
            tmajit.gather(x, index, axis, along=True), np.take_along_axis(x, index, axis)
        )
        first = index.take([0], axis)
        np.testing.assert_array_equal(
            tmajit.gather(x, first, axis, along=True), np.take_along_axis(x, first, axis)
        )
        wanted = np.zeros_like(x)
        np.put_along_axis(wanted, index, x, axis)
        y = np.zeros_like(x)
        tmajit.scatter(x, index, axis, along=True, out=y)
        np.testing.assert_array_equal(y, wanted)
    table = rng.random((1, 5, 4), np.float32)
    index = places(rng, 5, (6, 2, 1))
    np.testing.assert_array_equal(
        tmajit.gather(table, index, 1, along=True), np.take_along_axis(table, index, 1)
    )


@pytest.mark.parametrize("dtype", [np.int32, np.uint64, np.float16, np.float32, np.float64])
def test_scatter_add(dtype):
    rng = np.random.default_rng(SEED)
    for shape, axis in ((4, 64), 0), ((3, 5, 7), 1), ((2, 3), -1):
        index = places(rng, shape[axis], (20,))
        moved = list(shape)
        moved[axis] = 20
        x = rng.integers(0, 5, moved).astype(dtype)
        y = rng.integers(0, 5, shape).astype(dtype)
        wanted = y.copy()
        np.add.at(wanted, (slice(None),) * (axis % len(shape)) + (index,), x)
        assert tmajit.scatter_add(x, index, axis, out=y) is y
        np.testing.assert_array_equal(y, wanted)


def test_deterministic_additions_are_those_of_numpy():
    rng = np.random.default_rng(SEED)
    for shape, axis in ((4, 64), 0), ((3, 5, 7), 1), ((2, 3), -1):
        index = places(rng, shape[axis], (50,))
        moved = list(shape)
        moved[axis] = 50
        x, y = rng.random(moved, np.float32), rng.random(shape, np.float32)
        wanted = y.copy()
        np.add.at(wanted, (slice(None),) * (axis % len(shape)) + (index,), x)
        tmajit.scatter_add(x, index, axis, deterministic=True, out=y)
        np.testing.assert_array_equal(y, wanted)


def test_indices_out_of_range():
    x = np.arange(12, dtype=np.int32).reshape(4, 3)
    index = np.array([1, 4, -5, -1, 1 << 40, -(1 << 63)])
    np.testing.assert_array_equal(tmajit.gather(x, index, value=-7)[[0, 3]], x[[1, 3]])
    assert (tmajit.gather(x, index, value=-7)[[1, 2, 4, 5]] == -7).all()
    clamped = tmajit.gather(x, index, out_of_range="clamp")
    np.testing.assert_array_equal(clamped, x[[1, 3, 0, 3, 3, 0]])
    y = np.zeros((4, 3), np.int32)
    tmajit.scatter(np.ones((6, 3), np.int32), index, out=y)
    assert (y[[1, 3]] == 1).all() and (y[[0, 2]] == 0).all()
    tmajit.scatter_add(np.ones((6, 3), np.int32), index, out_of_range="clamp", out=y)
    np.testing.assert_array_equal(y[:, 0], [2, 2, 0, 4])


@pytest.mark.tmajit_findings  # the findings are expected
def test_an_index_out_of_range_stops_the_kernel():
    x, y = np.ones((4, 3), np.float32), np.zeros((2, 3), np.float32)
    wrong = np.array([1, 4])
    with pytest.raises(tmajit.Error, match="each index is in its dimension' failed in gather,"):
        tmajit.gather(x, wrong, out_of_range="error", out=y)
    with pytest.raises(tmajit.Error, match="failed in scatter_add,"):
        tmajit.scatter_add(y, wrong, out_of_range="error", out=x)
    with pytest.raises(tmajit.Error, match="failed in gather_sum,"):
        tmajit.gather_sum(x, wrong, out_of_range="error")
    assert (tmajit.gather(x, np.array([1, -4]), out_of_range="error") == x[[1, -4]]).all()


def test_flat_axes():
    rng = np.random.default_rng(SEED)
    x = rng.random((4, 5, 6, 7), np.float32)
    index = places(rng, 30, (3, 2))
    wanted = x.reshape(4, 30, 7)[:, index]
    np.testing.assert_array_equal(tmajit.gather(x, index, (1, 2), flat=True), wanted)
    # A view whose axes are not one dimension in memory: blocks, heads, places of a block.
    turned = np.ascontiguousarray(x.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3)
    np.testing.assert_array_equal(tmajit.gather(turned, index, (1, 2), flat=True), wanted)
    y = np.zeros((6, 5, 4, 7), np.float32).transpose(2, 1, 0, 3)
    slots = rng.permutation(30)[:8]
    values = rng.random((4, 8, 7), np.float32)
    tmajit.scatter(values, slots, (1, 2), flat=True, out=y)
    tmajit.scatter_add(values, slots - 30, (1, 2), flat=True, out=y)
    expected = np.zeros((4, 30, 7), np.float32)
    expected[:, slots] = 2 * values
    np.testing.assert_array_equal(y, expected.reshape(4, 5, 6, 7))
    with pytest.raises(tmajit.ArgumentError, match="they are flat"):
        tmajit.gather(x, (index, index), (1, 2), flat=True)


def combined(x, index, weights, dtype=np.float64):
    """The sum of x's rows at `index`, times weights."""
    return (x[index].astype(dtype) * weights[..., None]).sum(-2)


@pytest.mark.parametrize("terms", [1, 2, 8, 9, 40])
def test_gather_sum(terms):
    rng = np.random.default_rng(SEED)
    for length in 1, 7, 64:
        x = rng.random((50, length), np.float32)
        index = places(rng, 50, (6, terms))
        weights = rng.random((6, terms), np.float32)
        wanted = combined(x, index, weights)
        found = tmajit.gather_sum(x, index, weights)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, wanted, rtol=1e-5)
        halves = tmajit.gather_sum(x.astype(np.float16), index, weights.astype(np.float16))
        assert halves.dtype == np.float16
        np.testing.assert_allclose(halves, wanted, rtol=1e-2)
        sums = tmajit.gather_sum(x.astype(np.float16), index, dtype=np.float32)
        np.testing.assert_allclose(sums, combined(x, index, np.ones((6, terms))), rtol=1e-3)
        exact = tmajit.gather_sum(x, index, weights.astype(np.float64), dtype=np.float64)
        np.testing.assert_allclose(exact, wanted, rtol=1e-12)
        numbers = rng.integers(0, 100, (50, length)).astype(np.int8)
        found = tmajit.gather_sum(numbers, index)
        assert found.dtype == np.int64
        np.testing.assert_array_equal(found, numbers[index].astype(np.int64).sum(1))


def test_gather_sum_adds_in_order_and_leaves_out():
    rng = np.random.default_rng(SEED)
    x = rng.random((20, 33), np.float32)
    index = np.array([[3, -(1 << 31), 7], [1 << 20, -1, 4]], np.int32)
    weights = np.array([[0.5, np.nan, 2], [np.inf, 1, 1]], np.float32)
    found = tmajit.gather_sum(x, index, weights)
    np.testing.assert_allclose(found, [0.5 * x[3] + 2 * x[7], x[-1] + x[4]], rtol=1e-6)
    ones = tmajit.gather_sum(x, np.tile(np.arange(20), (3, 1)))
    wanted = np.zeros(33, np.float32)
    for row in x:
        wanted += row
    np.testing.assert_array_equal(ones, np.tile(wanted, (3, 1)))
    none = tmajit.gather_sum(x, np.zeros((4, 0), np.int64))
    assert none.shape == (4, 33) and (none == 0).all()
    with pytest.raises(tmajit.ArgumentError, match="the weights: shape"):
        tmajit.gather_sum(x, index, weights[0])


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_gather_sum_of_ragged_bags(kind):
    rng = np.random.default_rng(SEED)
    for length in 1, 7, 64:
        x = rng.integers(-50, 50, (30, length)).astype(np.float32)
        index = places(rng, 30, 200)
        weights = rng.integers(-3, 4, 200).astype(np.float32)
        lengths = rng.permutation(np.array([0, 100, 0, 1, 2, 3, 0, 4, 40, 50]))
        offsets = np.cumsum([0, *lengths]).astype(kind)
        for factors in weights, None:
            terms = x[index] * (1 if factors is None else factors[:, None])
            wanted = [terms[a:b].sum(0) for a, b in itertools.pairwise(offsets)]
            found = tmajit.gather_sum(x, index, factors, offsets=offsets)
            np.testing.assert_array_equal(found, wanted)
            # A view of every second offset joins two bags.
            joined = tmajit.gather_sum(x, index, factors, offsets=offsets[::2])
            np.testing.assert_array_equal(joined, found[::2] + found[1::2])
    # Offsets out of range are clamped; a bag that ends before it begins is empty.
    found = tmajit.gather_sum(x, index, offsets=np.array([-9, 2, 1, 1 << 30], kind))
    np.testing.assert_array_equal(found, [x[index[:2]].sum(0), np.zeros(64), x[index[1:]].sum(0)])
    none = tmajit.gather_sum(x, index[:0], offsets=np.zeros(3, kind))
    np.testing.assert_array_equal(none, np.zeros((2, 64)))
    # In plans and chains the offsets are the last source.
    planned = tmajit.plan("gather_sum", x, index, offsets, ragged=True)
    np.testing.assert_array_equal(planned(x, index, offsets), tmajit.gather_sum(x, index, offsets=offsets))
    chain = tmajit.Chain()
    sums = chain.gather_sum(chain.map(x, expression="x * 2"), index, offsets, ragged=True)
    np.testing.assert_array_equal(chain.run(sums), 2 * tmajit.gather_sum(x, index, offsets=offsets))
    # The source's last axis.
    turned = tmajit.gather_sum(np.ascontiguousarray(x.T), index, axes=-1, offsets=offsets)
    np.testing.assert_array_equal(turned, tmajit.gather_sum(x, index, offsets=offsets).T)


def test_offsets_that_do_not_fit():
    x, index = np.zeros((4, 3), np.float32), np.zeros(6, np.int64)
    with pytest.raises(tmajit.ArgumentError, match="the offsets: type: u32; needed: a signed integer"):
        tmajit.gather_sum(x, index, offsets=np.zeros(3, np.uint32))
    with pytest.raises(tmajit.ArgumentError, match="the offsets: shape: 0; needed: one dimension"):
        tmajit.gather_sum(x, index, offsets=np.zeros(0, np.int32))
    with pytest.raises(tmajit.ArgumentError, match="the index tensor: dimensions: 2; needed: 1"):
        tmajit.gather_sum(x, index.reshape(2, 3), offsets=np.zeros(3, np.int32))
    with pytest.raises(tmajit.ArgumentError, match="the weights: type: i32; needed: a floating-point type"):
        tmajit.gather_sum(x, index, np.zeros(6, np.int32))
    with pytest.raises(tmajit.ArgumentError, match="the weights: shape: 5; needed: 6"):
        tmajit.gather_sum(x, index, np.zeros(5, np.float32), offsets=np.zeros(3, np.int32))


def test_an_expression_of_the_selected_elements():
    rng = np.random.default_rng(SEED)
    x = rng.integers(-50, 50, (9, 17)).astype(np.float32)
    index = places(rng, 9, (4, 3))
    np.testing.assert_array_equal(tmajit.gather(x, index, expression="x * 2 + 1"), x[index] * 2 + 1)
    bytes_of = tmajit.gather(x, index, expression="fabsf(x)", dtype=np.uint8)
    assert bytes_of.dtype == np.uint8
    np.testing.assert_array_equal(bytes_of, np.abs(x[index]).astype(np.uint8))
    # Numbers follow the index tensors. The value is stored without the expression.
    found = tmajit.gather(x, (np.array([1, 99]), 2.5, 3), expression="x0 * p0 - p1", value=7)
    np.testing.assert_array_equal(found, [x[1] * 2.5 - 3, np.full(17, 7)])
    assert tmajit.gather(x.astype(np.int16), index, expression="x / 2.0f").dtype == np.float32
    assert tmajit.gather(x > 0, index, expression="x + 1").dtype == np.uint8
    with pytest.raises(tmajit.SpecError, match="a gather without an expression moves bits"):
        tmajit.gather(x, (index, 2.0))
    with pytest.raises(tmajit.SpecError, match="a cast first, or an expression"):
        tmajit.gather(x, index, dtype=np.float16)
    with pytest.raises(tmajit.Error, match="does not compute with complex64"):
        tmajit.gather(x.astype(np.complex64), index, expression="x + 1")


def test_expressions_have_no_gradient():
    torch = pytest.importorskip("torch")
    import tmajit.torch as operators

    x = torch.ones(4, 3, requires_grad=True)
    doubled = operators.gather(x, torch.tensor([2, 0]), expression="x * 2")
    assert (doubled == 2).all()
    with pytest.raises(RuntimeError, match="gather with an expression has no gradient"):
        doubled.sum().backward()


def test_expressions_have_no_gradient_in_jax():
    jax = pytest.importorskip("jax")
    import tmajit.jax as functions

    index = jax.numpy.array([2, 0])
    assert (functions.gather(jax.numpy.ones((4, 3)), index, expression="x * 2") == 2).all()
    with pytest.raises(NotImplementedError, match="gather with an expression has no gradient"):
        jax.grad(lambda x: functions.gather(x, index, expression="x * 2").sum())(jax.numpy.ones((4, 3)))


def test_booleans_are_moved():
    x = np.array([True, False, True])
    found = tmajit.gather(x, np.array([1, 2]))
    assert found.dtype == bool and found.tolist() == [False, True]


def test_mistakes():
    x, y = np.zeros((4, 3), np.float32), np.zeros((4, 3), np.float32)
    index = np.zeros(4, np.int64)
    with pytest.raises(tmajit.ArgumentError, match="integers of 4 or 8 bytes"):
        tmajit.gather(x, x)
    with pytest.raises(tmajit.ArgumentError, match="1 tensor for 2 indexed dimensions"):
        tmajit.gather(x, index, (0, 1))
    with pytest.raises(tmajit.SpecError, match="which follows from"):
        tmajit.scatter(np.zeros((4, 4), np.float32), index, out=y)
    with pytest.raises(tmajit.SpecError, match="a type that the GPU adds in memory"):
        tmajit.scatter_add(np.zeros(4, np.uint8), index, out=np.zeros(4, np.uint8))
    with pytest.raises(tmajit.SpecError, match="overlap"):
        tmajit.scatter(x, index, out=x)
