#!/usr/bin/env python3
"""tmajit.top_k beside torch.topk and CuPy, on a GPU.

Routers of mixtures of experts: 512 to 65,536 tokens, 128, 256 or 384 experts, k = 8. Vocabularies of language
models: 1 to 512 rows of 32,000 to 262,144 elements, k = 1 to 1024. bf16 and f32. Compares values with
PyTorch's, and the index with a stable sort where rows are short.

A share is the time of a copy that reads and writes as many bytes in all as x has, divided by tmajit's time:
1 is one read of x at a copy's bandwidth. CuPy's peer is argpartition followed by a sort of its k results; it
is measured for f32, if CuPy is installed.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import sys
from typing import Any


def draw_router(draw: random.Random) -> tuple[int, int, int]:
    return int(2 ** draw.uniform(9, 16)), draw.choice((128, 256, 384)), 8


def draw_vocabulary(draw: random.Random) -> tuple[int, int, int]:
    length = draw.choice((32000, 32768, 50257, 128256, 151936, 262144))
    return int(2 ** draw.uniform(0, 9)), length, int(2 ** draw.uniform(0, 10))


def by_cupy(x: Any, k: int) -> Any:
    """A call of CuPy for the same values, or None without CuPy or for a type that it does not have."""
    import torch

    try:
        import cupy
    except ImportError:
        return None
    if x.dtype != torch.float32:
        return None
    given = cupy.from_dlpack(x)

    def run() -> Any:
        with cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
            index = cupy.argpartition(-given, k - 1, axis=1)[:, :k]
            values = cupy.take_along_axis(given, index, 1)
            order = cupy.argsort(-values, axis=1)
            return cupy.take_along_axis(values, order, 1), cupy.take_along_axis(index, order, 1)

    return run


def measure(kind: str, rows: int, length: int, k: int, dtype: Any, peers: list[str]) -> dict[str, float]:
    """Returns the share of one read of x, and the times of the peers divided by tmajit's."""
    import torch
    from device_time import device_us

    import tmajit

    x = torch.randn(rows, length, device="cuda").to(dtype)
    values = torch.empty(rows, k, dtype=dtype, device="cuda")
    index = torch.empty(rows, k, dtype=torch.int64, device="cuda")
    case = f"{kind}: {k} of {rows} x {length} {dtype}"
    tmajit.top_k(x, k, out=(values, index))
    if not torch.equal(values, torch.topk(x, k)[0]) or not torch.equal(values, x.gather(1, index)):
        sys.exit(f"{case} is wrong")
    if length < 1024 and not torch.equal(index, x.sort(dim=1, descending=True, stable=True)[1][:, :k]):
        sys.exit(f"{case}: the index is not that of a stable sort")
    ours = device_us(lambda: tmajit.top_k(x, k, out=(values, index)))
    # A copy of half of the bytes reads and writes as many bytes as x has.
    half = x.view(torch.uint8).flatten()[: (x.numel() * x.element_size() + 1) // 2]
    to = torch.empty_like(half)
    found = {"share": device_us(lambda: to.copy_(half)) / ours}
    if "PyTorch" in peers:
        found["PyTorch"] = device_us(lambda: torch.topk(x, k)) / ours
    if "CuPy" in peers and (run := by_cupy(x, k)) is not None:
        found["CuPy"] = device_us(run) / ours
    texts = ", ".join(f"{name} {ratio:.2f}" for name, ratio in found.items())
    print(f"{case}: {ours:.1f} us; {texts}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=40, help="number of cases of each kind (40)")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32), help="default: any")
    names = ["PyTorch", "CuPy"]
    parser.add_argument("--peers", nargs="*", choices=names, default=names, help="default: all")
    arguments = parser.parse_args()
    import torch

    print(f"{torch.cuda.get_device_name()}, seed {arguments.seed}")
    print("share of one read of x; times of peers, divided by tmajit's")
    draw = random.Random(arguments.seed)
    for kind, draw_case in (("router", draw_router), ("vocabulary", draw_vocabulary)):
        found: dict[str, list[float]] = {}
        for _ in range(arguments.cases):
            dtype = draw.choice((torch.bfloat16, torch.float32))
            for name, ratio in measure(kind, *draw_case(draw), dtype, arguments.peers).items():
                found.setdefault(name, []).append(ratio)
        for name, ratios in found.items():
            mean = math.exp(statistics.fmean(map(math.log, ratios)))
            limits = f"{min(ratios):.2f} to {max(ratios):.2f}"
            print(f"{kind}, {name}: {len(ratios)} cases, {limits}, mean {mean:.2f}")


if __name__ == "__main__":
    main()
