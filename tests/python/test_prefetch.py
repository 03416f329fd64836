"""tmajit.prefetch: kernels are made in the background, before they are asked for."""

from __future__ import annotations

import numpy
import pytest

import tmajit


def calls(value: float) -> list[tuple]:
    x = numpy.zeros((40, 30), numpy.float32)
    y = numpy.empty((40, 30), numpy.float64)
    return [
        ("permute", (x,), {"axes": (1, 0)}),
        ("map", (x, x), {"expression": f"x0 + x1 - {value}f", "out": y}),
        ("copy", [x]),
        ("cast", (x,), {"dtype": "bfloat16"}),
    ]


def test_every_kernel_is_made_and_progress_is_reported():
    made = tmajit.prefetch(calls(1.25), threads=3)
    seen = []
    assert made.wait(progress=lambda done, total: seen.append((done, total)))
    assert made.done == made.made == made.total == 4
    assert made.failures == []
    assert seen[-1] == (4, 4)
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})


def test_a_cancelled_prefetch_ends():
    made = tmajit.prefetch(calls(2.5))
    made.cancel()
    assert made.wait(timeout=60)
    assert made.done == 4
    assert made.made <= 4


def test_a_kernel_that_does_not_compile_is_a_failure():
    x = numpy.zeros(100, numpy.float32)
    made = tmajit.prefetch([("map", (x,), {"expression": "nothing + x"}), ("copy", (x,))])
    assert made.wait(timeout=60)
    assert made.made == 1
    ((kernel, error),) = made.failures
    assert kernel
    assert "nothing" in error


def test_a_wait_has_a_limit():
    made = tmajit.prefetch(calls(3.75))
    assert made.wait(timeout=0) in (True, False)
    assert made.wait()


def test_illegal_calls_are_refused_at_once():
    x = numpy.zeros((40, 30), numpy.float32)
    with pytest.raises(tmajit.ArgumentError, match="there is no call"):
        tmajit.prefetch([])
    with pytest.raises(TypeError, match="no argument"):
        tmajit.prefetch([("copy", (x,), {"axes": (0,)})])
    with pytest.raises(tmajit.ArgumentError):
        tmajit.prefetch([("permute", (x,), {"axes": (0, 0)})])
