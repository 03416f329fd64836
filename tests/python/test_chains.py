"""Chains against the same operations one by one, and against NumPy."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import tmajit
from support import SEED


@pytest.fixture
def rows():
    """A function that draws a matrix. A failing test prints the seed."""
    print(f"seed {SEED}")
    rng = np.random.default_rng(SEED)
    return lambda: rng.normal(size=(6, 40)).astype(np.float32)


def test_a_map_and_a_recipe_are_one_kernel(rows):
    x = rows()
    chain = tmajit.Chain()
    y = chain.run(chain.cast(chain.softmax(chain.map(x, 2.0, expression="x * p0")), dtype=np.float16))
    powers = np.exp(2 * x - (2 * x).max(-1, keepdims=True))
    assert y.dtype == np.float16
    np.testing.assert_allclose(y, powers / powers.sum(-1, keepdims=True), rtol=2e-3, atol=1e-5)
    assert len(chain.kernels) == 1 and len(chain.sentences) == 2
    assert chain.sentences[0].startswith("operation 0 (map) is fused into operation 1 (rowwise)")


def test_wanted_results_are_stored(rows):
    x, z = rows(), rows()
    chain = tmajit.Chain()
    added = chain.map(x, z, expression="x0 + x1")
    squares = chain.reduce(added, op="sum", axes=-1, expression="x * x")
    norms = chain.map(squares, expression="sqrtf(x)")
    sums, lengths = chain.run(added, norms)
    np.testing.assert_array_equal(sums, x + z)
    np.testing.assert_allclose(lengths, np.linalg.norm(x + z, axis=-1), rtol=1e-5)
    assert len(chain.kernels) == 2
    # The sources have other elements; all three operations are one kernel.
    x += 1
    np.testing.assert_allclose(chain.run(norms), np.linalg.norm(x + z, axis=-1), rtol=1e-5)
    assert len(chain.kernels) == 1


def test_views_and_operations_of_several_results(rows):
    x = rows()
    chain = tmajit.Chain()
    turned = chain.permute(x, axes=(1, 0))
    largest, places = chain.max_with_index(turned, axis=0)
    values, indices = chain.run(largest, places)
    np.testing.assert_array_equal(values, x.max(1))
    np.testing.assert_array_equal(indices, x.argmax(1))
    parts = chain.split(turned, axis=0, parts=(10, 30))
    np.testing.assert_array_equal(chain.run(chain.map(parts[1], expression="x + 1")), x.T[10:] + 1)


def test_reductions_that_are_broadcast_back_are_one_kernel(rows):
    x, weight = rows(), rows()[0]
    chain = tmajit.Chain()
    greatest = chain.reduce(x, op="max", axes=-1, keep_dims=True)
    powers = chain.map(x, greatest, expression="expf(x0 - x1)")
    total = chain.reduce(powers, op="sum", axes=-1, keep_dims=True)
    softmax = chain.map(powers, total, expression="x0 / x1")
    right = tmajit.softmax(x)
    np.testing.assert_allclose(chain.run(softmax), right, rtol=1e-6)
    assert chain.kernels == ["tmajit_rowwise"]
    assert chain.sentences[0] == (
        "operation 1 (map) is fused into operation 0 (reduce), as steps of rows, "
        "whose elements are loaded once."
    )
    # Results that are wanted are further destinations of the same kernel.
    y, largest, sums = chain.run(softmax, greatest, total)
    assert chain.kernels == ["tmajit_rowwise"]
    np.testing.assert_allclose(y, right, rtol=1e-6)
    np.testing.assert_array_equal(largest, x.max(-1, keepdims=True))
    np.testing.assert_allclose(sums, np.exp(x - largest).sum(-1, keepdims=True), rtol=1e-6)
    chain = tmajit.Chain()
    squares = chain.reduce(chain.map(x, expression="x * x"), op="mean", axes=-1, keep_dims=True)
    scale = chain.map(squares, 1e-5, expression="rsqrtf(x + p0)")
    norm = chain.map(scale, x, weight, expression="x0 * x1 * x2")
    np.testing.assert_allclose(chain.run(norm), tmajit.rms_norm(x, weight, eps=1e-5), rtol=1e-6)
    assert chain.kernels == ["tmajit_rowwise"]
    # The sum of a column that is longer than the registers of a CTA is a kernel of its own.
    chain, long = tmajit.Chain(), np.ones((3000, 40), np.float32)
    shares = chain.map(long, chain.reduce(long, op="sum", axes=0), expression="x0 / x1")
    np.testing.assert_allclose(chain.run(shares), long / 3000, rtol=1e-6)
    assert len(chain.kernels) == 2
    assert "the rows do not fit on the chip" in chain.sentences[0]


def test_chains_of_the_benchmark(rows):
    file = Path(__file__).parents[2] / "tools" / "bench" / "chains.py"
    specification = importlib.util.spec_from_file_location("chains", file)
    benchmark = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(benchmark)
    x = rows()
    kernels = {}
    for name, (recorded, separate) in benchmark.chains(tmajit).items():
        chain = tmajit.Chain()
        np.testing.assert_allclose(chain.run(recorded(chain, x)), separate(x), rtol=2**-20, err_msg=name)
        kernels[name] = len(chain.kernels)
    # A transposition before rows stays a kernel of its own.
    assert kernels.pop("permute, softmax") == 2
    assert kernels and set(kernels.values()) == {1}


def test_gathers_and_pads(rows):
    x, index = rows(), np.array([5, 0, -2, 5])
    chain = tmajit.Chain()
    doubled = chain.map(x, 2.0, expression="x * p0")
    taken = chain.gather(doubled, index, 0.5, expression="x + p0", out_of_range="clamp")
    halves = chain.run(chain.cast(taken, dtype=np.float16))
    np.testing.assert_array_equal(halves, (x[index] * 2 + np.float32(0.5)).astype(np.float16))
    assert chain.kernels == ["tmajit_indexed"]
    chain = tmajit.Chain()
    doubled = chain.map(x, expression="x * 2")
    padded = chain.run(chain.pad(doubled, widths=((1, 1), (0, 2)), value=-np.inf))
    np.testing.assert_array_equal(padded, np.pad(x * 2, ((1, 1), (0, 2)), constant_values=-np.inf))
    # The interior, both rows above and below it, and the columns beside it.
    assert len(chain.kernels) == 3
    assert "the interior of the pad's destination" in chain.sentences[0]


def test_runs_of_one_chain_make_new_results(rows):
    x = rows()
    chain = tmajit.Chain()
    scaled = chain.map(x, expression="x * 3")
    result = chain.scan(scaled, op="sum", axis=-1)
    first = chain.run(result)
    kept, kernels = first.copy(), chain.kernels
    x += 1
    second = chain.run(result)
    np.testing.assert_allclose(second, np.cumsum(3 * x, -1), rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(first, kept)
    assert chain.kernels == kernels
    # An operation that is added later belongs to the next run.
    negated = chain.map(result, expression="-x")
    assert chain.kernels == [] and chain.sentences == []
    np.testing.assert_array_equal(chain.run(negated), -second)


def test_wrong_calls(rows):
    chain, other = tmajit.Chain(), tmajit.Chain()
    result = chain.map(rows(), expression="x")
    with pytest.raises(AttributeError, match="no operation 'nothing'"):
        _ = chain.nothing
    with pytest.raises(ValueError, match="a result of another chain"):
        other.map(result, expression="x")
    with pytest.raises(ValueError, match="results of this chain"):
        other.run(result)
    with pytest.raises(ValueError, match="at least one"):
        chain.run()
    with pytest.raises(TypeError, match="needs expression"):
        chain.map(result)
    with pytest.raises(tmajit.ArgumentError):
        chain.map(result, np.zeros((7, 3), np.float32), expression="x0 + x1")
