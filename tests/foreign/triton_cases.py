"""Kernels that Triton compiles ahead of time for sm_90a, launched with the parameters that Triton appends."""

from __future__ import annotations

import importlib
import pathlib
import sys

import numpy

from case import Case, CannotMake, Launch, Tools

FENCE = {
    "mbarrier.init-not-fenced": "Triton has a barrier after mbarrier.init in place of the fence that the ISA's text demands"
}
COPIES = {
    "wgmma.copy-not-fenced": "Triton has no proxy fence between cp.async and the wgmma that reads the copied data"
}
TILE = {"BM": 64, "BN": 64, "BK": 64}
# Triton 3.5 appends two addresses to every kernel's parameters: its scratch memory and the profiler's.
TRAILING = [{"buffer": "scratch"}, {"buffer": "scratch"}]


def compile_kernel(file: str, kernel: str, signature: dict, constants: dict, tools: Tools, folder: pathlib.Path, options=None):
    """The PTX of a kernel in FILE.py. A constant {"language": NAME} stands for triton.language.NAME."""
    if str(tools.site) not in sys.path:
        sys.path.insert(0, str(tools.site))
    try:
        import triton
        from triton.backends.compiler import GPUTarget
        from triton.compiler import ASTSource
    except ImportError as error:
        raise CannotMake(f"Triton cannot be imported: {error}") from None
    kernels = importlib.import_module(file)
    resolved = lambda each: getattr(triton.language, each["language"]) if isinstance(each, dict) else each
    constants = {name: resolved(each) for name, each in constants.items()}

    # At a call, Triton's runtime would find that the addresses and sizes are multiples of 16.
    divisible = {
        (at,): [["tt.divisibility", 16]]
        for at, (name, kind) in enumerate(signature.items())
        if kind.startswith("*") or name in ("M", "N", "K", "length")
    }
    source = ASTSource(
        getattr(kernels, kernel),
        signature={**signature, **dict.fromkeys(constants, "constexpr")},
        constexprs=constants,
        attrs=divisible,
    )
    try:
        made = triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options or {})
    except Exception as reason:  # a compiler may raise any exception
        raise CannotMake(f"{type(reason).__name__}: {str(reason)[-300:]}") from None
    path = folder / f"{kernel}.ptx"
    path.write_text(made.asm["ptx"])
    # The launch takes its shared memory and block size from this compilation.
    (folder / "shared_bytes").write_text(str(made.metadata.shared))
    (folder / "threads").write_text(str(32 * made.metadata.num_warps))
    return path


def number(kind: str, value) -> dict:
    return {"type": kind, "value": value}


def make_launch(kernel: str, grid, parameters: list, inputs: dict, expected: dict, tolerance=0.0, scratch=128) -> Launch:
    buffers = {name: {} for name in [*inputs, *expected]}
    buffers["scratch"] = {"dtype": "u8", "shape": [scratch]}
    description = {
        "entry": kernel,
        "grid": grid,
        "block": 128,
        "buffers": buffers,
        "parameters": [{"buffer": p} if isinstance(p, str) else p for p in parameters] + TRAILING,
    }
    return Launch(description, inputs, expected, tolerance)


def _vector_add() -> Launch:
    random = numpy.random.default_rng(1)
    x, y = (random.standard_normal(5000).astype(numpy.float32) for _ in range(2))
    return make_launch("vector_add", 5, ["x", "y", "out", number("i32", 5000)], {"x": x, "y": y}, {"out": x + y})


def _softmax() -> Launch:
    x = numpy.random.default_rng(2).standard_normal((6, 781)).astype(numpy.float32)
    powers = numpy.exp(x - x.max(1, keepdims=True), dtype=numpy.float64)
    out = (powers / powers.sum(1, keepdims=True)).astype(numpy.float32)
    return make_launch("softmax", 6, ["x", "out", number("i32", 781)], {"x": x}, {"out": out}, 1e-5)


def _factors(m: int, n: int, k: int):
    """Two matrices and their product. The elements are small whole numbers, so that sums are exact in any order."""
    random = numpy.random.default_rng(3)
    a = random.integers(-2, 3, (m, k)).astype(numpy.float16)
    b = random.integers(-2, 3, (k, n)).astype(numpy.float16)
    return a, b, (a.astype(numpy.float32) @ b.astype(numpy.float32)).astype(numpy.float16)


def _matmul() -> Launch:
    # Here and in the cases below, K has enough steps that stages are reused.
    a, b, c = _factors(128, 96, 288)
    sizes = [number("i32", each) for each in (128, 96, 288)]
    return make_launch("matmul", [2, 2], ["a", "b", "c", *sizes], {"a": a, "b": b}, {"c": c})


