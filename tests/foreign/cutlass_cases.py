"""CUTLASS's and CuTe's own examples and tutorials, compiled where they lie in the registry's package."""

from __future__ import annotations

import pathlib

from case import Case, CannotMake, Tools

NO_FENCE = {
    "mbarrier.init-not-fenced": "the tutorial has a barrier of the cluster after mbarrier.init, and no fence",
}


def _make(example: str):
    def make(tools: Tools, folder: pathlib.Path) -> pathlib.Path:
        source = tools.site / "cutlass_library" / "source"
        file = source / "examples" / example
        if tools.nvcc is None:
            raise CannotMake("it has host code, which needs nvcc")
        if not file.exists():
            raise CannotMake(f"the package has no examples/{example}")
        path = folder / (file.stem + ".ptx")
        if path.exists() and path.stat().st_size > 0:
            return path  # The largest takes minutes and 11 GB to compile.
        unfinished = folder / "unfinished.ptx"
        include = [source / "include", source / "tools/util/include", source / "examples/common", file.parent]
        include += [*tools.headers, tools.nvcc.parent.parent / "include"]
        flags = ["-ptx", "-arch=sm_90a", "-std=c++17", "-lineinfo", "--expt-relaxed-constexpr", "--expt-extended-lambda"]
        flags += [word for each in include for word in ("-I", each)] + ["-DCUTLASS_ARCH_MMA_SM90_SUPPORTED"]
        tools.run([tools.nvcc, *flags, file, "-o", unfinished], folder)
        return unfinished.rename(path)

    return make


def cases() -> list[Case]:
    examples = {
        "cute.tiled_copy": ("cute/tutorial/tiled_copy.cu", {}),
        "cute.sgemm_1": ("cute/tutorial/sgemm_1.cu", {}),
        "cute.sgemm_sm80": ("cute/tutorial/sgemm_sm80.cu", {}),
        "cute.wgmma_sm90": ("cute/tutorial/hopper/wgmma_sm90.cu", {}),
        "cute.wgmma_tma_sm90": ("cute/tutorial/hopper/wgmma_tma_sm90.cu", NO_FENCE),
        "cutlass.48_warp_specialized_gemm": ("48_hopper_warp_specialized_gemm/48_hopper_warp_specialized_gemm.cu", {}),
        "cutlass.57_grouped_gemm": ("57_hopper_grouped_gemm/57_hopper_grouped_gemm.cu", {}),
        "cutlass.88_fmha": ("88_hopper_fmha/88_hopper_fmha.cu", {}),
    }
    return [Case(name, "cutlass", _make(file), None, known) for name, (file, known) in examples.items()]
