"""Kernels compiled by Numba, optimised and as debugging code."""

from __future__ import annotations

import math
import pathlib

import numpy

from case import Case, Launch, Tools
from made_ahead import take

MODES = ("plain", "debug")


def _array(name: str, array: numpy.ndarray, strides=None) -> list:
    """Numba's parameters for an array: two object pointers that kernels ignore, size, item size, data, shape and strides."""
    numbers = [array.size, array.itemsize]
    strides = strides or array.strides
    return [
        *({"type": "u64", "value": 0} for _ in range(2)),
        *({"type": "i64", "value": each} for each in numbers),
        {"buffer": name},
        *({"type": "i64", "value": each} for each in (*array.shape, *strides)),
    ]


def _launch(grid, block, arguments: list, inputs: dict, expected: dict, tolerance=0.0, **more) -> Launch:
    """Each of `arguments` is the name of an array or a parameter of the launch description."""
    arrays = {**expected, **inputs}
    parameters = []
    for each in arguments:
        parameters += _array(each, arrays[each]) if isinstance(each, str) else [each]
    description = {
        "grid": grid,
        "block": block,
        "buffers": {name: {} for name in arrays},
        "parameters": parameters,
        **more,
    }
    return Launch(description, inputs, expected, tolerance)


def _random(seed: int):
    return numpy.random.default_rng(seed)


def _saxpy() -> Launch:
    x, y = _random(1).integers(-50, 50, (2, 1000)).astype(numpy.float32)
    a = {"type": "f32", "value": 2.0}
    return _launch(8, 128, [a, "x", "y", "out"], {"x": x, "y": y}, {"out": 2 * x + y})


def _matmul() -> Launch:
    random = _random(2)
    a = random.integers(-4, 5, (40, 37)).astype(numpy.float32)
    b = random.integers(-4, 5, (37, 35)).astype(numpy.float32)
    return _launch([3, 3], [16, 16], ["a", "b", "c"], {"a": a, "b": b}, {"c": a @ b})


def _block_sum() -> Launch:
    x = _random(3).integers(-1000, 1000, 3000).astype(numpy.int32)
    return _launch(4, 128, ["x", "out"], {"x": x}, {"out": numpy.array([x.sum()], numpy.int64)})


def _scan() -> Launch:
    x = _random(4).integers(-100, 100, (2, 256)).astype(numpy.int32)
    expected = {"out": numpy.cumsum(x, 1).astype(numpy.int32).reshape(-1)}
    return _launch(2, 256, ["x", "out"], {"x": x.reshape(-1)}, expected, shared_bytes=1024)


def _histogram() -> Launch:
    x = _random(5).integers(0, 1000, 2000).astype(numpy.int32)
    return _launch(3, 128, ["x", "counts"], {"x": x}, {"counts": numpy.bincount(x % 64, minlength=64).astype(numpy.int32)})


def _complex_numbers() -> Launch:
    random = _random(6)
    c = (random.standard_normal(100) + 1j * random.standard_normal(100)) * 0.3
    z = numpy.zeros_like(c)
    for _ in range(5):
        z = z * z + c / (1 + 2j)
    out = z.conj() + numpy.abs(c)
    # A launch file has no complex type, so complex numbers are pairs of floats.
    x, pairs = c.view(numpy.float64), out.view(numpy.float64)
    parameters = []
    for name in ("x", "out"):
        parameters += _array(name, c)
    return _launch(1, 128, parameters, {"x": x}, {"out": pairs}, 1e-12)


def _local_sort() -> Launch:
    x = _random(7).standard_normal((64, 9))
    return _launch(2, 32, ["x", "out"], {"x": x}, {"out": numpy.sort(x, 1)})


def _grid_barrier() -> Launch:
    x = numpy.full(96, -1, numpy.int32)
    expected = {"out": (95 - numpy.arange(96)).astype(numpy.int32) * 3}
    return _launch(3, 32, ["x", "out"], {"x": x}, expected, cooperative=True)


