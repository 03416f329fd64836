"""A kernel of somebody else's compiler or library: how its PTX is made, how it is launched, what it must give."""

from __future__ import annotations

import dataclasses
import pathlib
import subprocess
from typing import Callable, Optional

import numpy


class CannotMake(Exception):
    """The PTX of a case could not be made; the text says why."""


@dataclasses.dataclass(frozen=True)
class Tools:
    """What makes PTX: all of it lies in one folder of unpacked wheels, or is part of a CUDA toolkit."""

    jitc: pathlib.Path
    site: pathlib.Path  # unpacked wheels: triton, cutlass_library, nvidia/…
    nvcc: Optional[pathlib.Path]  # None: cases that need it are left out
    headers: tuple[pathlib.Path, ...]  # folders of CUDA's headers that the toolkit lacks, and of CCCL's

    def run(self, command: list, folder: pathlib.Path, seconds: float = 1200) -> None:
        """Runs a compiler in `folder`; its last words are the reason if it fails."""
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
    """A launch description, the arrays of its files, and what its outputs must hold.

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
    """A report of a run that is a true statement about the kernel."""

    rule: str
    kernel: str  # a part of its name
    why: str


@dataclasses.dataclass(frozen=True)
class Program:
    """Somebody's whole program: its host part computes the launches and says whether what they gave is right.

    `make` of its case leaves it beside the PTX as `program`, linked with tmajit::cudart_sim for CUDA's runtime. Each of
    `runs` are its arguments, and how often it is then to say `right`.
    """

    right: str
    runs: tuple[tuple[str, int], ...]
    known: tuple[Known, ...] = ()


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    group: str  # "triton", "cuda", "cutlass", "serving", "samples", "numba", "newer_triton", "public"
    make: Callable[[Tools, pathlib.Path], pathlib.Path]  # the PTX, somewhere in the folder
    launch: Optional[Callable[[], Launch]] = None  # with neither it is linted only
    # Rules whose findings in this kernel are true statements about it, each with the reason.
    known: dict[str, str] = dataclasses.field(default_factory=dict)
    # Rules that every run breaks, since the kernel has that mistake: the run is to name it, by no other rule.
    mistakes: dict[str, str] = dataclasses.field(default_factory=dict)
    # What the simulated device lacks for it. A case that runs nevertheless is to lose this word.
    missing: str = ""
    program: Optional[Program] = None
