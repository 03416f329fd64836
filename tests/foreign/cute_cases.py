"""CuTe's tutorials, compiled in the folder of the package cutlass_library, with launches described here."""

from __future__ import annotations

import pathlib

import numpy

from case import Case, Launch, Tools
from cutlass_programs import include_folders
from programs import make_ptx

NO_FENCE = {
    "mbarrier.init-not-fenced": "the tutorial has a cluster barrier after mbarrier.init, but no fence",
}
COPIES = {
    "wgmma.copy-not-fenced": "the tutorial has no proxy fence between cp.async and the wgmma that reads the copied data",
}
LATE_LOADS = {"exit.load-in-flight": "the tutorial loads tiles beyond the last one, and no thread waits for them"}
NO_BARRIER = "each thread waits for its own cp.async, but no barrier follows before wgmma reads the data of other threads' copies"
BARRIER_MISTAKES = dict.fromkeys(["shared.in-flight-read", "shared.uninitialised", "race.shared-write-read"], NO_BARRIER)
BARRIER_MISTAKES |= {"race.shared-read-write": NO_BARRIER}


def _make(example: str):
    def make(tools: Tools, folder: pathlib.Path) -> pathlib.Path:
        file = tools.site / "cutlass_library" / "source" / "examples" / example
        return make_ptx(tools, folder, file, include_folders(tools, file))

    return make


# An argument of an empty type, such as a layout or a copy of static shape. It takes one byte.
EMPTY = {"type": "u8", "value": 0}
# A part of the mangled name that selects the tutorials' product of matrices that are both contiguous along K ("TN").
BOTH_ALONG_K = "{0}, cute::tuple<int, cute::C<1> >"


def _operand(name: str, k: int, constants: int) -> list:
    """The address of a factor, its pitch, and `constants` arguments of empty types."""
    return [{"buffer": name}, {"type": "u32", "value": k}, *[EMPTY] * constants]


def _product(entry: str, dtype, block: int, factors, empty_arguments: int, tiled_mma: dict, **launch):
    """C = A B of small whole numbers, with C contiguous along M, alpha 1 and beta 0. `factors(m, n, k)` returns the parameters
    for A and B. `empty_arguments` is the number of arguments of empty types between C's pitch and `tiled_mma`."""
    m, n, k = 256, 256, 256

    def make() -> Launch:
        random = numpy.random.default_rng(1)
        a = random.integers(-1, 2, (m, k)).astype(dtype)
        b = random.integers(-1, 2, (n, k)).astype(dtype)
        c = (b.astype(numpy.float32) @ a.astype(numpy.float32).T).astype(dtype)
        number = "f16" if dtype == numpy.float16 else "f32"
        description = {
            "entry": entry,
            "grid": [m // 128, n // 128],
            "block": block,
            "buffers": {"a": {}, "b": {}, "c": {}},
            "parameters": [
                {"type": "u32", "value": [m, n, k]},
                EMPTY,
                *factors(m, n, k),
                {"buffer": "c"},
                {"type": "u32", "value": m},
                *[EMPTY] * empty_arguments,
                tiled_mma,
                {"type": number, "value": 1},
                {"type": number, "value": 0},
            ],
            **launch,
        }
        return Launch(description, {"a": a, "b": b}, {"c": c})

    return make


def _by_addresses(constants: int):
    """Parameters of factors that the kernel takes as addresses, each followed by `constants` arguments of empty types."""
    return lambda m, n, k: [*_operand("a", k, constants), *_operand("b", k, constants)]


def _by_tensor_maps(m: int, n: int, k: int) -> list:
    """Parameters of factors that the kernel takes as TMA descriptors."""
    def operand(name: str) -> list:
        tensor_map = {"buffer": name, "box": [128, 64], "swizzle": "128B"}
        return [{"type": "u64", "value": 0}, {"struct": [{"tensor_map": tensor_map, "at": 0}], "bytes": 256}]

    return [*operand("a"), *operand("b")]


# The tiled MMA of wgmma has a field that tells whether the first product adds to the accumulators.
ACCUMULATE = {"struct": [{"type": "u32", "value": 1, "at": 0}], "bytes": 8}
# Bytes of three stages, each of two tiles of 128 x 64 elements of f16.
STAGES = 3 * 2 * 128 * 64 * 2


def cases() -> list[Case]:
    half, single = numpy.float16, numpy.float32
    of_halves = BOTH_ALONG_K.format("cutlass::half_t")
    launches = {
        "cute.sgemm_1": _product(BOTH_ALONG_K.format("float"), single, 256, _by_addresses(2), 1, EMPTY),
        "cute.sgemm_sm80": _product(of_halves, half, 128, _by_addresses(3), 1, EMPTY, shared_bytes=STAGES),
        "cute.wgmma_sm90": _product(of_halves, half, 128, _by_addresses(2), 0, ACCUMULATE, shared_bytes=STAGES),
        "cute.wgmma_tma_sm90": _product(
            "cute::SM90_TMA_LOAD, cute::C<131072>",
            half,
            128,
            _by_tensor_maps,
            0,
            ACCUMULATE,
            shared_bytes=STAGES + 128,
            cluster=[2, 1, 1],
        ),
    }
    examples = {
        "cute.sgemm_1": ("cute/tutorial/sgemm_1.cu", {}),
        "cute.sgemm_sm80": ("cute/tutorial/sgemm_sm80.cu", {}),
        "cute.wgmma_sm90": ("cute/tutorial/hopper/wgmma_sm90.cu", COPIES),
        "cute.wgmma_tma_sm90": ("cute/tutorial/hopper/wgmma_tma_sm90.cu", NO_FENCE | LATE_LOADS),
    }
    return [
        Case(name, "cutlass", _make(file), launches.get(name), known, BARRIER_MISTAKES if "wgmma_sm90" in name else {})
        for name, (file, known) in examples.items()
    ]
