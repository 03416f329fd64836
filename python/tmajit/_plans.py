"""Plans of operations, which can be inspected and launched many times."""

from __future__ import annotations

from typing import Any

from . import _core
from ._types import DType, Tensor

Plan = _core.Plan

_OPERATIONS = _core.operations()


class Explanation:
    """Why a plan uses its kernels. `str()` returns a page of text, and `data` has the same facts as a dict.

    Attributes:
        data: a dict. "steps" lists the kernels, each with its predicted time and its alternatives;
            "shape_class" names the class of shapes for which a tuned choice is stored.
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


def _found(operation: str, arguments: dict[str, Any]) -> tuple[int, tuple]:
    """The operation's number, and its arguments in order. None stands for a default."""
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
    return number, values


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
        sources: the operation's sources. Only their layout, type and alignment matter.
        out: the destination, or a sequence of destinations; by default the plan is for new dense tensors.
        dtype: the element type of the destination, as for the function that is named like the operation.
        family: the only kernel family to consider; by default all families are considered.
        arguments: the operation's arguments, as for the function that is named like it.

    Returns:
        A Plan. plan(out, x) launches it on other tensors of the same layout; plan(x) returns a new tensor.

    Raises:
        ArgumentError, SpecError, CompileError: as for the function that is named like the operation.
    """
    number, values = _found(operation, arguments)
    return _core.make_plan(number, sources, out, dtype, values, family)


def _explain(self: Plan) -> Explanation:
    """Explains why the plan uses its kernels, and lists the predicted times of all candidates."""
    import json

    return Explanation(self._explanation_text(), json.loads(self._explanation()))


def _tune(self: Plan, repeats: int = 20, store: bool = True) -> list[dict]:
    """Measures every candidate, on memory that it allocates, and makes the plan use the fastest one.

    Args:
        repeats: timed runs of each candidate.
        store: whether later plans of the same shape class use the choice, too, in this process and, through
            the cache on disk, in others.

    Returns:
        The candidates as dicts, the fastest first: "choice", "predicted_us", "microseconds".

    Raises:
        Error: the device is the simulated one, whose times mean nothing; the code is "unavailable".
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


Plan.__doc__ = """A planned operation whose kernels are compiled. Several threads may call it at once.

plan(out, x) runs the operation on tensors of the planned layout: first the destinations, then the sources.
plan(x) makes new destinations. Launches go to the current stream of the tensors' library; if a CUDA graph
captures this stream, they become part of the graph.

Attributes:
    source: the CUDA C++ of its kernels.
    ptx: their PTX.
    sass: their machine code; reading it needs the program nvdisasm.
    operation: the name of the operation.
    kernels: the names of its kernels.
    bytes_moved: bytes read and written, each element once.
"""
Plan.__module__ = "tmajit"
Plan.explain = _explain
Plan.tune = _tune
Plan.__repr__ = lambda self: f"<tmajit.Plan of {self.operation}: {self._described()}>"
Plan._repr_html_ = _repr_html
