"""Kernels of public projects, compiled by nvcc from a checkout of their sources. This repository has none of their code."""

from __future__ import annotations

import pathlib
import shutil

import numpy

from case import CannotMake, Case, Launch, Tools

# The URL and commit of each project.
PROJECTS = {
    "llm.c": ("https://github.com/karpathy/llm.c", "f1e2ace651495b74ae22d45d1723443fd00ecd3a"),
    "cuda-samples": ("https://github.com/NVIDIA/cuda-samples", "c94ff366aed18c797b8a85dfaac7817b0228b420"),
    "fast.cu": ("https://github.com/pranjalssh/fast.cu", "38eb642e0c081231d6f695978be63604bd7c689b"),
    "effective_transpose": ("https://github.com/simveit/effective_transpose", "994b2b5acaa67f80e411df3e8274b6ae13fd1949"),
    "NVIDIA-Hopper-Benchmark": ("https://github.com/HPMLL/NVIDIA-Hopper-Benchmark", "ded6f5765ad1b6e58573abb7cfe9c9b10a1719a7"),
}
SAMPLES = "Samples/3_CUDA_Features/globalToShmemAsyncCopy/globalToShmemAsyncCopy.cu"
CONCEPTS = "Samples/2_Concepts_and_Techniques"
RING = "NewFeatures/DSM/Throughput/Ring/dsm_throughput.cu"
COMMON = ("-I", "Common")

KNOWN = {
    SAMPLES: {"mbarrier.init-not-fenced": "the kernel in which the copies of memcpy_async complete on an mbarrier has no fence"},
    RING: {"race.global-write-write": "all CTAs write the same numbers to the same addresses"},
    "matmul.cu": {
        "mbarrier.init-not-fenced": "none of its kernels has a fence after mbarrier.init",
        "copy.swizzle-base": "the dynamic shared memory is only aligned to 128 bytes",
        "store.missing-proxy-fence": "see docs/found.md",
        "exit.store-unread": "see docs/found.md",
    },
}


def _checkout(project: str, tools: Tools) -> pathlib.Path:
    """The folder of the project's sources, fetched once into the folder of the wheels."""
    checkout = tools.site / "sources" / project
    if not checkout.exists():
        url, commit = PROJECTS[project]
        part = checkout.with_name(f"{project}.part")  # renamed after the fetch, so that a failed fetch is repeated
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        for step in (["init", "-q"], ["fetch", "-q", "--depth", "1", url, commit], ["checkout", "-q", "FETCH_HEAD"]):
            tools.run(["git", *step], part)
        part.rename(checkout)
    return checkout


# PTX that this process has made, by project and source file. One file holds the kernels of several cases.
_made: dict[tuple[str, str], str] = {}


def _maker(project: str, source: str, options: tuple[str, ...]):
    def make(tools: Tools, work: pathlib.Path) -> pathlib.Path:
        path = work / f"{pathlib.Path(source).stem}.ptx"
        if (project, source) not in _made:
            if tools.nvcc is None:
                raise CannotMake("nvcc is not here")
            checkout = _checkout(project, tools)
            command = [tools.nvcc, "-ptx", "-arch=sm_90a", "-lineinfo", "-std=c++17", "-DNDEBUG", "--expt-relaxed-constexpr"]
            include = [word for folder in tools.headers for word in ("-I", folder)]
            tools.run([*command, *options, *include, source, "-o", path], checkout)
            _made[project, source] = path.read_text()
        path.write_text(_made[project, source])
        return path

    return make


def _number(value: int, kind: str = "i32") -> dict:
    return {"type": kind, "value": value}


def _launch(entry: str, grid, block, parameters: list, inputs: dict, expected: dict, tolerance=0.0, **more) -> Launch:
    buffers = {name: {} for name in dict.fromkeys([*inputs, *expected])}
    parameters = [{"buffer": p} if isinstance(p, str) else _number(p) if isinstance(p, int) else p for p in parameters]
    description = {"entry": entry, "grid": grid, "block": block, "buffers": buffers, "parameters": parameters, **more}
    return Launch(description, inputs, expected, tolerance)


