"""Kernels of your own: CUDA C++ with tmajit's device headers, compiled and launched on arrays."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import _core
from ._errors import Error

Kernel = _core.Kernel
TensorMap = _core.TensorMap


def kernel(
    text: str,
    entry: str = "",
    *,
    constants: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
    include: Sequence[str] = (),
    file: str = "kernel.cu",
) -> Kernel:
    """Compiles a kernel that is written in CUDA C++.

    Args:
        text: the source. It may include tmajit's device headers ("tmajit/mbarrier.cuh"), the headers in
            `headers`, and files in the folders of `include`.
        entry: the kernel's name, or a C++ expression that names it, such as "scale<4, float>". It may be left
            out if the text has a single kernel.
        constants: constants that are defined for the text, by name: a bool, an int, a float, or a C++ literal
            as a str ("4u", "0.5f").
        headers: further headers: their texts, by the names in #include.
        include: folders that are searched for headers.
        file: the file name of the text in errors and findings.

    Returns:
        A Kernel. kernel(*arguments, grid=…, block=…) launches it.

    Raises:
        CompileError: the compiler refused the text; `log` has its output.
        ArgumentError: two constants have the same name, or `entry` names no kernel.
    """
    return Kernel(text, entry, dict(constants or {}), list((headers or {}).items()), list(include), file)


@dataclass(frozen=True)
class KernelTuning:
    """What tune_kernel() measured.

    Attributes:
        kernel: the Kernel with the fastest constants.
        candidates: for each combination of constants that ran, the fastest first, a pair: the constants as a
            dict, and the median time in microseconds.
        left_out: for each other combination a pair: the constants, and the reason why it did not run.
    """

    kernel: Kernel
    candidates: list[tuple[dict[str, Any], float]]
    left_out: list[tuple[dict[str, Any], str]]

    @property
    def constants(self) -> dict[str, Any]:
        """The fastest constants."""
        return self.candidates[0][0]

    def _repr_html_(self) -> str:
        import html

        rows = [(constants, f"{time:.2f}") for constants, time in self.candidates] + self.left_out
        names = list(self.constants)
        head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
        body = "".join(
            f"<tr>{''.join(f'<td>{constants[name]}</td>' for name in names)}<td>{html.escape(text)}</td></tr>"
            for constants, text in rows
        )
        return f"<table><tr>{head}<th>µs</th></tr>{body}</table>"


def tune_kernel(
    text: str,
    launch: Callable[..., Any],
    choices: Mapping[str, Sequence[Any]],
    *,
    entry: str = "",
    constants: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
    include: Sequence[str] = (),
    file: str = "kernel.cu",
    repeats: int = 20,
    progress: Callable[[int, int, str], Any] | None = None,
) -> KernelTuning:
    """Measures a kernel of your own for all combinations of constants, on a GPU.

    For each combination `launch(run, **constants)` is called. It calls `run` once with the arguments of a
    launch, as for kernel(*arguments, grid=…, block=…). Combinations for which it does not call `run`, or
    raises a tmajit.Error, are left out, as are those that do not compile. All launches run many times, on the
    arrays that they are given.

        tuning = tmajit.tune_kernel(
            text,
            lambda run, rows, stages: run(y, tmajit.TensorMap(x, (rows, 64)), grid=n // rows, block=128),
            {"rows": [32, 64, 128], "stages": [2, 3, 4]},
        )
        tuning.kernel(y, tmajit.TensorMap(x, (tuning.constants["rows"], 64)), grid=…, block=128)

    Args:
        text, entry, constants, headers, include, file: as for kernel(). `constants` have one value each.
        launch: a function of `run` and the tuned constants, which are passed by name.
        choices: for each tuned constant the values to try, at most 4096 combinations in all.
        repeats: timed runs of each combination.
        progress: called before each measurement with the work done so far in units of combinations, the
            number of combinations, and the constants as text.

    Returns:
        A KernelTuning.

    Raises:
        CompileError, SpecError, ArgumentError: no combination can be launched; this is the first one's error.
        Error: the arrays are not on a GPU; the code is "unavailable".
    """
    calls: list[Any] = []
    errors = []
    for values in itertools.product(*choices.values()):
        recorded: list[Any] = []
        why = "launch() did not call run()"

        def run(*arguments: Any, _recorded: list = recorded, **shape: Any) -> None:
            _recorded.append(_core.KernelCall(arguments, **shape))

        try:
            launch(run, **dict(zip(choices, values, strict=True)))
        except Error as error:
            errors.append(error)
            recorded.clear()
            why = str(error)
        if len(recorded) > 1:
            raise ValueError("the launch function called run() more than once")
        calls.append(recorded[0] if recorded else why)
    if errors and len(errors) == len(calls):
        raise errors[0]
    kernel, candidates, left_out = _core.tune_kernel(
        text,
        entry,
        dict(constants or {}),
        list((headers or {}).items()),
        list(include),
        file,
        dict(choices),
        calls,
        repeats,
        progress,
    )
    return KernelTuning(kernel, candidates, left_out)


def _repr(self: Kernel) -> str:
    return f"<tmajit.Kernel {self.entry}({', '.join(self.parameters)})>"


Kernel.__module__ = TensorMap.__module__ = "tmajit"
Kernel.__repr__ = _repr
Kernel.__doc__ = """A compiled kernel of your own.

kernel(*arguments, grid=1, block=1, shared_bytes=0, cluster=1, cooperative=False) launches it on the GPU that
holds its arrays, on the current stream. If the arrays are in the CPU's memory, the kernel runs on the
simulated device, and Error is raised if this finds mistakes; its message lists them. An argument is an array
(its address), a TensorMap, a number, a NumPy scalar, or bytes for a struct. grid, block and cluster are a
number or (x, y, z).

Attributes:
    source: the complete source that was compiled.
    ptx: its PTX.
    sass: its machine code; reading it needs the program nvdisasm.
    entry: its name in the PTX.
    parameters: its parameters, as the PTX declares them.
"""
