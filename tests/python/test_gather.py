"""gather, scatter and scatter_add against NumPy and PyTorch."""

from __future__ import annotations

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


def test_gradients_of_torch():
    torch = pytest.importorskip("torch")
    operators = pytest.importorskip("tmajit.torch")
    index = torch.tensor([2, 0, 2, -1, 9])
    ours, theirs = (torch.arange(12.0).reshape(4, 3).requires_grad_() for _ in range(2))
    found = operators.gather(ours, index)
    wanted = torch.cat([theirs[[2, 0, 2, 3]], torch.zeros(1, 3)])
    assert torch.equal(found, wanted)
    (found**2).sum().backward()
    (wanted**2).sum().backward()
    assert torch.equal(ours.grad, theirs.grad)
    pairs = torch.tensor([[0, 1]]), torch.tensor([1, 2])
    ours.grad = None
    operators.gather(ours, pairs, (0, 1)).sum().backward()
    assert ours.grad.sum() == 2 and ours.grad[0, 1] == 1 and ours.grad[1, 2] == 1
    y = torch.zeros(4, 3)
    assert operators.scatter_add(found.detach(), index, out=y) is y
    assert torch.equal(y, torch.zeros(4, 3).index_add_(0, torch.tensor([2, 0, 2, 3]), wanted.detach()[:4]))


def test_gradients_of_jax():
    jax = pytest.importorskip("jax")
    functions = pytest.importorskip("tmajit.jax")
    jnp = jax.numpy
    x, index = jnp.arange(12.0).reshape(4, 3), jnp.array([2, 0, 2, -1])
    found = jax.grad(lambda x: (functions.gather(x, index) ** 2).sum())(x)
    wanted = jax.grad(lambda x: (x[index] ** 2).sum())(x)
    assert (found == wanted).all()
    check_grads = pytest.importorskip("jax.test_util").check_grads
    check_grads(lambda x: functions.gather(x, index, value=2), (x,), 2, eps=0.5, atol=1e-2, rtol=1e-3)
    y = jnp.ones((5, 3))
    # Differences of a linear function are exact for wide steps.
    check_grads(lambda x, y: functions.scatter_add(x, index, out=y), (x, y), 2, eps=0.5, atol=1e-2, rtol=1e-3)
    _, tangent = jax.jvp(lambda x: functions.gather(x, index, value=3), (x,), (x + 1,))
    assert (tangent == (x + 1)[index]).all()
    added = jax.jit(lambda x, y: functions.scatter_add(x, index, out=y))(x, jnp.ones((4, 3)))
    assert (added == jnp.ones((4, 3)).at[index].add(x)).all()
