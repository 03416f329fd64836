"""Kernels of serving engines: FlashInfer's headers, as the registry's package has them, with programs of serving/ that launch
what they hold and compare it with what the host computes."""

from __future__ import annotations

import pathlib

from case import Case, Known, Program, Tools
from programs import make_program, make_ptx

HERE = pathlib.Path(__file__).parent / "serving"
# Each of CUDA's templates that the headers want is in the package, in the version that they want.
FOLDERS = ("include", "cutlass/include", "cutlass/tools/util/include", "csrc", "cccl/libcudacxx/include", "cccl/cub", "cccl/thrust")


def _make(name: str, is_program: bool):
    def make(tools: Tools, folder: pathlib.Path) -> pathlib.Path:
        include = [tools.site / "flashinfer" / "data" / each for each in FOLDERS]
        return (make_program if is_program else make_ptx)(tools, folder, HERE / f"{name}.cu", include)

    return make


SAME_ZERO = Known("race.shared-write-write", "TopPRenormProbKernel", "every thread stores the same zero, with no barrier between")
# The warps of two warpgroups arrive at the epilogue's barrier, and then wait at it: each counts twice, so that the barrier of eight
# is full when four have written. Without the arrivals the program is right.
COUNTED_TWICE = "warps arrive at the barrier that they then wait at, and some go on before the others have written"
HALF_FULL = dict.fromkeys(["race.shared-write-read", "race.shared-read-write"], COUNTED_TWICE)


def cases() -> list[Case]:
    programs = {
        "rows": Program(": right", (("", 3),)),
        "sampling": Program(": right", (("", 4),), (SAME_ZERO,)),
        "decode": Program(": right", (("", 1),)),
        "prefill": Program(": right", (("", 1),)),
        "latent": None,
    }
    mistakes = {"prefill": HALF_FULL}
    return [
        Case(f"serving.{name}", "serving", _make(name, program is not None), mistakes=mistakes.get(name, {}), program=program)
        for name, program in programs.items()
    ]
