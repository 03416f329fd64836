"""gather, gather_sum, moe_permute and top_k of JAX's arrays, and gradients. Skipped without JAX."""

from __future__ import annotations

import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

import tmajit.jax as functions  # noqa: E402


def test_gradients_of_gather():
    x, index = jnp.arange(12.0).reshape(4, 3), jnp.array([2, 0, 2, -1])
    found = jax.grad(lambda x: (functions.gather(x, index) ** 2).sum())(x)
    wanted = jax.grad(lambda x: (x[index] ** 2).sum())(x)
    assert (found == wanted).all()
    check_grads(lambda x: functions.gather(x, index, value=2), (x,), 2, eps=0.5, atol=1e-2, rtol=1e-3)
    y = jnp.ones((5, 3))
    # Differences of a linear function are exact for wide steps.
    check_grads(lambda x, y: functions.scatter_add(x, index, out=y), (x, y), 2, eps=0.5, atol=1e-2, rtol=1e-3)
    _, tangent = jax.jvp(lambda x: functions.gather(x, index, value=3), (x,), (x + 1,))
    assert (tangent == (x + 1)[index]).all()
    added = jax.jit(lambda x, y: functions.scatter_add(x, index, out=y))(x, jnp.ones((4, 3)))
    assert (added == jnp.ones((4, 3)).at[index].add(x)).all()


def test_gradients_of_gather_sum():
    x, w = jnp.arange(12.0).reshape(4, 3), jnp.array([[0.5, 2.0], [1.0, 3.0]])
    index = jnp.array([[2, 0], [2, -1]])
    found = jax.grad(lambda x, w: (functions.gather_sum(x, index, w) ** 2).sum(), (0, 1))(x, w)
    wanted = jax.grad(lambda x, w: ((w[..., None] * x[index]).sum(1) ** 2).sum(), (0, 1))(x, w)
    for one, other in zip(found, wanted, strict=True):
        assert jnp.allclose(one, other)
    # The second order is checked on a product of three factors, whose differences are not exact.
    check_grads(lambda x, w: functions.gather_sum(x, index, w), (x, w), 2, eps=0.05, atol=5e-2, rtol=1e-2)
    check_grads(lambda x: functions.gather_sum(x, index), (x,), 2, eps=0.5, atol=1e-2, rtol=1e-3)


def test_gradients_of_ragged_bags():
    x, w = jnp.arange(12.0).reshape(4, 3), jnp.array([0.5, 2.0, 1.0, 3.0])
    index, offsets = jnp.array([2, 0, 2, -1]), jnp.array([0, 1, 1, 4])
    bags = jnp.array([0, 2, 2, 2])

    def plainly(x, w):
        return jnp.zeros((3, 3)).at[bags].add(w[:, None] * x[index])

    found = jax.grad(lambda x, w: (functions.gather_sum(x, index, w, offsets=offsets) ** 2).sum(), (0, 1))(
        x, w
    )
    wanted = jax.grad(lambda x, w: (plainly(x, w) ** 2).sum(), (0, 1))(x, w)
    for one, other in zip(found, wanted, strict=True):
        assert jnp.allclose(one, other)


def test_moe_permute():
    x = jnp.arange(12.0).reshape(4, 3)
    experts = jnp.array([[1, 0], [1, 2], [0, 1], [2, -1]])
    rows, _, counts, _ = jax.jit(lambda x: functions.moe_permute(x, experts, 3))(x)
    assert (rows[:7] == x[jnp.array([0, 2, 0, 1, 2, 1, 3])]).all()
    assert counts.tolist() == [2, 3, 2]
    weights = jnp.arange(7.0)[:, None]
    found = jax.grad(lambda x: (functions.moe_permute(x, experts, 3)[0][:7] * weights).sum())(x)
    assert found[:, 0].tolist() == [2 + 0, 3 + 5, 1 + 4, 6]


def test_top_k():
    x = jnp.array([[4.0, 7, 7, -1], [0, 1, 5, 2]])
    values, index = jax.jit(lambda x: functions.top_k(x, 2))(x)
    assert index.tolist() == [[1, 2], [2, 3]] and values.tolist() == [[7, 7], [5, 2]]
    found = jax.grad(lambda x: (functions.top_k(x, 2)[0] * jnp.array([[1.0, 2], [3, 4]])).sum())(x)
    assert found.tolist() == [[0, 1, 2, 0], [0, 0, 3, 4]]
