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


def test_calls_without_a_gradient():
    for case in CASES:
        number, values = described(case)
        has_gradient = case.linear or case.name == "gather"
        assert bool(_adjoints.why_not(case.name, _values.named(number, values))) != has_gradient
