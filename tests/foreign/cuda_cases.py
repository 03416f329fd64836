"""Kernels that use CUDA's headers, CUB, libcu++ and cooperative groups. jitc compiles them with NVRTC."""

from __future__ import annotations

import json
import pathlib

import numpy

from case import Case, Launch, Tools

SOURCES = pathlib.Path(__file__).parent / "cuda"


# PTX that this process has made, by source file. One file holds the kernels of several cases.
_made: dict[str, str] = {}


def _make(source: str, entry: str):
    def make(tools: Tools, folder: pathlib.Path) -> pathlib.Path:
        path = folder / f"{source}.ptx"
        if source in _made:
            path.write_text(_made[source])
            return path
        description = folder / "compile.json"
        include = [str(each) for each in tools.headers]
        # jitc needs a launch description for the include folders; its kernel and launch do not change the PTX.
        description.write_text(json.dumps({"entry": entry, "grid": 1, "block": 32, "include": include, "buffers": {}, "parameters": []}))
        tools.run([tools.jitc, "ptx", SOURCES / f"{source}.cu", "--launch", description, "-o", path], folder)
        _made[source] = path.read_text()
        return path

    return make


def _number(kind: str, value) -> dict:
    return {"type": kind, "value": value}


def _launch(entry: str, grid, block, parameters: list, inputs: dict, expected: dict, tolerance=0.0, **more) -> Launch:
    buffers = {name: {} for name in dict.fromkeys([*inputs, *expected])}
    parameters = [{"buffer": p} if isinstance(p, str) else p for p in parameters]
    description = {"entry": entry, "grid": grid, "block": block, "buffers": buffers, "parameters": parameters, **more}
    return Launch(description, inputs, expected, tolerance)


def _integers(seed: int, low: int, high: int, shape, dtype=numpy.int32) -> numpy.ndarray:
    return numpy.random.default_rng(seed).integers(low, high, shape).astype(dtype)


def _radix_sort() -> Launch:
    keys = _integers(1, 0, 2**32, (3, 512), numpy.uint32)
    return _launch("radix_sort", 3, 128, ["keys", "sorted"], {"keys": keys}, {"sorted": numpy.sort(keys, 1)})


def _scan() -> Launch:
    values = _integers(2, -9, 10, 500)
    sums = (numpy.cumsum(values) - values).astype(numpy.int32)
    return _launch("scan", 1, 128, ["values", "sums", _number("i32", 500)], {"values": values}, {"sums": sums})


def _reduce() -> Launch:
    values = _integers(3, -50, 50, 1000).astype(numpy.float32)
    padded = numpy.full(1024, -1e30, numpy.float32)
    padded[:1000] = values
    # Two blocks of four warps process 256 elements in each iteration.
    largest = padded.reshape(4, 8, 32).max((0, 2))
    expected = {"sum": numpy.array([values.sum()], numpy.float32), "largest": largest}
    return _launch("reduce", 2, 128, ["values", "sum", "largest", _number("i32", 1000)], {"values": values}, expected)


def _histogram() -> Launch:
    values = _integers(4, 0, 64, 1024, numpy.uint8)
    counts = numpy.bincount(values, minlength=64).astype(numpy.int32)
    return _launch("histogram", 2, 128, ["values", "counts"], {"values": values}, {"counts": counts})


def _producer_consumer() -> Launch:
    values = _integers(5, -100, 100, 5 * 96)
    return _launch("producer_consumer", 1, 128, ["in", "out", _number("i32", 5)], {"in": values}, {"out": values + 1})


def _pipeline() -> Launch:
    values = _integers(6, -100, 100, (5 * 64, 4))
    out = values.copy()
    out[:, 0] += out[:, 3]
    return _launch("pipeline", 1, 64, ["in", "out", _number("i32", 5)], {"in": values}, {"out": out})


def _bulk_copy() -> Launch:
    values = _integers(7, -100, 100, 3 * 256)
    return _launch("bulk_copy", 3, 64, ["data", _number("i32", 768)], {"data": values}, {"data": 3 * values + 1})