def _integers(seed: int, shape, low: int = -4, high: int = 5, dtype=numpy.float32) -> numpy.ndarray:
    return numpy.random.default_rng(seed).integers(low, high, shape).astype(dtype)


def _layernorm() -> Launch:
    rows, columns = 3, 256
    x, weight, bias = _integers(1, (rows, columns)), _integers(2, columns), _integers(3, columns)
    mean = x.mean(1, dtype=numpy.float64)
    rstd = 1 / numpy.sqrt(x.var(1, dtype=numpy.float64) + 1e-5)
    out = (x - mean[:, None]) * rstd[:, None] * weight + bias
    expected = {"out": out.astype(numpy.float32), "mean": mean.astype(numpy.float32), "rstd": rstd.astype(numpy.float32)}
    inputs = {"x": x, "weight": weight, "bias": bias}
    parameters = ["out", "mean", "rstd", "x", "weight", "bias", rows, columns]
    return _launch("layernorm_forward_kernel5", rows, 128, parameters, inputs, expected, 1e-5)


def _attention() -> Launch:
    heads, steps, size = 2, 64, 16
    q, k, v = (_integers(seed, (1, heads, steps, size)) / 4 for seed in (4, 5, 6))
    scores = numpy.einsum("bhqd,bhkd->bhqk", q, k).astype(numpy.float64) * 0.25
    scores[..., numpy.triu_indices(steps, 1)[0], numpy.triu_indices(steps, 1)[1]] = -numpy.inf
    largest = scores.max(-1, keepdims=True)
    weights = numpy.exp(scores - largest)
    sums = weights.sum(-1, keepdims=True)
    out = (weights / sums) @ v
    inputs = {"q": q, "k": k, "v": v, "m": numpy.full((1, heads, steps), -numpy.inf, numpy.float32)}
    inputs |= {"l": numpy.zeros((1, heads, steps), numpy.float32), "out": numpy.zeros_like(q)}
    parameters = ["q", "k", "v", steps, size, 2, 2, 32, 32, _number(0.25, "f32"), "l", "m", "out"]
    shared = 4 * (3 * 32 * size + 32 * 32)
    return _launch("attention_forward_kernel2", [1, heads], 32, parameters, inputs, {"out": out.astype(numpy.float32)}, 1e-4, shared_bytes=shared)


def _product(entry: str, block=16):
    def launch() -> Launch:
        a, b = _integers(8, (32, 48)), _integers(9, (48, 32))
        return _launch(entry, [2, 2], [block, block], ["c", "a", "b", 48, 32], {"a": a, "b": b}, {"c": a @ b})

    return launch


