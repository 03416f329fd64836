"""Python's numbers in place of sources of tmajit.torch's functions. Skipped without PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

import tmajit
from operation_cases import as_list, numbers
from support import SEED

torch = pytest.importorskip("torch")

import tmajit.torch as operators  # noqa: E402

CALLS = [
    lambda f, x, p: f.map("x * p0 - p1", x, p, 3),
    lambda f, x, p: f.reduce([x, p, 2], "sum", 1, expression="x * p1", epilogue="x / n + p0"),
    lambda f, x, p: f.reduce([x, p], "max", epilogue="x * p0"),
    lambda f, x, p: f.scan([x, p], "sum", expression="x + p0"),
    lambda f, x, p: f.rowwise([x, p], "m = max(x); y0 = (x - m) * p0; y1 = m + p0"),
    lambda f, x, p: f.stencil("p0 * x(1) - x(-1)", x, p),
    lambda f, x, p: f.cast_transpose(x, p, to="bf16"),
]


def scaled(x, p):
    return operators.map("x * p0", x, p)


#: The last call, cast_transpose, takes float32 alone.
TYPED_CALLS = [
    *((call, dtype) for call in CALLS[:-1] for dtype in ("float32", "float64", "int32")),
    (CALLS[-1], "float32"),
]


@pytest.mark.parametrize("call, dtype", TYPED_CALLS)
def test_results_are_those_of_tmajit(call, dtype):
    print(f"seed {SEED}")
    x = torch.from_numpy(numbers(5, 8)).to(getattr(torch, dtype))
    for p in (2, *np.random.default_rng(SEED).normal(size=3)):
        p = p if isinstance(p, int) else float(p)
        wanted = as_list(call(tmajit, x, p))
        compiled = torch.compile(call, fullgraph=True, backend="eager")
        for found in (call(operators, x, p), compiled(operators, x, p)):
            for ours, theirs in zip(as_list(found), wanted, strict=True):
                assert ours.dtype == theirs.dtype and torch.equal(ours, theirs)


def test_out():
    x, out = torch.arange(6.0), torch.empty(6)
    assert operators.map("x * p0", x, 0.5, out=out) is out
    assert torch.equal(out, x * 0.5)
    operators.map("p0 + g[0]", 2.0, out=out)
    assert torch.equal(out, 2 + x)
    rows = [torch.empty(2, 3), torch.empty(2)]
    operators.rowwise([x.reshape(2, 3), 2.0], "y0 = x * p0; y1 = sum(x)", out=rows)
    assert torch.equal(rows[0], 2 * x.reshape(2, 3)) and rows[1].tolist() == [3, 12]


@pytest.mark.parametrize("kind, dynamic, graphs", [(float, None, 2), (float, True, 1), (int, True, 1)])
def test_values_share_graphs_of_torch_compile(kind, dynamic, graphs):
    made = []

    def backend(graph, example):
        made.append(graph)
        return graph

    torch._dynamo.reset()
    compiled = torch.compile(scaled, fullgraph=True, dynamic=dynamic, backend=backend)
    x = torch.arange(6.0)
    for value in (3, 2, 7, -5, 11):
        p = kind(value) / 4 if kind is float else value
        assert torch.equal(compiled(x, p), x * p)
    assert len(made) == graphs


class Scale(torch.nn.Module):
    def forward(self, x, p):
        return scaled(x, p)


def test_an_exported_graph_keeps_a_float():
    x = torch.arange(6.0)
    exported = torch.export.export(Scale(), (x, 0.5)).module()
    assert torch.equal(exported(x + 1, 0.5), (x + 1) * 0.5)
    with pytest.raises(AssertionError, match="Guard failed"):
        exported(x, 0.25)


def test_an_exported_graph_serves_all_ints():
    x = torch.arange(6.0)
    dynamic = {"x": None, "p": torch.export.Dim.DYNAMIC}
    exported = torch.export.export(Scale(), (x, 3), dynamic_shapes=dynamic).module()
    for p in (3, 7, -2):
        assert torch.equal(exported(x, p), x * p)


@pytest.mark.parametrize("call", CALLS)
def test_opcheck(call):
    taken = []

    class Recorder(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, function, types, given=(), named=None):
            taken.append((function, given, named or {}))
            return function(*given, **named or {})

    with Recorder():
        call(operators, torch.arange(24.0).reshape(3, 8), 0.5)
    (one,) = [each for each in taken if each[0].namespace == "tmajit"]
    torch.library.opcheck(*one)


def test_wrong_uses_are_refused():
    x = torch.arange(6.0)
    with pytest.raises(TypeError, match="after all tensors"):
        operators.map("x * p0", 2.0, x)
    with pytest.raises(tmajit.SpecError, match="numbers that exist"):
        operators.map("x * p1", x, 2.0)
    with pytest.raises(tmajit.ArgumentError, match="needs out"):
        operators.map("p0", 2.0)
    with pytest.raises(tmajit.ArgumentError, match="i32"):
        operators.map("x + p0", x.to(torch.int32), 1 << 40)
    with pytest.raises((TypeError, RuntimeError)):
        operators.concat([x, 2.0], 0)
    with pytest.raises(RuntimeError, match="map has no gradient"):
        scaled(x.requires_grad_(), 2.0).sum().backward()
