"""Launches of the kernels in triton_language_kernels.py, which use every builtin of Triton's language."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import functools
import math
import multiprocessing
import pathlib

import numpy

from case import Case, CannotMake, Launch, Tools
from triton_cases import COPIES, FENCE, compile_kernel, make_launch, number


STORED_TWICE = {"race.global-write-write": "two groups of warps compute the same tile of 64 rows, and both store it"}


def _random(seed: int):
    return numpy.random.default_rng(seed)


def _numbers(seed: int, shape, low=-50, high=50, kind=numpy.int32):
    return _random(seed).integers(low, high, shape).astype(kind)


def _bf16(x) -> numpy.ndarray:
    """The bits of numbers that bf16 holds exactly."""
    return (numpy.asarray(x, numpy.float32).view(numpy.uint32) >> 16).astype(numpy.uint16)


def _small_floats(x, mantissa: int, bias: int, largest: float) -> numpy.ndarray:
    """The bits of `x` as e4m3 or e5m2, rounded to nearest even and saturated at `largest`."""
    bits = []
    for v in numpy.asarray(x, numpy.float64).reshape(-1):
        a = min(abs(v), largest)
        exponent = max(math.frexp(a)[1] - 1, 1 - bias) if a else 1 - bias
        steps = round(a / 2.0 ** (exponent - mantissa))  # to even
        value = steps * 2.0 ** (exponent - mantissa)
        if value == 0:
            code = 0
        else:
            exponent = max(math.frexp(value)[1] - 1, 1 - bias)
            fraction = int(value / 2.0 ** (exponent - mantissa))
            code = fraction if fraction < 1 << mantissa else ((exponent + bias) << mantissa) + fraction - (1 << mantissa)
        bits.append(code | (0x80 if math.copysign(1.0, v) < 0 else 0))
    return numpy.array(bits, numpy.uint8).reshape(numpy.shape(x))


def _e4m3(x) -> numpy.ndarray:
    return _small_floats(x, 3, 7, 448.0)


def _e5m2(x) -> numpy.ndarray:
    return _small_floats(x, 2, 15, 57344.0)


def _counts() -> Launch:
    x = _numbers(1, 512, 0, 64)
    out = numpy.bincount(x[:500], minlength=64).astype(numpy.int32)
    return make_launch("counts", 1, ["x", "out", number("i32", 500)], {"x": x}, {"out": out})


def _gathered() -> Launch:
    x = _numbers(2, (64, 32), kind=numpy.float32)
    rows = _numbers(3, (16, 32), 0, 64)
    return make_launch("gathered", 1, ["x", "rows", "out"], {"x": x, "rows": rows}, {"out": numpy.take_along_axis(x, rows, 0)})


def _recurrence(axis: int, back: bool):
    def launch() -> Launch:
        a = _numbers(4, (32, 32), -1, 2, numpy.float32)
        b = _numbers(5, (32, 32), -9, 9, numpy.float32)
        out = numpy.zeros_like(b)
        value = numpy.zeros(32, numpy.float32)
        for step in reversed(range(32)) if back else range(32):
            at = (slice(None), step) if axis else step
            value = value * a[at] + b[at]
            out[at] = value
        return make_launch("recurrence", 1, ["a", "b", "out"], {"a": a, "b": b}, {"out": out})

    return launch


def _reductions() -> Launch:
    x = numpy.stack([_random(6 + row).permutation(64) - 20 for row in range(32)]).astype(numpy.float32)
    whole = x.astype(numpy.int32)
    rows = [x.argmax(1), x.argmin(1), x.max(1) + x.argmax(1), numpy.bitwise_xor.reduce(whole, 1), x.sum(0), [x.sum()]]
    return make_launch("reductions", 1, ["x", "out"], {"x": x}, {"out": numpy.concatenate(rows).astype(numpy.float32)})


# Arrays of small whole numbers in the types of factors, by Triton's names of the types.
KINDS = {
    "fp16": lambda x: x.astype(numpy.float16),
    "bf16": _bf16,
    "fp8e4nv": _e4m3,
    "fp8e5": _e5m2,
    "i8": lambda x: x.astype(numpy.int8),
    "fp32": lambda x: x.astype(numpy.float32),
    "fp64": lambda x: x.astype(numpy.float64),
}
# NumPy's and Triton's types of results, by their names in signatures.
NUMPY_TYPES = {"fp16": numpy.float16, "fp32": numpy.float32, "i32": numpy.int32, "fp64": numpy.float64}
TRITON_TYPES = {"fp16": "float16", "fp32": "float32", "i32": "int32", "fp64": "float64"}


def _product(kind: str, out: str, m: int, n: int, k: int):
    def launch() -> Launch:
        a, b = _numbers(7, (m, k), -2, 3), _numbers(8, (k, n), -2, 3)
        inputs = {"a": KINDS[kind](a), "b": KINDS[kind](b)}
        return make_launch("product", 1, ["a", "b", "c"], inputs, {"c": (a @ b).astype(NUMPY_TYPES[out])})

    return launch


def _scaled_product() -> Launch:
    a, b = _numbers(9, (64, 128), -2, 3), _numbers(10, (128, 64), -2, 3)
    s, t = _numbers(11, (64, 4), 126, 130, numpy.uint8), _numbers(12, (64, 4), 126, 130, numpy.uint8)
    x = a * numpy.repeat(2.0 ** (s.astype(float) - 127), 32, 1)
    y = b * numpy.repeat(2.0 ** (t.astype(float) - 127), 32, 1).T
    inputs = {"a": _e4m3(a), "s": s, "b": _e4m3(b), "t": t}
    return make_launch("scaled_product", 1, ["a", "s", "b", "t", "c"], inputs, {"c": (x @ y).astype(numpy.float32)})


def _shuffled() -> Launch:
    x = _random(13).permutation(256).astype(numpy.int32)
    parts = [
        x[::-1],
        x.reshape(-1, 2)[:, ::-1].reshape(-1),
        x.reshape(8, 32).T.reshape(-1),
        numpy.sort(x)[::-1],
        x.reshape(4, 16, 4).transpose(2, 0, 1).reshape(-1),
        numpy.sort(x)[:-9:-1],
    ]
    return make_launch("shuffled", 1, ["x", "out"], {"x": x}, {"out": numpy.concatenate(parts)})


def _philox(seed: int, at: int) -> int:
    """The first word of Philox 4x32-10, as defined in its paper."""
    mask = 0xFFFFFFFF
    c, k = [at, 0, 0, 0], [seed, 0]
    for _ in range(10):
        low, high = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(high >> 32) ^ c[1] ^ k[0], high & mask, (low >> 32) ^ c[3] ^ k[1], low & mask]
        k = [(k[0] + 0x9E3779B9) & mask, (k[1] + 0xBB67AE85) & mask]
    return c[0]


def _randoms() -> Launch:
    out = numpy.array([_philox(42, i) for i in range(256)], numpy.uint32).view(numpy.int32)
    return make_launch("randoms", 1, ["out", number("i32", 42)], {}, {"out": out})


def _atomics() -> Launch:
    x = _numbers(14, 256, 0, 1 << 16)
    words = numpy.zeros(16 + 256, numpy.int32)
    words[0], words[3], words[4], words[8:12] = -1, -5, 1 << 30, range(4)
    after = words.copy()
    after[0] = numpy.bitwise_and.reduce(x | 0xF0F0)
    after[1], after[2] = numpy.bitwise_or.reduce(x), numpy.bitwise_xor.reduce(x)
    after[3], after[4], after[8:12], after[16:] = x.max(), x.min(), numpy.arange(4) + 100, x
    index = numpy.arange(256)
    floats = numpy.array([0.0] * 8 + [-1.0, 1e9], numpy.float32)
    sums = numpy.bincount(index % 8, x)
    expected = {
        "words": after,
        "longs": numpy.bincount(index % 3, x).astype(numpy.int64),
        "floats": numpy.concatenate([sums, [x.max(), x.min()]]).astype(numpy.float32),
        "doubles": sums,
    }
    inputs = {"x": x, "words": words, "longs": numpy.zeros(3, numpy.int64), "floats": floats, "doubles": numpy.zeros(8)}
    return make_launch("atomics", 2, ["x", "words", "longs", "floats", "doubles"], inputs, expected)


def _printed() -> Launch:
    x = _numbers(15, 50)
    return make_launch("printed", 1, ["x", "out", number("i32", 50)], {"x": x}, {"out": x + 1})


def _functions() -> Launch:
    x = _random(16).uniform(-2.5, 2.5, 128).astype(numpy.float32)
    v = x.astype(numpy.float64)
    a = numpy.abs(v)
    rows = [
        numpy.sinh(v),
        (a + 1) ** v,
        numpy.array([math.erf(each) for each in v]),
        numpy.sin((x * numpy.float32(100)).astype(numpy.float64)),
        numpy.array([math.gamma(each + 0.5) for each in a]),
        numpy.rint(v) + numpy.fmod(x, numpy.float32(0.7)),
        1 / numpy.sqrt(a + 1) + numpy.sqrt(a) + v / 3,
        numpy.log2(a + 1) + numpy.exp2(v) + numpy.floor(v) + numpy.ceil(v) + v * v + v,
    ]
    return make_launch("functions", 1, ["x", "out"], {"x": x}, {"out": numpy.concatenate(rows).astype(numpy.float32)}, 1e-6)


def _assembly() -> Launch:
    x = _numbers(17, 256, -(1 << 31), (1 << 31) - 1)
    word = x.view(numpy.uint32)
    y = (~((word << 3) | (word >> 29))).view(numpy.int32)
    half = x.astype(numpy.int16)
    return make_launch("assembly", 1, ["x", "out"], {"x": x}, {"out": y + (half + half).astype(numpy.int32) + half})


def _descriptors() -> Launch:
    a, b = _numbers(18, (40, 96), kind=numpy.float32), _numbers(19, (40, 96), kind=numpy.float32)
    sizes = [number("i32", each) for each in a.shape]
    return make_launch("descriptors", 3, ["a", "b", "c", *sizes], {"a": a, "b": b}, {"b": a + b, "c": 2 * a}, scratch=3 * 384)


def _specialized() -> Launch:
    a, b = _numbers(20, (256, 192), -2, 3, numpy.float16), _numbers(21, (64, 192), -2, 3, numpy.float16)
    c = (a.astype(numpy.float32) @ b.astype(numpy.float32).T).astype(numpy.float16)
    sizes = [number("i32", each) for each in (256, 64, 192)]
    return make_launch("specialized", [2, 1], ["a", "b", "c", *sizes], {"a": a, "b": b}, {"c": c}, scratch=4096)


def _attention_of_tiles() -> Launch:
    q, k, v = _random(22).standard_normal((3, 2, 192, 64)).astype(numpy.float16)
    s = q.astype(numpy.float64) @ k.astype(numpy.float64).transpose(0, 2, 1) * 0.125
    p = numpy.exp2(s - s.max(2, keepdims=True))
    out = ((p / p.sum(2, keepdims=True)) @ v.astype(numpy.float64)).astype(numpy.float16)
    parameters = ["q", "k", "v", "out", number("i32", 2), number("i32", 192), number("f32", 0.125)]
    return make_launch("attention_of_tiles", [3, 2], parameters, {"q": q, "k": k, "v": v}, {"out": out}, 4e-3, scratch=8192)


def _pipelined(kind: str, transposed: bool, doubled: bool, ctas: int):
    def launch() -> Launch:
        a, b = _numbers(23, (128, 160), -2, 3), _numbers(24, (160, 128), -2, 3)
        inputs = {"a": KINDS[kind](a), "b": KINDS[kind](b.T.copy() if transposed else b)}
        c = (a @ b * (2 if doubled else 1)).astype(numpy.float16)
        sizes = [number("i32", each) for each in (128, 128, 160)]
        return make_launch("pipelined", [ctas, 1], ["a", "b", "c", *sizes], inputs, {"c": c})

    return launch


def _collatz() -> Launch:
    x = numpy.arange(1, 13, dtype=numpy.int32)
    steps = []
    for v in map(int, x):
        count = 0
        while v != 1:
            v, count = (v // 2 if v % 2 == 0 else 3 * v + 1), count + 1
        steps.append(count)
    steps[10:] = [0, 0]
    return make_launch("collatz", 12, ["x", "out", number("i32", 10)], {"x": x}, {"out": numpy.array(steps, numpy.int32)})


def _cached() -> Launch:
    x = _numbers(25, 512, kind=numpy.float32)
    return make_launch("cached", 1, ["x", "out"], {"x": x}, {"out": numpy.concatenate([2 * x, 2 * x, x])})


def _casts() -> Launch:
    x = numpy.concatenate([_random(26).uniform(-30, 30, 224), _random(27).uniform(-0.02, 0.02, 32)]).astype(numpy.float32)
    values = {kind: _decoded(kind) for kind in ("e4m3", "e5m2")}
    e4, e5 = _e4m3(x), _e5m2(x)
    bits = x.view(numpy.uint32)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(numpy.uint32).view(numpy.float32)
    half = x.astype(numpy.float16)
    toward_zero = numpy.where(numpy.abs(half.astype(numpy.float32)) > numpy.abs(x), numpy.nextafter(half, numpy.float16(0)), half)
    back = values["e4m3"][e4] + values["e5m2"][e5]
    again = values["e4m3"][_e4m3(rounded)] + values["e5m2"][_e5m2(half)]
    expected = {"e4": e4, "e5": e5, "half": toward_zero, "bytes": x.astype(numpy.int8), "back": numpy.concatenate([back, again])}
    return make_launch("casts", 1, ["x", *expected], {"x": x}, expected)


def _decoded(kind: str) -> numpy.ndarray:
    """The values of the 256 bit patterns, computed as if none of them were NaN or infinity."""
    mantissa, bias = (3, 7) if kind == "e4m3" else (2, 15)
    values = []
    for code in range(256):
        exponent, fraction = (code & 0x7F) >> mantissa, code & ((1 << mantissa) - 1)
        value = (fraction + (1 << mantissa if exponent else 0)) * 2.0 ** (max(exponent, 1) - bias - mantissa)
        values.append(-value if code & 0x80 else value)
    return numpy.array(values, numpy.float32)


def _whole_numbers() -> Launch:
    random = _random(28)
    a = random.integers(-(1 << 60), 1 << 60, 128)
    b = random.integers(1, 1 << 40, 128) * random.choice([-1, 1], 128)
    quotient = numpy.array([int(math.copysign(1, p * q)) * (abs(p) // abs(q)) for p, q in zip(map(int, a), map(int, b))])
    mask = (1 << 64) - 1
    high = numpy.array([((int(p) & mask) * (int(q) & mask)) >> 64 for p, q in zip(a, b)], numpy.uint64).view(numpy.int64)
    rows = [quotient, a - quotient * b, high, (a >> 3) ^ (b << 2), numpy.minimum(a, b) + numpy.maximum(a, b) * 2 + numpy.abs(a)]
    rows.append((a.astype(numpy.uint32) // 7).astype(numpy.int64))
    return make_launch("whole_numbers", 1, ["x", "y", "out"], {"x": a, "y": b}, {"out": numpy.concatenate(rows)})


def _dependent() -> Launch:
    x = _numbers(29, 256, kind=numpy.float32)
    return make_launch("dependent", 2, ["x", "out"], {"x": x}, {"out": x + 1})


def _not_numbers(kind):
    def launch() -> Launch:
        x, y = _numbers(30, (2, 128), kind=kind)
        x[::5], y[::7] = numpy.nan, numpy.nan
        rows = [numpy.maximum(x, y), numpy.fmin(x, y), numpy.where(x < y, x, y)]
        return make_launch("not_numbers", 1, ["x", "y", "out"], {"x": x, "y": y}, {"out": numpy.concatenate(rows)})

    return launch


def _locked_sums() -> Launch:
    x = _numbers(31, (7, 100), kind=numpy.float32)
    sums = numpy.stack([x[0::2].sum(0), x[1::2].sum(0)])
    parameters = ["x", "sums", "lock", number("i32", 100)]
    inputs = {"x": x, "lock": numpy.zeros(4, numpy.int32)}
    return make_launch("locked_sums", 7, parameters, inputs, {"sums": sums, "lock": numpy.array([0, 0, 1, 1], numpy.int32)})


@functools.cache
def _process() -> concurrent.futures.ProcessPoolExecutor:
    """A process of its own, because this one may have imported the older Triton."""
    return concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))


def _case(kernel: str, signature: str, constants: dict, launch, name="", known=None, **options) -> Case:
    types = dict(each.split(":") for each in signature.split())

    def make(tools: Tools, folder: pathlib.Path) -> pathlib.Path:
        newer_tools = dataclasses.replace(tools, site=tools.site.with_name("site-newer_triton"))
        if not newer_tools.site.is_dir():
            raise CannotMake(f"{newer_tools.site.name} has not been fetched")
        try:
            return _process().submit(compile_kernel, "triton_language_kernels", kernel, types, constants, newer_tools, folder, options).result()
        except concurrent.futures.process.BrokenProcessPool:
            _process.cache_clear()
            raise CannotMake("the compiler ended its process") from None

    return Case(f"newer_triton.{name or kernel}", "newer_triton", make, launch, known or {})


def _products() -> list[Case]:
    made = []
    for kind, precision, out in (
        ("fp16", "ieee", "fp32"),
        ("bf16", "ieee", "fp32"),
        ("fp16", "ieee", "fp16"),
        ("i8", "ieee", "i32"),
        ("fp32", "tf32", "fp32"),
        ("fp32", "ieee", "fp32"),
        ("fp32", "tf32x3", "fp32"),
        ("fp8e4nv", "ieee", "fp32"),
        ("fp8e5", "ieee", "fp32"),
        ("fp64", "ieee", "fp64"),
    ):
        for size, warps in ((16, 1), (64, 4), (128, 8)):
            m, n, k = (size, size, 64 if size > 16 else 32)
            constants = {"M": m, "N": n, "K": k, "PRECISION": precision, "OUT": {"language": TRITON_TYPES[out]}}
            name = f"product.{kind}_{precision}_{out}_{size}"
            signature = f"a:*{kind} b:*{kind} c:*{out}"
            made.append(_case("product", signature, constants, _product(kind, out, m, n, k), name, COPIES, num_warps=warps))
    return made


def cases() -> list[Case]:
    made = []
    for warps in (1, 4, 8):
        for kernel, signature, constants, launch, known in (
            ("counts", "x:*i32 out:*i32 n:i32", {"B": 512, "BINS": 64}, _counts, {}),
            ("gathered", "x:*fp32 rows:*i32 out:*fp32", {"R": 64, "C": 32, "D": 16}, _gathered, {}),
            ("reductions", "x:*fp32 out:*fp32", {"R": 32, "C": 64}, _reductions, {}),
            ("shuffled", "x:*i32 out:*i32", {"B": 256}, _shuffled, {}),
            ("atomics", "x:*i32 words:*i32 longs:*i64 floats:*fp32 doubles:*fp64", {"B": 128}, _atomics, {}),
            ("descriptors", "a:*fp32 b:*fp32 c:*fp32 M:i32 N:i32", {"BM": 16, "BN": 32}, _descriptors, FENCE),
        ):
            made.append(_case(kernel, signature, constants, launch, f"{kernel}.{warps}", known, num_warps=warps))
        for axis, back in ((1, False), (0, True)):
            constants = {"R": 32, "C": 32, "AXIS": axis, "BACK": back}
            name = f"recurrence.{axis}.{warps}"
            made.append(_case("recurrence", "a:*fp32 b:*fp32 out:*fp32", constants, _recurrence(axis, back), name, num_warps=warps))
    made += _products()
    made += [
        _case("scaled_product", "a:*fp8e4nv s:*u8 b:*fp8e4nv t:*u8 c:*fp32", {"M": 64, "N": 64, "K": 128}, _scaled_product),
        _case("randoms", "out:*i32 seed:i32", {"B": 256}, _randoms),
        _case("printed", "x:*i32 out:*i32 n:i32", {"B": 64}, _printed, debug=True),
        _case("functions", "x:*fp32 out:*fp32", {"B": 128}, _functions),
        _case("assembly", "x:*i32 out:*i32", {"B": 256}, _assembly),
        _case("collatz", "x:*i32 out:*i32 n:i32", {}, _collatz),
        _case("cached", "x:*fp32 out:*fp32", {"B": 512}, _cached),
        _case("casts", "x:*fp32 e4:*fp8e4nv e5:*fp8e5 half:*fp16 bytes:*i8 back:*fp32", {"B": 256}, _casts),
        _case("whole_numbers", "x:*i64 y:*i64 out:*i64", {"B": 128}, _whole_numbers),
        _case("dependent", "x:*fp32 out:*fp32", {"B": 128}, _dependent, launch_pdl=True),
        _case("not_numbers", "x:*fp32 y:*fp32 out:*fp32", {"B": 128}, _not_numbers(numpy.float32)),
        _case("not_numbers", "x:*fp16 y:*fp16 out:*fp16", {"B": 128}, _not_numbers(numpy.float16), "not_numbers.halves"),
        _case("locked_sums", "x:*fp32 sums:*fp32 lock:*i32 N:i32", {"B": 128, "G": 2}, _locked_sums),
    ]
    halves = "a:*fp16 b:*fp16 c:*fp16 M:i32 N:i32 K:i32"
    for warps_specialized in (False, True):
        for stages in (1, 3):
            tile = {"BM": 128, "BN": 64, "BK": 64, "SPECIALIZED": warps_specialized}
            variant = f"{'apart' if warps_specialized else 'together'}.{stages}"
            made.append(_case("specialized", halves, tile, _specialized, f"specialized.{variant}", FENCE, num_stages=stages))
            signature = "q:*fp16 k:*fp16 v:*fp16 out:*fp16 heads:i32 length:i32 scale:fp32"
            tile = {"D": 64, "BM": 64, "BN": 64, "SPECIALIZED": warps_specialized}
            name = f"attention_of_tiles.{variant}"
            known = {**FENCE, **STORED_TWICE} if warps_specialized and stages > 1 else FENCE
            made.append(_case("attention_of_tiles", signature, tile, _attention_of_tiles, name, known, num_stages=stages))
    for kind, transposed, doubled, warps, stages, ctas in (
        ("fp16", False, False, 4, 3, 1),
        ("fp16", True, True, 4, 3, 1),
        ("fp8e4nv", True, False, 4, 4, 1),
        ("fp8e5", True, False, 8, 2, 1),
        ("fp32", False, False, 4, 2, 1),
        ("bf16", False, False, 8, 4, 1),
        ("fp16", False, False, 4, 3, 2),
        ("fp16", False, False, 2, 3, 1),
    ):
        constants = {"BM": 128, "BN": 128, "BK": 32 if kind == "fp32" else 64, "TRANSPOSED": transposed, "DOUBLED": doubled}
        name = f"pipelined.{kind}.{'turned.' if transposed else ''}{warps}.{stages}.{ctas}"
        signature = f"a:*{kind} b:*{kind} c:*fp16 M:i32 N:i32 K:i32"
        launch = _pipelined(kind, transposed, doubled, ctas)
        made.append(_case("pipelined", signature, constants, launch, name, COPIES, num_warps=warps, num_stages=stages, num_ctas=ctas))
    return made
