"""Kernels of serving engines: programs in serving/ that launch kernels of FlashInfer's headers, from its Python package, and
compare the results with those of the host."""

from __future__ import annotations

import pathlib

from case import Case, Known, Program, Tools
from programs import make_program, make_ptx

HERE = pathlib.Path(__file__).parent / "serving"
# The package includes CUTLASS and CCCL in the versions that its headers need.
FOLDERS = ("include", "cutlass/include", "cutlass/tools/util/include", "csrc", "cccl/libcudacxx/include", "cccl/cub", "cccl/thrust")


def _make(name: str, is_program: bool):
    def make(tools: Tools, folder: pathlib.Path) -> pathlib.Path:
        include = [tools.site / "flashinfer" / "data" / each for each in FOLDERS]
        return (make_program if is_program else make_ptx)(tools, folder, HERE / f"{name}.cu", include)

    return make


SAME_ZERO = Known("race.shared-write-write", "TopPRenormProbKernel", "every thread stores the same zero, with no barrier between")
# Each of eight warps first arrives at the epilogue's barrier (bar.arrive) and then waits at it (bar.sync), so the barrier
# counts each warp twice, and opens after four warps have written. Without the arrivals the program is right.
COUNTED_TWICE = "each warp arrives twice at the same barrier, which therefore opens before all warps have written"
EARLY_BARRIER = dict.fromkeys(["race.shared-write-read", "race.shared-read-write"], COUNTED_TWICE)


def cases() -> list[Case]:
    programs = {
        "rows": Program(": right", (("", 3),)),
        "sampling": Program(": right", (("", 4),), (SAME_ZERO,)),
        "decode": Program(": right", (("", 1),)),
        "prefill": Program(": right", (("", 1),)),
        "latent": None,
    }
    mistakes = {"prefill": EARLY_BARRIER}
    return [
        Case(f"serving.{name}", "serving", _make(name, program is not None), mistakes=mistakes.get(name, {}), program=program)
        for name, program in programs.items()
    ]