def _checked() -> Launch:
    random = _random(8)
    x = random.integers(0, 1000, 64).astype(numpy.int32)
    divisors = (random.integers(1, 9, 64) * random.choice([-1, 1], 64)).astype(numpy.int32)
    return _launch(1, 64, ["x", "divisors", "out"], {"x": x, "divisors": divisors}, {"out": x // divisors + x % divisors})


def _atomics() -> Launch:
    x = _random(10).permutation(128).astype(numpy.int64) - 40
    whole = numpy.array([0, 0, -1000, 1000, 5, 3, 9], numpy.int64)
    words = numpy.array([0, 0, 0xFFFFFFFF, 0, 0, 1], numpy.uint32)
    numbers = numpy.array([0.5, -1e9, 1e9, 1.0])
    total = int(x.sum())
    turned = 0
    for _ in range(128):
        turned = 100 if turned == 0 or turned > 100 else turned - 1
    mixed = 0
    for each in range(128):
        mixed ^= each
    expected = {
        "whole": numpy.array([total, -total, x.max(), x.min(), 5, 3, 9], numpy.int64),
        "words": numpy.array([128 % 101, turned, 0, 0xFFFFFFFF, mixed, 1], numpy.uint32),
        "numbers": numpy.array([0.5 + total, x.max(), x.min(), 1.0]),
    }
    inputs = {"x": x, "whole": whole, "words": words, "numbers": numbers}
    return _launch(2, 64, ["x", "whole", "words", "numbers"], inputs, expected)


def _signed(word: int) -> int:
    """The word as an int32, the type that match_any_sync returns."""
    return word - (1 << 32) if word >> 31 else word


def _votes() -> Launch:
    x = _random(11).integers(-40, 60, 64).astype(numpy.int32)
    x[32:] = x[40]
    out = numpy.zeros((64, 8), numpy.int64)
    for warp in range(2):
        v = x[32 * warp : 32 * warp + 32]
        word = sum(int(each > 0) << lane for lane, each in enumerate(v))
        agree = int((v // 100 == v[0] // 100).all())
        for lane in range(32):
            i = 32 * warp + lane
            out[i, 0] = word.bit_count() + (32 - word.bit_length()) * 64 + ((word & -word).bit_length()) * 4096
            out[i, 1] = _signed(sum(int(each == v[lane]) << at for at, each in enumerate(v)))
            out[i, 2] = int(f"{i:032b}"[::-1], 2)
            out[i, 3] = agree + 2 * int((v > -50).all()) + 4 * int((v == 3).any())
            out[i, 4] = int(v[lane ^ 5]) + int(v[(i + 1) % 32])
            out[i, 5] = int(v[lane - 3] if lane >= 3 else v[lane]) - ((1 << lane) - 1)
            out[i, 6] = 0xFFFFFFFF
            out[i, 7] = 3 if v[lane] > 0 else 4
    return _launch(2, 32, ["x", "out"], {"x": x}, {"out": out})


def _constants() -> Launch:
    rows = numpy.array([[1.5, -2.0, 0.25, 8.0], [3.0, 0.5, -1.0, 2.0]], numpy.float32)
    out = numpy.array([rows[i % 2, (i // 2) % 4] + rows[1, i % 4] for i in range(32)], numpy.float32)
    return _launch(1, 32, ["out"], {}, {"out": out})


def _functions() -> Launch:
    x = numpy.concatenate([_random(12).uniform(-2.9, 2.9, 31), [0.5]])

    def row(v: float) -> list:
        a = abs(v)
        fraction, exponent = math.frexp(v)
        return [
            math.sin(v),
            math.cos(v * 1000),
            math.exp(v),
            math.log(a),
            math.pow(a, 1.7),
            math.erf(v),
            math.gamma(a + 1),
            math.atan2(v, 2.0),
            math.sqrt(a),
            math.tanh(v),
            math.fmod(v, 0.3),
            math.floor(v) + math.ceil(v) + math.trunc(v) + round(v),
            math.lgamma(a + 0.5),
            fraction + exponent,
            math.hypot(v, 1.0) + math.copysign(1.0, v),
            math.log1p(a) + math.expm1(v),
        ]

    return _launch(1, 32, ["x", "out"], {"x": x}, {"out": numpy.array([row(v) for v in x]).T.copy()}, 1e-14)


def _records() -> Launch:
    kind = numpy.dtype([("x", "f4"), ("v", "f8"), ("count", "i2"), ("mass", "f4")], align=True)
    random = _random(13)
    before = numpy.zeros(40, kind)
    for name in ("x", "v", "mass"):
        before[name] = random.integers(-9, 9, 40)
    after = numpy.frombuffer(bytearray(before.tobytes()), kind)  # a copy that includes the padding between fields
    after["x"] += before["v"].astype(numpy.float32) * numpy.float32(0.5)
    after["count"] += 1
    out = (after["x"] * after["mass"]).astype(numpy.float64)
    parameters = [*_array("particles", before), *_array("out", out)]
    raw = {"particles": before.view(numpy.uint8)}
    return _launch(1, 64, parameters, raw, {"particles": after.view(numpy.uint8), "out": out})


def _strided() -> Launch:
    x = _random(14).integers(-50, 50, (10, 24)).astype(numpy.float32)
    part = x[::3, ::2]
    out = (part + part[-1, -1] * 2).T.copy()
    parameters = [*_array("x", part), *_array("out", out)]
    return _launch([1, 1], [8, 16], parameters, {"x": x}, {"out": out})


def _pairs() -> Launch:
    a, b = _random(15).integers(-50, 50, (2, 32)).astype(numpy.float32)
    weights = [{"type": "f32", "value": each} for each in (2.0, -0.5)]
    return _launch(1, 32, ["a", "b", *weights, "out"], {"a": a, "b": b}, {"out": a * 2 - b * 0.5})


def _printing() -> Launch:
    x = numpy.arange(4, dtype=numpy.float32)
    return _launch(1, 4, ["x"], {"x": x}, {"x": x * 2})


def _python_division() -> Launch:
    random = _random(16)
    x = random.integers(-1000, 1000, 64)
    y = random.integers(1, 40, 64) * random.choice([-1, 1], 64)
    out = numpy.array([[a // b, a % b, a << (b & 31), a >> (b & 31), -a // 7, abs(a) ** 3] for a, b in zip(x, y)])
    return _launch(1, 64, ["x", "y", "out"], {"x": x, "y": y}, {"out": out})


def _whole_chooser() -> Launch:
    x = numpy.arange(64, dtype=numpy.int32) * 5 % 64
    out = []
    for i, v in enumerate(map(int, x)):
        choices = [5.0, v * 0.5, math.sqrt(v), float(i), 1.0 / (v + 1), float(v**2), -1.0, float(min(v, 9) + max(i, 3))]
        out.append(choices[v % 8])
    return _launch(1, 64, ["x", "out"], {"x": x}, {"out": numpy.array(out)}, 1e-15)


def _stencil() -> Launch:
    x = _random(17).integers(-64, 64, 256).astype(numpy.float32)
    wide = numpy.concatenate([[0], x, [0]])
    out = numpy.empty_like(x)
    for block in range(2):
        tile = wide[128 * block : 128 * block + 130].copy()
        for _ in range(3):
            tile[1:-1] = (tile[:-2] + tile[2:]) * 0.5
        out[128 * block : 128 * block + 128] = tile[1:-1]
    turns = {"type": "i32", "value": 3}
    return _launch(2, 128, ["x", "out", turns], {"x": x}, {"out": out})


def _ticket() -> Launch:
    x = _random(18).integers(-99, 99, 4 * 64).astype(numpy.int32)
    expected = {"partial": x.reshape(4, 64).sum(1).astype(numpy.int32), "out": numpy.array([x.sum()], numpy.int64)}
    inputs = {"x": x, "partial": numpy.zeros(4, numpy.int32), "count": numpy.zeros(1, numpy.int32)}
    return _launch(4, 64, ["x", "partial", "count", "out"], inputs, expected)


LAUNCHES = {
    function.__name__[1:]: function
    for function in (
        _saxpy,
        _matmul,
        _block_sum,
        _scan,
        _histogram,
        _complex_numbers,
        _local_sort,
        _grid_barrier,
        _checked,
        _atomics,
        _votes,
        _constants,
        _functions,
        _records,
        _strided,
        _pairs,
        _printing,
        _python_division,
        _whole_chooser,
        _stencil,
        _ticket,
    )
}


# numba-cuda 0.30 cannot compile the debugging code of these kernels to one file.
LEFT_OUT = {(kernel, "debug") for kernel in ("complex_numbers", "grid_barrier", "python_division", "whole_chooser")}


def _case(kernel: str, mode: str, launch) -> Case:
    def make(tools: Tools, folder: pathlib.Path) -> pathlib.Path:
        text = take("numba", f"{kernel}.{mode}", tools, folder).read_text()
        path = folder / f"{kernel}.ptx"
        path.write_text(text)
        return path

    return Case(f"numba.{kernel}" + ("" if mode == "plain" else f".{mode}"), "numba", make, launch)


def cases() -> list[Case]:
    made = [_case(kernel, mode, launch) for kernel, launch in LAUNCHES.items() for mode in MODES if (kernel, mode) not in LEFT_OUT]
    # The f16 functions of `halves` are linked from another file, so its PTX alone cannot run.
    return [*made, _case("halves", "plain", None)]
