"""Plans: their attributes, and their launches."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tmajit
from support import assert_same

x = np.arange(24, dtype=np.float32).reshape(4, 6)


def test_a_plan_is_launched_on_other_tensors():
    plan = tmajit.plan("permute", x, axes=(1, 0))
    other = x + 1
    out = np.zeros((6, 4), np.float32)
    assert plan(out, other) is out
    assert_same(out, np.ascontiguousarray(other.T))
    assert_same(plan(other), out)


def test_a_plan_refuses_other_layouts():
    plan = tmajit.plan("permute", x, axes=(1, 0))
    with pytest.raises(tmajit.ArgumentError, match="the plan takes f32 4x6 for a source; found f32 2x6"):
        plan(x[:2])
    with pytest.raises(tmajit.ArgumentError, match="found 3 tensors"):
        plan(x, x, x)


def test_a_plan_with_several_results():
    plan = tmajit.plan("split", x, axis=0, parts=(1, 3))
    first, second = plan(x)
    assert_same(first, x[:1])
    assert_same(second, x[1:])


def test_the_attributes_of_a_plan():
    plan = tmajit.plan("reduce", x, op="sum", axes=1)
    assert "__global__" in plan.source
    assert ".version" in plan.ptx
    assert plan.operation == "reduce"
    assert plan.kernels == ["tmajit_reduce"]
    assert plan.bytes_moved == x.nbytes + 16
    assert "reduce" in repr(plan)
    assert "<table>" in plan._repr_html_()
    explanation = plan.explain()
    assert explanation.data["steps"][0]["kernel"] == "reduce"
    assert str(explanation) in explanation._repr_html_().replace("&lt;", "<").replace("&gt;", ">").replace(
        "&#x27;", "'"
    )
    assert "Attributes" in tmajit.Plan.__doc__


def test_a_plan_of_one_family():
    assert tmajit.plan("permute", x, axes=(1, 0), family="general").kernels == ["tmajit_general"]
    with pytest.raises(tmajit.Error):
        tmajit.plan("permute", x, axes=(1, 0), family="rows")


def test_wrong_words():
    with pytest.raises(tmajit.ArgumentError, match="permute"):
        tmajit.plan("premute", x, axes=(1, 0))
    with pytest.raises(TypeError, match="has no argument 'axis'"):
        tmajit.plan("permute", x, axis=0)
    with pytest.raises(TypeError, match="permute needs axes"):
        tmajit.plan("permute", x)


def test_tuning_needs_a_gpu():
    with pytest.raises(tmajit.Error) as caught:
        tmajit.plan("permute", x, axes=(1, 0)).tune()
    assert caught.value.code == "unavailable"


def test_eight_threads():
    plan = tmajit.plan("permute", x, axes=(1, 0))

    def work(number):
        mine = x + number
        for _ in range(5):
            assert_same(plan(mine), np.ascontiguousarray(mine.T))
            assert_same(tmajit.permute(mine, (1, 0)), np.ascontiguousarray(mine.T))
            assert_same(tmajit.copy(x), x)  # all threads read it

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
