#!/usr/bin/env python3
"""tmajit.top_k beside torch.topk, CuPy, FlashInfer and vLLM, on a GPU.

Routers of mixtures of experts: 512 to 65,536 tokens, 128, 256 or 384 experts, k = 8. Vocabularies of
language models: 1 to 512 rows of 32,000 to 262,144 elements, k = 1 to 1024. Routers with weights: routers
after a softmax in f32, which tmajit computes in a launch of its own. bf16 and f32. Compares values with
PyTorch's, elements at the index with the values, and the index with a stable sort where rows are short.

The copy moves as many bytes as the operation: x once, the values and the index. CuPy's peer is argpartition
followed by a sort of its k results, for f32. FlashInfer sorts its results, too. vLLM's topk_softmax is a
router with weights. --cases counts the cases of each of the three kinds.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from peer_times import NotApplicableError, compiled, difference, differing_bits, start, tmajit, torch

SLOTS = 8  # experts of a token


def draw_router(draw: random.Random) -> tuple[int, int, int]:
    return int(2 ** draw.uniform(9, 16)), draw.choice((128, 256, 384)), SLOTS


def draw_vocabulary(draw: random.Random) -> tuple[int, int, int]:
    length = draw.choice((32000, 32768, 50257, 128256, 151936, 262144))
    return int(2 ** draw.uniform(0, 9)), length, int(2 ** draw.uniform(0, 10))


def by_cupy(x: Any, k: int) -> Callable:
    import cupy

    if x.dtype != torch.float32:
        raise NotApplicableError("CuPy does not compute with bf16")
    given = cupy.from_dlpack(x)
    stream = cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream)

    def run() -> tuple:
        with stream:
            index = cupy.argpartition(-given, k - 1, axis=1)[:, :k]
            values = cupy.take_along_axis(given, index, 1)
            order = cupy.argsort(-values, axis=1)
            found = cupy.take_along_axis(values, order, 1), cupy.take_along_axis(index, order, 1)
        return tuple(map(torch.from_dlpack, found))

    return run


def by_flashinfer(x: Any, k: int) -> Callable:
    from flashinfer import topk

    return lambda: topk.top_k(x, k, sorted=True)


def by_vllm(x: Any, k: int) -> Callable:
    weights = torch.empty(x.shape[0], k, device=x.device)
    index, sources = (torch.empty(x.shape[0], k, dtype=torch.int32, device=x.device) for _ in range(2))

    def run() -> tuple:
        torch.ops._moe_C.topk_softmax(weights, index, sources, x, False, None)
        return weights, index

    return run


def measure(kind: str, rows: int, length: int, k: int, dtype: Any, contest: Any) -> None:
    """Measures top_k."""
    x = torch.randn(rows, length, device="cuda").to(dtype)
    wanted, wanted_index = torch.topk(x, k)
    out = torch.empty_like(wanted), torch.empty_like(wanted_index)

    def check_peer(results: Any) -> str | None:
        values, index = results
        return differing_bits(values, wanted) or differing_bits(x.gather(1, index), wanted)

    def check(results: Any) -> str | None:
        if wrong := check_peer(results):
            return wrong
        if length >= 1024:
            return None
        wrong = differing_bits(results[1], x.sort(dim=1, descending=True, stable=True)[1][:, :k])
        return f"the index is not that of a stable sort: {wrong}" if wrong else None

    calls = {
        "eager": lambda: lambda: torch.topk(x, k),
        "CuPy": lambda: by_cupy(x, k),
        "FlashInfer": lambda: by_flashinfer(x, k),
    }
    moved = sum(tensor.nbytes for tensor in (x, *out))
    case = f"{k} of {rows} x {length} {dtype}"
    contest.measure(kind, case, moved, lambda: tmajit.top_k(x, k, out=out), calls, check, check_peer)


def weights_of(x: Any) -> Any:
    return torch.softmax(x, -1, dtype=torch.float32)


def measure_weights(kind: str, rows: int, length: int, k: int, dtype: Any, contest: Any) -> None:
    """Measures a router that computes a softmax first."""
    x = torch.randn(rows, length, device="cuda").to(dtype)
    weights = weights_of(x)
    wanted = torch.topk(weights, k)[0]
    probabilities = torch.empty(rows, length, device="cuda")
    out = torch.empty(rows, k, device="cuda"), torch.empty(rows, k, dtype=torch.int64, device="cuda")

    def ours() -> Any:
        return tmajit.top_k(tmajit.softmax(x, out=probabilities), k, out=out)

    def router(x: Any) -> Any:
        return torch.topk(weights_of(x), k)

    def by_compile() -> Callable:
        function = compiled(router)
        return lambda: function(x)

    def check(results: Any) -> str | None:
        values, index = results
        taken = weights.gather(1, index.long())
        return difference(values, wanted, 1e-4, 0.0) or difference(taken, wanted, 1e-4, 0.0)

    calls = {"eager": lambda: lambda: router(x), "compile": by_compile, "vLLM": lambda: by_vllm(x, k)}
    moved = sum(tensor.nbytes for tensor in (x, *out))
    contest.measure(kind, f"{k} of {rows} x {length} {dtype}", moved, ours, calls, check)


def main() -> None:
    options, draw, contest = start(__doc__, ("eager", "compile", "CuPy", "FlashInfer", "vLLM"), 40)
    for kind, measure_case, draw_case in (
        ("router", measure, draw_router),
        ("vocabulary", measure, draw_vocabulary),
        ("router with weights", measure_weights, draw_router),
    ):
        for _ in range(options.cases):
            dtype = draw.choice((torch.bfloat16, torch.float32))
            measure_case(kind, *draw_case(draw), dtype, contest)
    contest.finish()


if __name__ == "__main__":
    main()
