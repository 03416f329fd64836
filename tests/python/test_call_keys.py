"""Different calls have different keys, and equal calls equal ones.

A call finds its plan by a key of everything but the tensors' addresses. If two different calls shared a key,
the second would run the plan of the first. If an equal call had another key, it would be planned again.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import ml_dtypes
import numpy as np
import pytest

import tmajit
from support import assert_same

x = np.arange(1, 17, dtype=np.float32).reshape(4, 4)
column = x[:, :1]


def padded(value):
    return np.pad(x, 1, constant_values=np.float32(value))


def viewed(dtype, *arguments, **named):
    """The sums of x's bytes as elements of `dtype`."""
    view = x.view(dtype)
    return lambda: tmajit.sum(view, *arguments, **named), lambda: view.sum(*arguments, **named)


#: By the part in which they differ, calls of tmajit and calls of NumPy that have the same results.
GROUPS = {
    "the length of a text": [
        (lambda n=n: tmajit.map("x + 1" + "0" * n, x), lambda n=n: x + np.float32(10**n)) for n in range(6)
    ],
    "the end of a text, inside a word and behind one": [
        (lambda text=text, n=n: tmajit.map(text, x), lambda n=n: x + np.float32(n))
        for text, n in [("x + 1", 1), ("x + 2", 2), ("x +    1", 1), ("x +    2", 2), ("x +     3", 3)]
    ],
    "the argument to which a text belongs": [
        (lambda: tmajit.reduce(x, "sum", 1, expression="x * x"), lambda: (x * x).sum(1)),
        (lambda: tmajit.reduce(x, "sum", 1, epilogue="x * x"), lambda: x.sum(1) ** 2),
        (lambda: tmajit.reduce(x, "sum", 1), lambda: x.sum(1)),
        (lambda: tmajit.reduce(x, "sum", 1, expression="x", epilogue="x * x"), lambda: x.sum(1) ** 2),
    ],
    "a choice": [
        (lambda: tmajit.reduce(x, "max", 0), lambda: x.max(0)),
        (lambda: tmajit.reduce(x, "min", 0), lambda: x.min(0)),
        (lambda: tmajit.reduce(x, "sum", 0), lambda: x.sum(0)),
        (lambda: tmajit.reduce(x, "mean", 0), lambda: x.mean(0)),
    ],
    "a truth value, or none": [
        (lambda: tmajit.reduce(x, "sum", 1, keep_dims=None), lambda: x.sum(1)),
        (lambda: tmajit.reduce(x, "sum", 1, keep_dims=True), lambda: x.sum(1, keepdims=True)),
        (lambda: tmajit.reduce(x, "sum", 1, keep_dims=False), lambda: x.sum(1)),
    ],
    "the length of a list, or none": [
        (lambda: tmajit.reduce(x, "sum"), lambda: x.sum()),
        (lambda: tmajit.reduce(x, "sum", 0), lambda: x.sum(0)),
        (lambda: tmajit.reduce(x, "sum", (0, 1)), lambda: x.sum()),
        (lambda: tmajit.reduce(x, "sum", 1), lambda: x.sum(1)),
        (lambda: tmajit.reduce(x, "sum", -1, keep_dims=True), lambda: x.sum(1, keepdims=True)),
    ],
    "an axis, or none": [
        (lambda: tmajit.scan(x, "sum"), lambda: x.cumsum(1)),
        (lambda: tmajit.scan(x, "sum", 0), lambda: x.cumsum(0)),
        (lambda: tmajit.scan(x, "sum", 1), lambda: x.cumsum(1)),
    ],
    "an absent bound of a slice, or 0": [
        (lambda: tmajit.slice(x, np.s_[::-1]), lambda: x[::-1]),
        (lambda: tmajit.slice(x, np.s_[0::-1]), lambda: x[0::-1]),
        (lambda: tmajit.slice(x, np.s_[:0:-1]), lambda: x[:0:-1]),
        (lambda: tmajit.slice(x, np.s_[:]), lambda: x),
        (lambda: tmajit.slice(x, np.s_[:0]), lambda: x[:0]),
        (lambda: tmajit.slice(x, np.s_[:, ::-1]), lambda: x[:, ::-1]),
        (lambda: tmajit.slice(x, np.s_[::-1, :]), lambda: x[::-1]),
    ],
    "the place of a number": [
        (lambda: tmajit.pad(x, ((1, 0), (0, 0))), lambda: np.pad(x, ((1, 0), (0, 0)))),
        (lambda: tmajit.pad(x, ((0, 1), (0, 0))), lambda: np.pad(x, ((0, 1), (0, 0)))),
        (lambda: tmajit.pad(x, ((0, 0), (1, 0))), lambda: np.pad(x, ((0, 0), (1, 0)))),
        (lambda: tmajit.pad(x, ((0, 0), (0, 1))), lambda: np.pad(x, ((0, 0), (0, 1)))),
    ],
    "a number of floating point, or none": [
        (
            lambda value=value: tmajit.pad(x, ((1, 1), (1, 1)), value),
            lambda value=value: padded(0 if value is None else value),
        )
        for value in (None, 0, -0.0, 1, -1, 0.5, float("inf"), float("-inf"))
    ],
    "the parts of a split": [
        (lambda parts=parts: tmajit.split(x, 0, parts), lambda at=at: np.split(x, at))
        for parts, at in [((1, 3), [1]), ((3, 1), [3]), ((2, 2), [2]), ((1, 1, 2), [1, 2]), ((4,), [])]
    ],
    "the operation": [
        (lambda: tmajit.permute(x, (0, 1)), lambda: x),
        (lambda: tmajit.flip(x, (0, 1)), lambda: x[::-1, ::-1]),
        (lambda: tmajit.broadcast(x, (4, 4)), lambda: x),
        (lambda: tmajit.reduce(x, "sum", (0, 1)), lambda: x.sum()),
        (lambda: tmajit.copy(x), lambda: x),
    ],
    "a type of the source": [
        viewed(dtype, 0) for dtype in (np.float32, np.int32, np.uint32, np.float16, ml_dtypes.bfloat16)
    ],
    "a type of the result": [
        (lambda dtype=dtype: tmajit.cast(x, dtype), lambda dtype=dtype: x.astype(dtype))
        for dtype in (np.float16, ml_dtypes.bfloat16, np.int16, np.uint16, np.int32, np.float32)
    ],
    "a shape of equal size": [
        (lambda shape=shape: tmajit.map("2 * x", x.reshape(shape)), lambda shape=shape: 2 * x.reshape(shape))
        for shape in [(16,), (2, 8), (8, 2), (4, 4), (1, 16), (16, 1), (2, 2, 4), (4, 2, 2)]
    ],
    "strides": [
        (lambda view=view: tmajit.copy(view), lambda view=view: view)
        for view in (x, x.T, x[::-1], x[:, ::-1], x[::-1, ::-1], np.broadcast_to(column, x.shape))
    ],
    "the order of the sources": [
        (lambda: tmajit.concat([x, column], 1), lambda: np.concatenate([x, column], 1)),
        (lambda: tmajit.concat([column, x], 1), lambda: np.concatenate([column, x], 1)),
        (lambda: tmajit.map("x0 - x1", x, column), lambda: x - column),
        (lambda: tmajit.map("x0 - x1", column, x), lambda: column - x),
        (lambda: tmajit.map("x0 - x1", x, x.T), lambda: x - x.T),
    ],
    "the number of sources": [
        (lambda n=n: tmajit.concat([column] * n, 1), lambda n=n: np.concatenate([column] * n, 1))
        for n in range(1, 5)
    ],
    "strides of the destination": [
        (lambda: tmajit.copy(x), lambda: x),
        (lambda: tmajit.copy(x, out=np.empty((4, 8), np.float32)[:, ::2]), lambda: x),
        (lambda: tmajit.copy(x, out=np.empty((4, 4), np.float32).T), lambda: x),
        (lambda: tmajit.copy(x, out=np.empty((4, 4), np.float32)[::-1]), lambda: x),
    ],
}


