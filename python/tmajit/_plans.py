"""Plans of operations, to look at and to launch again and again."""

from __future__ import annotations

from typing import Any

from . import _core
from ._types import DType, Tensor

Plan = _core.Plan

_OPERATIONS = _core.operations()


class Explanation:
    """Why a plan takes its kernels. `str()` is a page of text; `data` has every field of it.

    Attributes:
        data: a dict: "steps" with each kernel, its predicted time and the alternatives, "shape_class" …
    """

    def __init__(self, text: str, data: dict) -> None:
        self._text = text
        self.data = data

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        import html

        return f"<pre>{html.escape(self._text)}</pre>"


def plan(
    operation: str,
    *sources: Tensor,
    out: Tensor | None = None,
    dtype: DType | None = None,
    family: str = "",
    **arguments: Any,
) -> Plan:
    """Plans an operation for tensors of these shapes, strides and types, and compiles its kernels.

    Args:
        operation: the name of an operation: "permute", "reduce" …
        sources: its sources. Only their layout, type and alignment are used.
        out: the destination, or a sequence of them; without it the plan is for dense new ones.
        dtype: the element type of the destination, as the function of that name takes it.
        family: kernels of this family alone; without it any.
        arguments: the operation's arguments, as the function of that name takes them.

    Returns:
        A Plan. plan(out, x) launches it on other tensors of the same layout, plan(x) makes a new result.

    Raises:
        ArgumentError, SpecError, CompileError: as the function of that name.
    """
    number = _core.find_operation(operation)
    described = _OPERATIONS[number]
    names = [argument["name"] for argument in described["arguments"]]
    for name in arguments:
        if name not in names:
            known = ", ".join(names) or "none"
            raise TypeError(f"{operation} has no argument {name!r}; its arguments are: {known}")
    for argument in described["arguments"]:
        if argument["required"] and arguments.get(argument["name"]) is None:
            raise TypeError(f"{operation} needs {argument['name']}: {argument['sentence']}")
    values = tuple(arguments.get(name) for name in names)
    return _core.make_plan(number, sources, out, dtype, values, family)


def _explain(self: Plan) -> Explanation:
    """Why the plan takes these kernels, and what the cost model says of others. Looks at every candidate."""
    import json

    return Explanation(self._explanation_text(), json.loads(self._explanation()))


def _tune(self: Plan, repeats: int = 20, store: bool = True) -> list[dict]:
    """Measures every candidate on memory of its own and has the plan take the fastest.

    Args:
        repeats: timed runs of each candidate.
        store: whether the choice is kept for plans of the same shape class, in this process and in the cache.

    Returns:
        The candidates as dicts, the fastest first: "choice", "predicted_us", "microseconds".

    Raises:
        Error: with code "unavailable" on the simulated device, whose times mean nothing.
    """
    return self._tune(repeats, store)


def _repr_html(self: Plan) -> str:
    import html
    import json

    rows = "".join(
        f"<tr><td>{html.escape(step['kernel'])}</td><td>{html.escape(step['choice'])}</td>"
        f"<td>{step['predicted_us']:.1f}</td><td>{html.escape(step['why'])}</td></tr>"
        for step in json.loads(self._explanation())["steps"]
    )
    return (
        f"<p><code>{html.escape(self._described())}</code></p>"
        "<table><tr><th>kernel</th><th>choice</th><th>predicted µs</th><th>why</th></tr>"
        f"{rows}</table>"
    )


Plan.__doc__ = """A planned operation whose kernels are compiled. Cheap to call, from several threads at once.

plan(out, x) runs it on tensors of the layout that it was planned for: first the destinations, then the
sources. plan(x) makes new destinations. Launches go to the tensors' current stream, and into a CUDA graph
that captures it.

Attributes:
    source: the CUDA C++ of its kernels.
    ptx: their PTX.
    sass: their machine code, which needs the program nvdisasm.
    operation: the name of the operation.
    kernels: the names of its kernels.
    bytes_moved: bytes read and written, each element once.
"""
Plan.__module__ = "tmajit"
Plan.explain = _explain
Plan.tune = _tune
Plan.__repr__ = lambda self: f"<tmajit.Plan of {self.operation}: {self._described()}>"
Plan._repr_html_ = _repr_html
