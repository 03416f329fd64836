"""Checks of kernels without a GPU: the lint of their PTX, and a run on the simulated device."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from . import _core


class Finding(NamedTuple):
    """A mistake of a kernel, and its location."""

    rule: str  #: stable identifier, "shared.in-flight-read"
    severity: str  #: "advice", "omission" or "mistake"
    found_by: str  #: "lint" or "simulator"
    kernel: str  #: the kernel's name
    file: str  #: the source file, if the PTX names it
    line: int  #: the line in that file; 0 without line information
    ptx_line: int  #: the line of the PTX, from 1
    ptx_column: int
    instruction: str  #: the PTX instruction
    found: str  #: what the kernel does
    expected: str  #: what would be legal
    remedy: str  #: the usual fix
    meaning: str  #: the consequence for a kernel that breaks the rule
    source: str  #: the text that states the rule, "PTX ISA: mbarrier.init"
    cta: tuple[int, int, int] | None = None  #: the CTA; None for findings of the lint
    thread: tuple[int, int, int] | None = (
        None  #: the first thread that made the mistake; None for findings of the lint
    )
    count: int = 1  #: number of times in the launch
    text: str = ""  #: the whole report of the simulator

    @property
    def location(self) -> str:
        """ "copy.cu:12"; without line information the line of the PTX, "ptx:493"."""
        return f"{self.file}:{self.line}" if self.line else f"ptx:{self.ptx_line}"

    def __str__(self) -> str:
        return (
            f"{self.location}: {self.rule}: {self.found}\n  legal: {self.expected}\n  remedy: {self.remedy}"
        )


class Report:
    """The findings of one check. A report without findings is true.

    Attributes:
        findings: a list of Finding.
        kernels: the names of the kernels that the lint read.
        printed: the output of the kernel's printf.
        thread_instructions: number of instructions executed, summed over all threads.
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
            f"<tr><td>{html.escape(one.location)}</td><td>{html.escape(one.rule)}</td>"
            f"<td>{html.escape(one.found)}</td><td>{html.escape(one.remedy)}</td></tr>"
            for one in self.findings
        )
        head = "<tr><th>location</th><th>rule</th><th>found</th><th>remedy</th></tr>"
        return f"<p>{html.escape(', '.join(self.kernels))}</p><table>{head}{rows}</table>"

    def raise_findings(self) -> None:
        """Raises AssertionError with all findings if the report has findings."""
        if self.findings:
            raise AssertionError(str(self))


#: The reports of the current test, which the pytest plugin reads; None outside of a test.
_collected: list[Report] | None = None


def ptx_of(kernel: Any) -> str:
    """The PTX of a kernel: a text, a file, a Kernel or Plan of tmajit, or another compiler's kernel.

    An object of another compiler has `asm["ptx"]` (Triton), `inspect_asm()` (Numba) or `__ptx__` (CuTe DSL,
    compiled with its option to keep PTX).
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
    """Checks a kernel without a GPU: lints its PTX and, if a grid is given, runs it on the simulated device.

    Args:
        kernel: PTX as text or a file's path, a Kernel or Plan of tmajit, or a compiled kernel of Triton,
            Numba or CuTe DSL (see ptx_of).
        arguments: the launch's arguments: NumPy arrays, which the kernel reads and writes, TensorMap objects,
            numbers, NumPy scalars, and bytes for structs.
        entry: any part of the kernel's name. It may be left out if the PTX has a single kernel.
        grid, block, cluster: a number, or (x, y, z). Without a grid the kernel is only linted.
        shared_bytes: dynamic shared memory of a CTA.
        cooperative: whether all CTAs are resident at once (a cooperative launch).
        mode: when the copy engine does its work: "late", as late as the PTX ISA allows, which shows most
            mistakes; "early", which is at once; or "random", at times drawn from seed.
        races: whether data races are reported.
        lint: whether the PTX is linted.
        allow: rules whose findings are ignored; tmajit.rules() lists all rules.
        project: the root folder of your sources. A finding in an inlined library function is reported at the
            innermost line of your own sources.
        seconds: time limit of the run; 0 means no limit.

    Returns:
        A Report with its findings, each with rule, file and line. A report without findings is true.

    Raises:
        ArgumentError: the text is no PTX, or the arguments do not match the kernel's parameters.
        Error: the simulated device does not support the PTX; its code is "unsupported".
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
    collected = _collected  # another thread may set it to None
    if collected is not None:
        collected.append(report)
    return report


def rules() -> list[dict]:
    """All rules, as dicts with the keys "rule", "severity", "meaning", "legal", "remedy" and "source"."""
    return _core.rules()
