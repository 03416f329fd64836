"""Kernels of one's own: CUDA C++ with tmajit's device headers, compiled and launched on arrays."""

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
    """Compiles a kernel of CUDA C++.

    Args:
        text: the source. It may include tmajit's device headers ("tmajit/mbarrier.cuh"), those of `headers`
            and files of the folders in `include`.
        entry: the kernel's name, or a C++ expression that names it, such as "scale<4, float>"; without it the
            only kernel of the text.
        constants: constants that the text sees: bool, int, float, or a C++ literal as a str ("4u", "0.5f").
        headers: further headers: the name that an #include gives, and the text.
        include: folders in which headers are looked for.
        file: the text's name in errors and findings.

    Returns:
        A Kernel. kernel(*arguments, grid=…, block=…) launches it.

    Raises:
        CompileError: the compiler refused the text; `log` has its words.
        ArgumentError: two constants of one name, or an unknown entry.
    """
    return Kernel(text, entry, dict(constants or {}), list((headers or {}).items()), list(include), file)


def _repr(self: Kernel) -> str:
    return f"<tmajit.Kernel {self.entry}({', '.join(self.parameters)})>"


Kernel.__module__ = TensorMap.__module__ = "tmajit"
Kernel.__repr__ = _repr
Kernel.__doc__ = """A compiled kernel of one's own.

kernel(*arguments, grid=1, block=1, shared_bytes=0, cluster=1, cooperative=False) launches it where its
arrays are: on their GPU and current stream, or on the simulated device, which raises Error with every mistake
that it finds. An argument is an array (its address), a TensorMap, a number, a NumPy scalar, or bytes for a
struct. grid, block and cluster are a number or (x, y, z).

Attributes:
    source: the whole text that was compiled.
    ptx: its PTX.
    sass: its machine code, which needs the program nvdisasm.
    entry: its name in the PTX.
    parameters: its parameters, as the PTX declares them.
"""
