"""The gradients of linear operations, on arrays of NumPy. tmajit.torch and tmajit.jax use them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import tmajit
from operation_cases import CASES, LINEAR, as_list, numbers
from tmajit import _adjoints, _core, _values


def described(case):
    """The number of a case's operation, and its arguments as the functions give them."""
    number = _core.find_operation(case.name)
    names = [argument["name"] for argument in _values.OPERATIONS[number]["arguments"]]
    return number, tuple(case.arguments.get(name) for name in names)


def test_every_operation_has_a_case():
    wanted = {operation["name"] for operation in _values.OPERATIONS}
    needs_out = {"reduce_into", "scatter", "scatter_add"}
    assert {case.name for case in CASES} == wanted - needs_out


@pytest.mark.parametrize("case", CASES, ids=str)
def test_flat_arguments_mean_the_same(case):
    number, values = described(case)
    flat = tuple(_values.flattened(number, values))
    hash(flat)
    sources = [(x.dtype.name, x.shape) for x in as_list(case.sources)]
    found = _core.describe_results(
        number, sources, case.arguments.get("dtype"), _values.restored(number, flat)
    )
    wanted = _core.describe_results(number, sources, case.arguments.get("dtype"), values)
    assert found == wanted


@pytest.mark.parametrize("case", LINEAR, ids=str)
def test_adjoints(case):
    """The products (A x, y) and (x, A* y) agree: they are sums of whole numbers, which are exact."""
    number, values = described(case)
    named = _values.named(number, values)
    sources = as_list(case.sources)
    homogeneous = {"value": 0} if case.name == "pad" else {}
    results = as_list(case.call(tmajit, lambda x: x, **homogeneous))
    given = [numbers(*y.shape).astype(y.dtype) for y in results]
    assert _adjoints.why_not(case.name, named) == ""
    call = _adjoints.Call(case.name, [x.shape for x in sources], [x.dtype for x in sources], sources, named)
    product = sum((y * g).astype(np.float64).sum() for y, g in zip(results, given, strict=True))
    for x, gradient in zip(sources, _adjoints.gradients(tmajit, call, given), strict=True):
        assert (gradient.shape, gradient.dtype) == (x.shape, x.dtype)
        share = (x * gradient).astype(np.float64).sum()
        if case.name == "convolution":  # linear in either source
            assert share == product
        else:
            product -= share
    assert case.name == "convolution" or product == 0


@pytest.mark.parametrize("case", [case for case in CASES if case.name == "gather"], ids=str)
def test_the_adjoint_of_gather(case):
    number, values = described(case)
    x, *index = case.sources
    functions = SimpleNamespace(
        scatter_add=tmajit.scatter_add, zeros=lambda shape, like: np.zeros(shape, like.dtype)
    )
    result = case.call(tmajit, lambda x: x, value=0)
    given = numbers(*result.shape)
    call = _adjoints.Call(
        "gather",
        [source.shape for source in case.sources],
        [source.dtype for source in case.sources],
        [None, *index],
        _values.named(number, values),
    )
    gradient, *rest = _adjoints.gradients(functions, call, [given])
    assert rest == [None] * len(index)
    assert (x * gradient).sum() == (result * given).sum()


def bags_of(offsets, count):
    bags = np.searchsorted(offsets, np.arange(count), "right") - 1
    return np.where(bags < 0, len(offsets) - 1, bags)


@pytest.mark.parametrize("case", [case for case in CASES if case.name == "gather_sum"], ids=str)
def test_the_adjoint_of_gather_sum(case):
    number, values = described(case)
    functions = SimpleNamespace(
        scatter_add=tmajit.scatter_add,
        gather=tmajit.gather,
        broadcast=tmajit.broadcast,
        reduce=tmajit.reduce,
        zeros=lambda shape, like: np.zeros(shape, like.dtype),
        bags=bags_of,
    )
    result = case.call(tmajit, lambda x: x)
    given = numbers(*result.shape)
    call = _adjoints.Call(
        "gather_sum",
        [source.shape for source in case.sources],
        [source.dtype for source in case.sources],
        case.sources,
        _values.named(number, values),
    )
    found = _adjoints.gradients(functions, call, [given])
    assert found[1] is None
    for x, gradient in zip(case.sources, found, strict=True):
        if x.dtype != np.float32:
            assert gradient is None
            continue
        assert gradient.shape == x.shape
        assert (x * gradient).sum() == (result * given).sum()


def test_calls_without_a_gradient():
    for case in CASES:
        number, values = described(case)
        has_gradient = case.linear or case.name in ("gather", "gather_sum") or case.name in _adjoints.RECIPES
        assert bool(_adjoints.why_not(case.name, _values.named(number, values))) != has_gradient


@pytest.mark.parametrize("case", [case for case in CASES if case.name in _adjoints.RECIPES], ids=str)
def test_gradients_of_recipes(case):
    """A gradient's product with a direction is the change of the results along it, by differences in f64."""
    number, values = described(case)
    rng = np.random.default_rng(3)
    scaled = [x / 8 if x.dtype == np.float32 else x for x in as_list(case.sources)]
    sources = [x.astype(np.float64) if x.dtype == np.float32 else x for x in scaled]
    varies = [x.dtype == np.float64 for x in sources]
    directions = [rng.normal(size=x.shape) if v else 0 for x, v in zip(sources, varies, strict=True)]

    def results(step):
        moved = [x + step * d if v else x for x, d, v in zip(sources, directions, varies, strict=True)]
        return as_list(case.call_on(tmajit, moved if case.many else moved[0]))

    made, after, before = results(0), results(1e-5), results(-1e-5)
    given = [rng.normal(size=y.shape) for y in made]
    wanted = sum(((a - b) / 2e-5 * g).sum() for a, b, g in zip(after, before, given, strict=True))
    call = _adjoints.Call(
        case.name,
        [x.shape for x in sources],
        [x.dtype for x in sources],
        sources,
        _values.named(number, values),
        made,
        varies,
    )
    functions = SimpleNamespace(**vars(tmajit), zeros=lambda shape, like: np.zeros(shape, like.dtype))
    found = _adjoints.gradients(functions, call, given)
    for x, gradient, v in zip(sources, found, varies, strict=True):
        assert (gradient is None) != v
        assert gradient is None or (gradient.shape, gradient.dtype) == (x.shape, x.dtype)
    product = sum((d * g).sum() for d, g, v in zip(directions, found, varies, strict=True) if v)
    np.testing.assert_allclose(product, wanted, rtol=1e-6, atol=1e-8)


def test_only_the_gradients_that_are_needed_are_computed():
    x, weight = numbers(4, 8), numbers(8)
    values = {"axis": None, "eps": None}
    shapes, dtypes = [x.shape, weight.shape], [x.dtype, weight.dtype]
    for needed in ([True, False], [False, True]):
        call = _adjoints.Call("rms_norm", shapes, dtypes, [x, weight], values, [x], needed)
        found = _adjoints.gradients(tmajit, call, [x])
        assert [gradient is not None for gradient in found] == needed
