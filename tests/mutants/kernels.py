"""The kernels that the table names: tmajit's own, kernels in the style of other projects, and kernels of tests/foreign."""

from __future__ import annotations

import json
import pathlib
import sys

import table
from kernel import CannotMake, Kernel

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "tests/mutants/kernels"
FOREIGN = ROOT / "tests/foreign"
# For cases that are whole programs: a part of the name of the entry that is mutated.
ENTRIES = {"cutlass.48_warp_specialized_gemm": "GemmUniversal"}
GROUPS = ("own", "style", "cuda", "triton", "cutlass", "public")


def _buffer(dtype: str, *shape: int, **more) -> dict:
    return {"dtype": dtype, "shape": list(shape), "values": [1, 2, 3], **more}


def _map(buffer: str, *box: int, **more) -> dict:
    return {"tensor_map": {"buffer": buffer, "box": list(box), **more}}


def _u32(value) -> dict:
    return {"type": "u32", "value": value}


def _launch(entry: str, grid, block: int, buffers: dict, parameters: list, **more) -> dict:
    parameters = [{"buffer": each} if isinstance(each, str) else each for each in parameters]
    return {"entry": entry, "grid": grid, "block": block, "buffers": buffers, "parameters": parameters, **more}


def _own() -> list[Kernel]:
    tutorial = ROOT / "examples/tutorial"
    matrix = {"out": _buffer("f32", 96, 128), "in": _buffer("f32", 96, 128)}
    tiles = [_map("out", 32, 64), _map("in", 32, 64), _u32(2), _u32(6)]
    batch = {"out": _buffer("f32", 4, 64, 32), "in": _buffer("f32", 4, 64, 32), "table": _buffer("f32", 64, 32)}
    parts = [_map("out", 1, 64, 32), _map("in", 1, 64, 32), _map("table", 32, 32)]
    factors = {"c": _buffer("f32", 128, 256), "a": _buffer("bf16", 128, 64), "b": _buffer("bf16", 64, 256)}
    factors["a"]["values"] = factors["b"]["values"] = [1, 0, -1]
    swizzled = {"swizzle": "128B"}
    product = {"c": _buffer("bf16", 256, 256), "a": _buffer("bf16", 256, 192), "b": _buffer("bf16", 256, 192)}
    square = {"out": _buffer("f32", 64, 64), "in": _buffer("f32", 64, 64)}
    halves = {"out": _buffer("u16", 128, 64), "in": _buffer("u16", 64, 128)}
    floats = {"x": _buffer("f32", 30, 32), "y": _buffer("f32", 30, 32)}
    launches = {
        "copy_tile": (
            tutorial / "one_tile.cu",
            _launch("copy_tile", 1, 1, {"out": _buffer("f16", 128, 64), "in": _buffer("f16", 128, 64)}, [_map("out", 128, 64), _map("in", 128, 64)]),
        ),
        "ring": (tutorial / "ring.cu", _launch("add_one", 2, 64, matrix, tiles, shared_bytes=17408, constants={"stages": "2u"})),
        "roles": (tutorial / "roles.cu", _launch("add_one", 2, 288, matrix, tiles, shared_bytes=17408, constants={"stages": "2u"})),
        "multicast": (
            tutorial / "multicast.cu",
            _launch("add_table", [4, 1, 1], 256, batch, parts, shared_bytes=17408, cluster=2, constants={"cluster": "2u"}),
        ),
        "swizzle": (
            tutorial / "swizzle.cu",
            _launch("transpose", [2, 1], 256, halves, [_map("out", 64, 64, **swizzled), _map("in", 64, 64, **swizzled)], shared_bytes=17408, constants={"swizzled": True}),
        ),
        "transpose": (
            ROOT / "examples/kernels/transpose.cu",
            _launch("transpose", [2, 2], 256, square, [_map("out", 32, 32, **swizzled), _map("in", 32, 32, **swizzled)], shared_bytes=9216),
        ),
        "tensor_cores": (
            tutorial / "tensor_cores.cu",
            _launch("tensor_cores", 1, 256, factors, ["c", _map("a", 128, 64, **swizzled), _map("b", 64, 64, **swizzled)], shared_bytes=50176),
        ),
        "matrix_product": (
            tutorial / "matrix_product.cu",
            _launch(
                "matrix_product",
                2,
                384,
                product,
                [_map("c", 64, 64, **swizzled), _map("a", 128, 64, **swizzled), _map("b", 32, 64, **swizzled), _u32(256), _u32(256), _u32(192)],
                shared_bytes=2 * 24576 + 4 * 8192 + 1024,
                cluster=2,
                constants={"tile_n": "64u", "stages": "2u", "cluster": "2u", "band": "1u"},
            ),
        ),
        "scale": (
            ROOT / "examples/launch/scale.ptx",
            _launch("scale", 4, 64, floats, [_map("x", 8, 32), _map("y", 8, 32), {"type": "f32", "value": 0.5}]),
        ),
    }
    return [Kernel(name, "own", description, source) for name, (source, description) in launches.items()]


def _style() -> list[Kernel]:
    """The kernels in the folder kernels/, each a .cu file with its launch description in a .json file."""
    return [Kernel(each.stem, "style", json.loads(each.read_text()), each.with_suffix(".cu")) for each in sorted(HERE.glob("*.json"))]


def _foreign_cases() -> list:
    if str(FOREIGN) not in sys.path:
        sys.path.insert(0, str(FOREIGN))
    import cuda_cases
    import cute_cases
    import cutlass_programs
    import public_cases
    import triton_cases

    return [*cuda_cases.cases(), *triton_cases.cases(), *cute_cases.cases(), *cutlass_programs.cases(), *public_cases.cases()]


def foreign_error() -> type:
    """The exception that a case of tests/foreign raises if its PTX cannot be made."""
    return CannotMake if "case" not in sys.modules else sys.modules["case"].CannotMake


def _foreign(options) -> list[Kernel]:
    cases = _foreign_cases()
    from case import Tools
    from run_case import write_launch_description

    tools = Tools(options.jitc.resolve(), options.site.resolve(), options.nvcc, tuple(options.headers))

    def maker(case):
        def make(folder: pathlib.Path):
            ptx = case.make(tools, folder)
            if case.program is not None:
                return ptx, {"entry": ENTRIES[case.name], "parameters": []}
            _, launch = write_launch_description(case, ptx, folder)
            return ptx, json.loads(launch.read_text())

        return make

    return [
        Kernel(case.name, case.group, make=maker(case), allowed=tuple(case.known), program=case.program)
        for case in cases
        if (case.launch is not None or case.name in ENTRIES) and not case.missing and not case.mistakes
    ]


def kernels(options) -> list[Kernel]:
    """The kernels of the chosen groups that the table names, and all kernels of the groups own and style. Raises ValueError
    if the table names an unknown kernel."""
    wanted = options.group or ("own", "style")
    named = {row.kernel: row.group for row in table.rows() if row.group in wanted}
    result = [each for each in [*_own(), *_style()] if each.group in wanted]
    if set(wanted) - {"own", "style"}:
        result += [each for each in _foreign(options) if each.name in named]
    if unknown := named.items() - {(each.name, each.group) for each in result}:
        raise ValueError(f"the table names unknown kernels: {unknown}")
    return result
