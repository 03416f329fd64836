"""A test case of a third-party compiler or library: how its PTX is made, how it is launched, and its expected results."""

from __future__ import annotations

import dataclasses
import pathlib
import subprocess
from typing import Callable, Optional

import numpy


class CannotMake(Exception):
    """The PTX of a case could not be made. The text is the reason."""


@dataclasses.dataclass(frozen=True)
class Tools:
    """The programs and folders that make PTX: unpacked wheels in one folder, and a CUDA toolkit."""

    jitc: pathlib.Path
    site: pathlib.Path  # unpacked wheels: triton, cutlass_library, nvidia/…
    nvcc: Optional[pathlib.Path]  # None: cases that need nvcc are not made
    headers: tuple[pathlib.Path, ...]  # include folders of CCCL, and of CUDA headers that the toolkit lacks

    def run(self, command: list, folder: pathlib.Path, seconds: float = 1200) -> None:
        """Runs a compiler in `folder`. If it fails, raises CannotMake with the last lines of its output."""
        command = [str(each) for each in command]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            raise CannotMake(f"{pathlib.Path(command[0]).name} took over {seconds:.0f} s") from None
        except OSError as error:
            raise CannotMake(f"{command[0]}: {error.strerror}") from None
        if done.returncode != 0:
            words = (done.stderr or done.stdout).strip().splitlines() or [f"exit code {done.returncode}"]
            raise CannotMake("; ".join(words[-3:])[:500])


@dataclasses.dataclass(frozen=True)
class Launch:
    """A launch description, the arrays that it reads, and the expected contents of the arrays that it writes.

    `description` is what `jitc run --launch` reads. A buffer whose name is in `inputs` is read from that array's file,
    one whose name is in `expected` is written to a file and compared: exactly, or to within `tolerance` of the
    largest element.
    """

    description: dict
    inputs: dict[str, numpy.ndarray]
    expected: dict[str, numpy.ndarray]
    tolerance: float = 0.0


@dataclasses.dataclass(frozen=True)
class Known:
    """A report of a run that is correct: the kernel breaks the rule, and the case does not fail because of it."""

    rule: str
    kernel: str  # a part of the kernel's name
    why: str


@dataclasses.dataclass(frozen=True)
class Program:
    """A whole third-party program. Its host part launches the kernels and prints whether their results are right.

    The case's `make` writes the executable `program` into the folder of the PTX, linked with tmajit::cudart_sim in
    place of CUDA's runtime. Each of `runs` holds the program's arguments and how often it must then print `right`.
    """

    right: str
    runs: tuple[tuple[str, int], ...]
    known: tuple[Known, ...] = ()


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    group: str  # "triton", "cuda", "cutlass", "serving", "samples", "numba", "newer_triton", "public"
    make: Callable[[Tools, pathlib.Path], pathlib.Path]  # makes the PTX in the given folder and returns its path
    launch: Optional[Callable[[], Launch]] = None  # a case without `launch` and `program` is only linted
    # Rules whose findings and reports are correct for this kernel, each with the reason. They are allowed.
    known: dict[str, str] = dataclasses.field(default_factory=dict)
    # Rules of real mistakes in the kernel, each with the mistake. The run must report some of these rules, and no other rule.
    mistakes: dict[str, str] = dataclasses.field(default_factory=dict)
    # A feature that the kernel needs and the simulated device lacks. When the device has it, remove this text.
    missing: str = ""
    program: Optional[Program] = None