def check(call, reference):
    found, wanted = call(), reference()
    if not isinstance(found, tuple):
        found, wanted = (found,), (wanted,)
    for ours, numpys in zip(found, wanted, strict=True):
        assert_same(ours, np.asarray(numpys))


@pytest.mark.parametrize("part", GROUPS)
def test_calls_that_differ_in_one_part(part):
    group = GROUPS[part]
    for first in group:
        for second in group:
            check(*first)
            check(*second)


def test_types_that_only_move_are_refused_after_an_equal_call():
    numbers = np.ones(4, np.uint64)
    tmajit.map("x + 1", numbers)
    with pytest.raises(tmajit.Error, match="complex64"):
        tmajit.map("x + 1", numbers.view(np.complex64))


def test_a_text_that_goes_on_after_a_zero_byte_is_another_text():
    assert_same(tmajit.map("x + 1", x), x + 1)
    with pytest.raises(tmajit.Error):
        tmajit.map("x + 1\0", x)


def test_a_list_that_changes_between_calls():
    axes = [0, 1]
    assert_same(tmajit.permute(x, axes), x)
    axes.reverse()
    assert_same(tmajit.permute(x, axes), np.ascontiguousarray(x.T))


def test_a_value_that_changes_during_a_call():
    class Changing:
        def __init__(self, *values):
            self.values = list(values)

        def __index__(self):
            return self.values.pop(0)

    wide = np.arange(15, dtype=np.float32).reshape(3, 5)
    found = tmajit.permute(wide, (Changing(0, 1), Changing(1, 0)))
    assert_same(found, np.ascontiguousarray(wide.T))
    assert_same(tmajit.permute(wide, (0, 1)), wide)
    assert_same(tmajit.permute(wide, (1, 0)), found)


