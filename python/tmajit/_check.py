"""Checks of kernels without a GPU: the lint of their PTX, and a run on the simulated device."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from . import _core


class Finding(NamedTuple):
    """A mistake of a kernel, and where it shows."""

    rule: str  #: stable identifier, "shared.in-flight-read"
    severity: str  #: "advice", "omission" or "mistake"
    found_by: str  #: "lint" or "simulator"
    kernel: str  #: the kernel's name
    file: str  #: the source file, where the PTX names it
    line: int  #: the line in that file; 0 without line information
    ptx_line: int  #: the line of the PTX, from 1
    ptx_column: int
    instruction: str  #: the PTX instruction
    found: str  #: what the kernel does
    expected: str  #: what would be legal
    remedy: str  #: the usual fix
    meaning: str  #: what happens to a kernel that breaks the rule
    source: str  #: the text that states the rule, "PTX ISA: mbarrier.init"
    cta: tuple[int, int, int] | None = None  #: the simulator's: the CTA
    thread: tuple[int, int, int] | None = None  #: the simulator's: the first thread concerned
    count: int = 1  #: how often in the launch
    text: str = ""  #: the simulator's paragraph

    @property
    def place(self) -> str:
        """ "copy.cu:12", or the PTX's line."""
        return f"{self.file}:{self.line}" if self.line else f"ptx:{self.ptx_line}"

    def __str__(self) -> str:
        return f"{self.place}: {self.rule}: {self.found}\n  legal: {self.expected}\n  remedy: {self.remedy}"


class Report:
    """The findings of one check. It is true if there are none.

    Attributes:
        findings: a list of Finding.
        kernels: the names of the kernels that the lint read.
        printed: what the kernel's printf wrote.
        thread_instructions: instructions that all threads executed.
    """

    def __init__(
        self, findings: list[Finding], kernels: list[str], printed: str = "", thread_instructions: int = 0
    ) -> None:
        self.findings = findings
        self.kernels = kernels
        self.printed = printed
        self.thread_instructions = thread_instructions

    def __bool__(self) -> bool:
        return not self.findings

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __str__(self) -> str:
        names = ", ".join(self.kernels) or "the module"
        if not self.findings:
            return f"{names}: no findings"
        return "\n".join([f"{names}: {len(self.findings)} findings", *map(str, self.findings)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        import html

        rows = "".join(
            f"<tr><td>{html.escape(one.place)}</td><td>{html.escape(one.rule)}</td>"
            f"<td>{html.escape(one.found)}</td><td>{html.escape(one.remedy)}</td></tr>"
            for one in self.findings
        )
        head = "<tr><th>place</th><th>rule</th><th>found</th><th>remedy</th></tr>"
        return f"<p>{html.escape(', '.join(self.kernels))}</p><table>{head}{rows}</table>"

    def raise_findings(self) -> None:
        """Raises AssertionError with all findings, if there are any."""
        if self.findings:
            raise AssertionError(str(self))


#: Reports since the pytest plugin looked last; None outside of a test.
_collected: list[Report] | None = None


def ptx_of(kernel: Any) -> str:
    """The PTX of a kernel: a text, a file, a Kernel or Plan of tmajit, or what another compiler made.

    Taken are objects with `ptx` (tmajit), `asm["ptx"]` (Triton), `inspect_asm()` (Numba) or `__ptx__` (CuTe
    DSL, compiled with its option to keep PTX).
    """
    if isinstance(kernel, os.PathLike):
        with open(kernel, encoding="utf-8") as file:
            return file.read()
    if isinstance(kernel, bytes):
        return kernel.decode()
    if isinstance(kernel, str):
        if "\n" not in kernel and kernel.endswith(".ptx"):
            with open(kernel, encoding="utf-8") as file:
                return file.read()
        return kernel
    if isinstance(getattr(kernel, "ptx", None), str):
        return kernel.ptx
    asm = getattr(kernel, "asm", None)
    if asm is not None and "ptx" in asm:
        return asm["ptx"]
    if hasattr(kernel, "inspect_asm"):
        text = kernel.inspect_asm()
        return text if isinstance(text, str) else next(iter(text.values()))
    if isinstance(getattr(kernel, "__ptx__", None), str):
        return kernel.__ptx__
    raise TypeError(
        f"{type(kernel).__name__} holds no PTX that tmajit knows; give its PTX as a str, or a file's path"
    )


def check(
    kernel: Any,
    *arguments: Any,
    entry: str = "",
    grid: Any = None,
    block: Any = 1,
    shared_bytes: int = 0,
    cluster: Any = 1,
    cooperative: bool = False,
    mode: str = "late",
    seed: int = 1,
    races: bool = True,
    lint: bool = True,
    allow: Sequence[str] = (),
    project: str = "",
    seconds: float = 0,
) -> Report:
    """Checks a kernel without a GPU: reads its PTX, and runs it if a grid is given.

    Args:
        kernel: PTX as text or a file's path, a Kernel or Plan of tmajit, or what Triton, Numba or CuTe DSL
            compiled (see ptx_of).
        arguments: the launch's arguments: NumPy arrays, which the kernel reads and writes, TensorMap,
            numbers, NumPy scalars, bytes for structs.
        entry: any part of the kernel's name; without it the only kernel.
        grid, block, cluster: a number, or (x, y, z). Without grid the kernel is not run.
        shared_bytes: dynamic shared memory of a CTA.
        cooperative: whether all CTAs are on the chip at once.
        mode: when the copy engine does its work: "late" as the PTX ISA allows, which shows most mistakes,
            "early", or "random", at moments drawn from seed.
        races: whether unordered accesses are looked for.
        lint: whether the PTX is read for mistakes, too.
        allow: rules that are no findings; tmajit.rules() lists them.
        project: the root of your sources: findings in inlined functions stand at your innermost line.
        seconds: the longest that a run may take; 0 is without a limit.

    Returns:
        A Report: its findings, each with rule, file and line. It is true if there are none.

    Raises:
        ArgumentError: text that is no PTX, or arguments that are not the kernel's.
        Error: with code "unsupported" for PTX that the simulated device does not run.
    """
    ptx = ptx_of(kernel)
    if not entry and isinstance(kernel, _core.Kernel):
        entry = kernel.entry
    findings: list[Finding] = []
    kernels: list[str] = []
    printed = ""
    instructions = 0
    if lint:
        found, _, kernels = _core.lint(ptx, entry, arguments, list(allow), project)
        findings += [Finding(found_by="lint", **fields) for fields in found]
    if grid is not None:
        found, printed, instructions = _core.simulate(
            ptx,
            entry,
            arguments,
            grid,
            block,
            shared_bytes,
            cluster,
            cooperative,
            mode,
            seed,
            races,
            list(allow),
            project,
            seconds,
        )
        findings += [Finding(found_by="simulator", **fields) for fields in found]
    report = Report(findings, kernels, printed, instructions)
    if _collected is not None:
        _collected.append(report)
    return report


def rules() -> list[dict]:
    """Every rule that a kernel can break: "rule", "severity", "meaning", "legal", "remedy", "source"."""
    return _core.rules()