def _histogram() -> Launch:
    words = _integers(10, 3000, 0, 2**32, numpy.uint32)
    halves = numpy.zeros((2, 256), numpy.uint32)
    for at in range(2 * 192):
        numpy.add.at(halves[at // 192], numpy.ascontiguousarray(words[at :: 2 * 192]).view(numpy.uint8), 1)
    return _launch("histogram256Kernel", 2, 192, ["counts", "words", _number(3000, "u32")], {"words": words}, {"counts": halves})


def _scalar_products() -> Launch:
    a, b = _integers(11, (3, 2048)), _integers(12, (3, 2048))
    return _launch("scalarProdGPU", 2, 256, ["sums", "a", "b", 3, 2048], {"a": a, "b": b}, {"sums": (a * b).sum(1)})


def _normed() -> Launch:
    a, b = _integers(13, 1024, 1, 5), _integers(14, 1024, 1, 5)
    norm = numpy.sqrt((a * b).sum(dtype=numpy.float64))
    expected = {"a": (a / norm).astype(numpy.float32), "b": (b / norm).astype(numpy.float32)}
    inputs = {"a": a, "b": b, "partial": numpy.zeros(4)}
    return _launch("normVecByDotProductAWBarrier", 4, 128, ["a", "b", "partial", 1024], inputs, expected, 1e-6, cooperative=True, shared_bytes=256)


def _ring() -> Launch:
    words, turns, stride = 128, 5, 17
    data = ((numpy.arange(64) + turns * stride) % words).astype(numpy.uint32)
    parameters = ["data", *(_number(each, "u32") for each in (turns, 4 * words, stride))]
    return _launch("dsm_sm2sm_thrpt_kernel", 4, 64, parameters, {}, {"data": data}, cluster=2, shared_bytes=4 * words)


def _halves(x: numpy.ndarray) -> numpy.ndarray:
    """The bits of whole numbers of magnitude below 256 as bf16, which holds them exactly."""
    return (x.astype(numpy.float32).view(numpy.uint32) >> 16).astype(numpy.uint16)


def _matmul() -> Launch:
    rows, columns, depth = 2048, 2048, 64
    a, b = _integers(17, (rows, depth), -1, 2), _integers(18, (columns, depth), -1, 2)

    def stages(buffer: str, extent: int, box: int) -> dict:
        return {"tensor_map": {"buffer": buffer, "dtype": "bf16", "shape": [1, 1, 1, extent, 64], "box": [1, 1, 1, box, 64], "swizzle": "128B"}}

    parameters = [rows, columns, depth, "c", stages("a", rows, 128), stages("b", columns, 256)]
    inputs = {"a": _halves(a), "b": _halves(b)}
    return _launch("matmulKernel7", 128, 384, parameters, inputs, {"c": _halves(b @ a.T)}, shared_bytes=147456)


def _map(buffer: str, *box: int) -> dict:
    return {"tensor_map": {"buffer": buffer, "box": list(box), "swizzle": "128B"}}


def _transpose(block: int):
    def launch() -> Launch:
        x = _integers(16, (64, 96))
        out = numpy.ascontiguousarray(x.T)
        return _launch("kernel", [3, 2], block, [_map("x", 32, 32), _map("out", 32, 32)], {"x": x}, {"out": out})

    return launch


def cases() -> list[Case]:
    samples = (SAMPLES, COMMON)
    table = [
        ("llm.c", "layernorm", "dev/cuda/layernorm_forward.cu", (), _layernorm),
        ("llm.c", "attention", "dev/cuda/attention_forward.cu", (), _attention),
        ("fast.cu", "matmul", "matmul.cu", (), _matmul),
        ("cuda-samples", "single_stage", *samples, _product("MatrixMulAsyncCopySingleStage")),
        ("cuda-samples", "multi_stage", *samples, _product("_Z28MatrixMulAsyncCopyMultiStageILi16EEvPfPKfS2_ii")),
        ("cuda-samples", "histogram", f"{CONCEPTS}/histogram/histogram256.cu", COMMON, _histogram),
        ("cuda-samples", "scalar_products", f"{CONCEPTS}/scalarProd/scalarProd.cu", COMMON, _scalar_products),
        ("cuda-samples", "barrier", "Samples/0_Introduction/simpleAWBarrier/simpleAWBarrier.cu", COMMON, _normed),
        ("NVIDIA-Hopper-Benchmark", "ring", RING, COMMON, _ring),
        ("effective_transpose", "batched", "transpose_swizzle_batched.cu", (), _transpose(128)),
        ("effective_transpose", "one_by_one", "transpose_swizzle.cu", (), _transpose(1024)),
    ]
    result = []
    for project, name, source, options, launch in table:
        name = f"{project.replace('-', '_').replace('.', '_').lower()}.{name}"
        result.append(Case(name, "public", _maker(project, source, options), launch, KNOWN.get(source, {})))
    return result