class Counted:
    """A whole number that counts how often it is read."""

    def __init__(self, value):
        self.value = value
        self.reads = 0

    def __index__(self):
        self.reads += 1
        return self.value


own = np.zeros((4, 7), np.float32)  # no other test uses this shape


@pytest.mark.parametrize(
    "call",
    [
        lambda n: tmajit.reduce(own, "sum", n, expression="x", epilogue="x", keep_dims=True),
        lambda n: tmajit.reduce(own, "sum", [n]),
        lambda n: tmajit.scan(own, "sum", n, "exclusive", "backwards"),
        lambda n: tmajit.slice(own, (slice(n, None), slice(None, 2, 2))),
        lambda n: tmajit.pad(own, ((n, 1), (0, 0)), 0.5),
        lambda n: tmajit.pad(own, ((n, 1), (0, 0))),
        lambda n: tmajit.split(own, 0, (n, 3)),
        lambda n: tmajit.concat([own, own], n, new_axis=True),
        lambda n: tmajit.broadcast(own[:1, :1], (3, n)),
        lambda n: tmajit.im2col(own[None, :, :, None], (n, 2), strides=(2, 1), padding=((1, 1), (0, 0))),
    ],
)
def test_an_equal_call_uses_the_plan_of_the_first(call):
    """A new call reads its arguments twice, a call whose key is known once."""
    reads = []
    for _ in range(3):
        one = Counted(1)
        call(one)
        reads.append(one.reads)
    assert reads[0] == 2 * reads[1] == 2 * reads[2] > 0


def test_a_call_inside_a_call():
    class Axis:
        def __init__(self, axis):
            self.axis = axis

        def __index__(self):
            assert_same(tmajit.flip(x, (0, 1)), x[::-1, ::-1].copy())
            return self.axis

    for _ in range(2):
        assert_same(tmajit.permute(x, (Axis(1), Axis(0))), np.ascontiguousarray(x.T))
        assert_same(tmajit.permute(x, (Axis(0), Axis(1))), x)


def test_more_calls_than_the_cache_holds():
    long = np.arange(400, dtype=np.int32)
    for _ in range(2):
        for n in range(300):
            assert_same(tmajit.slice(long, np.s_[n : n + 3]), long[n : n + 3])


def test_an_error_leaves_the_next_call_as_it_was():
    for _ in range(2):
        with pytest.raises(TypeError, match="axes takes"):
            tmajit.permute(x, (1, "0"))
        assert_same(tmajit.permute(x, (1, 0)), np.ascontiguousarray(x.T))


def test_threads_have_their_own_calls():
    def work(number):
        for _ in range(3):
            check(*GROUPS["a choice"][number % 4])
            check(*GROUPS["strides"][number % 6])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(24)))
