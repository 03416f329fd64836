"""Kernels of your own: CUDA C++ with tmajit's device headers, compiled and launched on arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from . import _core

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