def _look_back() -> Launch:
    values = _integers(8, -100, 100, 9 * 128)
    sums = numpy.cumsum(values).astype(numpy.int32)
    totals = sums[127::128].astype(numpy.uint32).astype(numpy.uint64)
    expected = {
        "out": sums,
        "status": totals | numpy.uint64(2 << 32),
        "ticket": numpy.array([9], numpy.uint32),
    }
    return _launch("look_back", 9, 128, ["in", "out", "status", "ticket"], {"in": values}, expected)


def _tiles_of_16() -> Launch:
    values = _integers(9, 0, 100, 128)
    sums = numpy.repeat(values.reshape(8, 16).sum(1), 16).astype(numpy.int32)
    positions = numpy.zeros(128, numpy.int32)
    for warp in range(4):
        counts = {True: 0, False: 0}
        for at in range(warp * 32, warp * 32 + 32):
            together = bool(values[at] % 3 == 0)
            positions[at] = counts[together]
            counts[together] += 1
    expected = {"sums": sums, "positions": positions}
    return _launch("tiles_of_16", 2, 64, ["in", "sums", "positions"], {"in": values}, expected)


def _cluster_sum() -> Launch:
    values = _integers(10, -100, 100, 8 * 64)
    out = numpy.repeat(values.reshape(2, 256).sum(1), 4).astype(numpy.int32)
    return _launch("cluster_sum", 8, 64, ["in", "out"], {"in": values}, {"out": out})


def _grid_sum() -> Launch:
    values = _integers(11, -100, 100, 6 * 64)
    expected = {
        "partial": values.reshape(6, 64).sum(1).astype(numpy.int32),
        "out": numpy.full(6, values.sum(), numpy.int32),
    }
    return _launch("grid_sum", 6, 64, ["in", "partial", "out"], {"in": values}, expected, cooperative=True)


def _of_halves() -> Launch:
    expected = {
        "halves": numpy.tile(numpy.array([8, 16], numpy.float16), 8),
        "bfloats": numpy.full(8, numpy.array([4.0], numpy.float32).view(numpy.uint32)[0] >> 16, numpy.uint16),
        "vectors": numpy.tile(numpy.array([8, 16, 24, 32], numpy.float32), 8),
        "doubles": numpy.full(8, 2.0),
    }
    return _launch("of_halves", 1, 64, ["halves", "bfloats", "vectors", "doubles"], {}, expected)


def _of_pairs() -> Launch:
    sums = [sum(range(first, 64, 4)) for first in range(4)]
    pairs = numpy.array([[16, each] for each in sums], numpy.uint64)
    return _launch("of_pairs", 1, 64, ["pairs"], {}, {"pairs": pairs})


def _of_scopes() -> Launch:
    # 64 steps: atomicInc counts up through 0 to 6, atomicDec counts down through 9 to 0.
    words = numpy.array([64 % 7, (10 - 64 % 10) % 10, 56, 0, 128, 2**32 - 1], numpy.uint32)
    return _launch("of_scopes", 1, 64, ["words"], {}, {"words": words})


def _virtual_calls() -> Launch:
    sizes = _integers(12, 1, 20, 64).astype(numpy.float32)
    areas = numpy.where(numpy.arange(64) % 3 == 0, sizes * sizes, sizes * 2).astype(numpy.float32)
    return _launch("virtual_calls", 1, 64, ["sizes", "areas"], {"sizes": sizes}, {"areas": areas})


def _pointers() -> Launch:
    values = _integers(13, 0, 100, 64)
    out = numpy.where(values % 2 == 0, 2 * values, values * values).astype(numpy.int32)
    return _launch("pointers", 1, 64, ["in", "out"], {"in": values}, {"out": out})


