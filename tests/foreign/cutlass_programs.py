"""CUTLASS's examples for Hopper as whole programs. They are built from the sources in the package cutlass_library and
linked with tmajit::cudart_sim in place of CUDA's runtime."""

from __future__ import annotations

import pathlib

from case import Case, Known, Program, Tools
from programs import make_program


def include_folders(tools: Tools, file: pathlib.Path) -> list[pathlib.Path]:
    """The include folders for an example of the package."""
    source = tools.site / "cutlass_library" / "source"
    return [source / "include", source / "tools/util/include", source / "examples/common", file.parent, *tools.headers]


def _make(example: str):
    def make(tools: Tools, folder: pathlib.Path) -> pathlib.Path:
        file = tools.site / "cutlass_library" / "source" / "examples" / example
        return make_program(tools, folder, file, include_folders(tools, file))

    return make


# Example 48 places its stages after 384 bytes of mbarriers, not at a multiple of the swizzle's period. Its results are
# right, since the copy engine and wgmma swizzle by the same bits of the address.
SHIFTED = Known("copy.swizzle-base", "GemmUniversal", "the stages are not aligned to the period of their swizzle")
# Before example 57 changes a tensor map, it waits for the thread's bulk groups. Loads belong to no bulk group (PTX ISA,
# cp.async.bulk.commit_group).
NOT_WAITED = Known("tensormap.in-use", "GemmUniversal", "a map changes while loads through it may be in flight")


def cases() -> list[Case]:
    gemm = Program(
        "Disposition: Passed",
        # Two tiles for each CTA, and enough steps along K to reuse the stages.
        (("--m=1024 --n=256 --k=96 --iterations=0", 1), ("--m=512 --n=256 --k=512 --beta=1 --iterations=0", 1)),
        (SHIFTED,),
    )
    grouped = Program(
        "Disposition: Passed",
        # More groups than clusters, so that the tensor maps change. The sizes are not multiples of the tile.
        (("--m=208 --n=176 --k=144 --groups=5 --iterations=0", 4),),
        (NOT_WAITED,),
    )
    attention = _attention()
    examples = {
        "cute.tiled_copy": ("cute/tutorial/tiled_copy.cu", Program("Success.", (("", 1),))),
        "cutlass.48_warp_specialized_gemm": ("48_hopper_warp_specialized_gemm/48_hopper_warp_specialized_gemm.cu", gemm),
        "cutlass.57_grouped_gemm": ("57_hopper_grouped_gemm/57_hopper_grouped_gemm.cu", grouped),
        "cutlass.88_fmha": ("88_hopper_fmha/88_hopper_fmha.cu", attention),
    }
    return [Case(name, "cutlass", _make(file), program=program) for name, (file, program) in examples.items()]


def _attention() -> Program:
    every_lane = "every lane of a warp issues the store of a tile, and all store the same bytes"
    maximum = "a thread reads the maximum by a plain load while other threads change it by atomics"
    # The warps of a warpgroup share the gradient of the scores with only a proxy fence and wgmma.fence, no barrier.
    no_barrier = "wgmma of one warp reads what other warps of its warpgroup store, without a barrier between"
    backward = ["race.shared-write-read", "race.shared-read-write", "shared.uninitialised"]
    return Program(
        "[OK]",
        (
            ("--d=64 --b=1 --h=2 --q=104 --k=200 --mask=residual --verify --iterations=0", 3),
            ("--d=128 --b=1 --h=1 --q=256 --k=256 --mask=causal --verify --iterations=0", 2),
            ("--d=64 --b=1 --h=1 --q=128 --k=256 --bwd --verify --iterations=0", 2),
        ),
        (
            Known("race.global-write-write", "Fmha", every_lane),
            *[Known(f"race.global-{each}", "reference_abs_diff_kernel", maximum) for each in ("write-read", "read-write")],
            *[Known(rule, "FmhaBwdMainloop", no_barrier) for rule in backward],
        ),
    )
