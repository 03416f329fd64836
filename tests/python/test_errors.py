"""The messages of errors in calls."""

from __future__ import annotations

import numpy as np
import pytest

import tmajit

x = np.zeros((3, 4), np.float32)


def test_a_wrong_type_of_an_argument():
    with pytest.raises(
        TypeError, match="permute: axes takes a whole number, or a sequence of them; found 'ab'"
    ):
        tmajit.permute(x, "ab")
    with pytest.raises(TypeError, match="slice: slices takes a slice for each dimension"):
        tmajit.slice(x, 3)
    with pytest.raises(TypeError, match="legal are"):
        tmajit.reduce(x, 7)


def test_an_unknown_choice():
    with pytest.raises(tmajit.ArgumentError, match="did you mean sum") as caught:
        tmajit.reduce(x, "summ")
    assert isinstance(caught.value, ValueError)
    assert caught.value.code == "invalid_argument"


def test_an_expression_that_does_not_compile():
    with pytest.raises(tmajit.CompileError, match="expected an expression") as caught:
        tmajit.map("x +", x)
    assert "error" in caught.value.log


def test_no_tensor():
    with pytest.raises(TypeError, match="a source is no tensor"):
        tmajit.copy(3)


def test_too_many_dimensions():
    with pytest.raises(tmajit.Error, match="at most 8"):
        tmajit.copy(np.zeros((1,) * 9))


def test_strides_between_elements():
    record = np.zeros(4, np.dtype([("a", np.uint8), ("b", np.float32)]))
    with pytest.raises(TypeError, match="no multiples"):
        tmajit.copy(record["b"])


def test_unknown_element_types():
    with pytest.raises(tmajit.Error, match="complex128"):
        tmajit.copy(np.zeros(3, np.complex128))