def _recursion() -> Launch:
    rows = {0: lambda n: n + 1, 1: lambda n: n + 2, 2: lambda n: 2 * n + 3}
    out = numpy.array([rows[t % 3](t % 4) for t in range(64)], numpy.int32)
    return _launch("recursion", 1, 64, ["out"], {}, {"out": out})


def _heap() -> Launch:
    values = _integers(14, 0, 100, 64)
    return _launch("heap", 1, 64, ["in", "out"], {"in": values}, {"out": (4 * values + 6).astype(numpy.int32)})


def _bf16(values: numpy.ndarray) -> numpy.ndarray:
    return (values.astype(numpy.float32).view(numpy.uint32) >> 16).astype(numpy.uint16)


def _halves() -> Launch:
    a, b, c = _integers(15, -4, 5, (32, 64)), _integers(16, -4, 5, (32, 64)), _integers(17, -4, 5, (32, 32))
    inputs = {"a": a.astype(numpy.float16), "b": b.astype(numpy.float16), "c": c.astype(numpy.float32)}
    return _launch("halves", 1, 128, ["a", "b", "c"], inputs, {"c": (2 * a @ b.T + c).astype(numpy.float32)})


def _wide() -> Launch:
    a, b = _integers(18, -128, 128, (8, 16)), _integers(19, -128, 128, (16, 32))
    d, e = _integers(20, -9, 10, (16, 32)), _integers(21, -9, 10, (8, 16))
    inputs = {"a": a.astype(numpy.int8), "b": b.astype(numpy.int8), "d": _bf16(d), "e": _bf16(e)}
    sums = numpy.minimum(a.astype(numpy.int64) @ b + 0x7FFFFF00, 2**31 - 1).astype(numpy.int32)
    expected = {"c": sums, "f": (e @ d).astype(numpy.float32)}
    return _launch("wide", 1, 64, ["a", "b", "c", "d", "e", "f"], inputs, expected)


def _narrow() -> Launch:
    a, b, d = _integers(22, -9, 10, (16, 8)), _integers(23, -9, 10, (8, 16)), _integers(24, -9, 10, (8, 4))
    f = _integers(25, 0, 2**32, (8, 4), numpy.uint32)
    inputs = {"a": a.astype(numpy.float32), "b": b.astype(numpy.float32), "d": d.astype(numpy.float64), "f": f}
    bits = numpy.unpackbits(f.view(numpy.uint8), axis=1).astype(numpy.int32)
    expected = {"c": (a @ b).astype(numpy.float32), "e": d @ d.T + 0.25, "g": bits @ bits.T}
    return _launch("narrow", 1, 32, ["a", "b", "c", "d", "e", "f", "g"], inputs, expected)


# The compare-and-swap loop of CUDA's guide begins with a plain load.
PLAIN_READ = "the first read of a compare-and-swap loop is a plain load, which is not ordered with the atomics of other threads"
KNOWN = {"of_pairs": {"race.global-read-write": PLAIN_READ, "race.global-write-read": PLAIN_READ}}


def cases() -> list[Case]:
    files = {
        "cub": {"radix_sort": _radix_sort, "scan": _scan, "reduce": _reduce, "histogram": _histogram},
        "libcudacxx": {
            "producer_consumer": _producer_consumer,
            "pipeline": _pipeline,
            "bulk_copy": _bulk_copy,
            "look_back": _look_back,
        },
        "groups": {"tiles_of_16": _tiles_of_16, "cluster_sum": _cluster_sum, "grid_sum": _grid_sum},
        "wmma": {"halves": _halves, "wide": _wide, "narrow": _narrow},
        "atomics": {"of_halves": _of_halves, "of_pairs": _of_pairs, "of_scopes": _of_scopes},
        "calls": {"virtual_calls": _virtual_calls, "pointers": _pointers, "recursion": _recursion, "heap": _heap},
    }
    return [
        Case(
            f"{source}.{kernel}",
            "cuda",
            _make(source, kernel),
            launch,
            KNOWN.get(kernel, {}),
        )
        for source, kernels in files.items()
        for kernel, launch in kernels.items()
    ]
