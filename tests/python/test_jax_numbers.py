"""Python's numbers in place of sources of tmajit.jax's functions. Skipped without JAX."""

from __future__ import annotations

import numpy as np
import pytest

import tmajit
from operation_cases import as_list, numbers
from support import SEED

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402

import tmajit.jax as functions  # noqa: E402

CALLS = [
    lambda f, x, p: f.map("x * p0 - p1", x, p, 3),
    lambda f, x, p: f.reduce([x, p, 2], "sum", 1, expression="x * p1", epilogue="x / n + p0"),
    lambda f, x, p: f.scan([x, p], "sum", expression="x + p0"),
    lambda f, x, p: f.rowwise([x, p], "m = max(x); y0 = (x - m) * p0; y1 = m + p0"),
    lambda f, x, p: f.stencil("p0 * x(1) - x(-1)", x, p),
    lambda f, x, p: f.cast_transpose(x, p, to="bf16"),
]


@pytest.mark.parametrize("call", CALLS)
def test_results_are_those_of_tmajit(call):
    print(f"seed {SEED}")
    x = numbers(5, 8)
    for p in (2, -0.0, *map(float, np.random.default_rng(SEED).normal(size=3))):
        wanted = as_list(call(tmajit, x, p))
        run = lambda x, p=p: call(functions, x, p)  # noqa: E731
        for found in (run(jnp.asarray(x)), jax.jit(run)(jnp.asarray(x))):
            for ours, theirs in zip(as_list(found), wanted, strict=True):
                assert ours.dtype == theirs.dtype
                assert (np.asarray(ours) == np.asarray(theirs)).all()


def test_equal_numbers_of_other_types_are_other_calls():
    x = jnp.arange(1, 6, dtype=jnp.int32)
    out = jax.ShapeDtypeStruct((5,), jnp.float32)
    assert (functions.map("x / p0", x, 2, out=out) == x // 2).all()
    assert (functions.map("x / p0", x, 2.0, out=out) == x / 2).all()
    zeros = [functions.map("copysignf(x, p0)", jnp.ones(3), zero) for zero in (0.0, -0.0)]
    assert (zeros[0] == 1).all() and (zeros[1] == -1).all()


def test_a_traced_number_is_an_array_of_rank_0():
    scale = jax.jit(lambda x, s: functions.map("x0 * x1", x, s))
    x = jnp.arange(6.0)
    for value in (2.0, 0.5):
        assert (scale(x, value) == x * value).all()
    assert scale._cache_size() == 1
    static = jax.jit(lambda x, s: functions.map("x * p0", x, s), static_argnums=1)
    assert (static(x, 2.0) == x * 2).all() and (static(x, 0.5) == x / 2).all()


def test_vmap():
    x = jnp.arange(12.0).reshape(3, 4)
    found = jax.vmap(lambda row: functions.scan([row, 2.0], "sum", expression="x * p0"))(x)
    assert (found == jnp.cumsum(2 * x, 1)).all()


def test_wrong_uses_are_refused():
    x = jnp.arange(6.0)
    with pytest.raises(tmajit.ArgumentError, match="needs out"):
        functions.map("p0", 2.0)
    with pytest.raises(tmajit.ArgumentError, match="i32"):
        functions.map("x + p0", jnp.arange(6, dtype=jnp.int32), 1 << 40)
    with pytest.raises(TypeError, match="after all tensors"):
        functions.map("x * p0", 2.0, x)
