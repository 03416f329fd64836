"""rowwise with steps of the caller's."""

import numpy as np
import pytest

import tmajit

X = np.random.default_rng(1).standard_normal((5, 48)).astype(np.float32)


def test_one_destination_is_returned_alone_and_several_as_a_tuple():
    total = tmajit.rowwise(X, "y = sum(x)")
    assert isinstance(total, np.ndarray)
    np.testing.assert_allclose(total, X.sum(-1), rtol=1e-4, atol=1e-5)
    both = tmajit.rowwise(X, "y0 = sum(x); y1 = x - y0")
    assert isinstance(both, tuple)
    np.testing.assert_allclose(both[1], X - X.sum(-1, keepdims=True), rtol=1e-4, atol=1e-4)


def test_out_of_one_destination_is_an_array_or_a_list():
    total = np.empty(5, np.float32)
    assert tmajit.rowwise(X, "y = sum(x)", out=total) is total
    np.testing.assert_allclose(total, X.sum(-1), rtol=1e-4, atol=1e-5)
    given = [np.empty(5, np.float32)]
    assert tmajit.rowwise(X, "y = sum(x)", out=given) is given
    assert (given[0] == total).all()


def test_rows_of_the_caller_s_axes_into_the_caller_s_arrays():
    totals, shares = np.empty(48, np.float32), np.empty((5, 48), np.float32)
    tmajit.rowwise(X, "y0 = sum(x); y1 = x / y0", axes=0, out=[totals, shares])
    np.testing.assert_allclose(totals, X.sum(0), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(shares, X / X.sum(0), rtol=1e-3)


def test_wrong_steps_say_what_is_legal():
    with pytest.raises(tmajit.Error, match=r'step "x = 3": x is a source; choose another name'):
        tmajit.rowwise(X, "x = 3; y = x")
    with pytest.raises(tmajit.Error, match="each y needs one"):
        tmajit.rowwise(X, "y0 = x; y1 = x", out=[np.empty_like(X)])