def _descriptor(buffer: str, shape) -> list:
    """The parameters of a tensor descriptor made by the host: a tensor map, the shape and the strides."""
    tensor_map = {"buffer": buffer, "box": [64, 64], "swizzle": "128B"}
    sizes = [number("i32", each) for each in shape]
    strides = [number("i64", each) for each in (shape[1], 1)]
    return [{"tensor_map": tensor_map}, *sizes, *strides]


def _matmul_of_host_descriptors() -> Launch:
    a, b, c = _factors(128, 128, 320)
    parameters = [*_descriptor("a", a.shape), *_descriptor("b", b.shape), *_descriptor("c", c.shape)]
    parameters.append(number("i32", 320))
    return make_launch("matmul_of_host_descriptors", [2, 2], parameters, {"a": a, "b": b}, {"c": c})


def _persistent_matmul() -> Launch:
    a, b, c = _factors(192, 192, 128)
    sizes = [number("i32", each) for each in (192, 192, 128)]
    # Each CTA writes three tensor maps of 128 bytes into the scratch memory.
    return make_launch("persistent_matmul", 4, ["a", "b", "c", *sizes], {"a": a, "b": b}, {"c": c}, scratch=4 * 384)


def _attention() -> Launch:
    random = numpy.random.default_rng(4)
    q, k, v = (random.standard_normal((2, 256, 64)).astype(numpy.float16) for _ in range(3))
    s = q.astype(numpy.float64) @ k.astype(numpy.float64).transpose(0, 2, 1) * 0.125
    s = numpy.where(numpy.tril(numpy.ones((256, 256), bool)), s, -1.0e6)
    p = numpy.exp2(s - s.max(2, keepdims=True))
    out = (p / p.sum(2, keepdims=True)) @ v.astype(numpy.float64)
    parameters = ["q", "k", "v", "out", number("i32", 256), number("f32", 0.125)]
    return make_launch("attention", [4, 2], parameters, {"q": q, "k": k, "v": v}, {"out": out.astype(numpy.float16)}, 4e-3)


def _histogram() -> Launch:
    x = numpy.random.default_rng(5).integers(0, 1000, 700).astype(numpy.int32)
    bins = x % 32
    # Elements beyond the end are masked out of `counts` and `sums`, and add 0 to the sum in `lock`.
    sums = numpy.bincount(bins, weights=x % 4, minlength=32).astype(numpy.float16)
    expected = {
        "counts": numpy.bincount(bins, minlength=32).astype(numpy.int32),
        "largest": numpy.array([x.max()], numpy.int32),
        "sums": sums,
        "lock": numpy.array([0, x.sum()], numpy.int32),
    }
    return make_launch("histogram", 3, ["x", "counts", "largest", "sums", "lock", number("i32", 700)], {"x": x}, expected)


def _sort() -> Launch:
    x = numpy.random.default_rng(6).integers(-1000, 1000, (3, 256)).astype(numpy.int32)
    return make_launch("sort", 3, ["x", "out"], {"x": x}, {"out": numpy.sort(x, 1)})


def _running_sum() -> Launch:
    x = numpy.random.default_rng(7).integers(-8, 9, (2, 1024)).astype(numpy.float32)
    return make_launch("running_sum", 2, ["x", "out"], {"x": x}, {"out": numpy.cumsum(x, 1).astype(numpy.float32)})


def _case(kernel: str, signature: str, constants: dict, launch, known=None) -> Case:
    types = dict(each.split(":") for each in signature.split())

    def make(tools: Tools, folder: pathlib.Path) -> pathlib.Path:
        return compile_kernel("triton_kernels", kernel, types, constants, tools, folder)

    return Case(f"triton.{kernel}", "triton", make, launch, known or {})


def cases() -> list[Case]:
    factors = "a:*fp16 b:*fp16 c:*fp16 M:i32 N:i32 K:i32"
    tile = "tensordesc<fp16[64,64]>"
    return [
        _case("vector_add", "x:*fp32 y:*fp32 out:*fp32 n:i32", {"BLOCK": 1024}, _vector_add),
        _case("softmax", "x:*fp32 out:*fp32 columns:i32", {"BLOCK": 1024}, _softmax),
        _case("matmul", factors, TILE, _matmul, COPIES),
        _case("matmul_of_host_descriptors", f"a:{tile} b:{tile} c:{tile} K:i32", TILE, _matmul_of_host_descriptors, FENCE),
        _case("persistent_matmul", factors, TILE, _persistent_matmul),
        _case("attention", "q:*fp16 k:*fp16 v:*fp16 out:*fp16 length:i32 scale:fp32", {"BM": 64, "BN": 64, "D": 64}, _attention, COPIES),
        _case("histogram", "x:*i32 counts:*i32 largest:*i32 sums:*fp16 lock:*i32 n:i32", {"BLOCK": 256, "BINS": 32}, _histogram),
        _case("sort", "x:*i32 out:*i32", {"BLOCK": 256}, _sort),
        _case("running_sum", "x:*fp32 out:*fp32", {"BLOCK": 1024}, _running_sum),
    ]
