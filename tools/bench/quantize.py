#!/usr/bin/env python3
"""Quantisation compared with torch.compile and PyTorch's copy, on a GPU.

cast_transpose with its greatest magnitude, quantize_rows by rows and by 128 elements, quantize_blocks and
quantize_tensor: bf16 to e4m3, 1,024 to 65,536 rows of 128 to 16,384 elements, both multiples of 128, 16 MiB
to 1 GiB. Each result is compared with PyTorch's. torch.compile (max-autotune) compiles the same computation
for each shape.

The copy moves as many bytes as the operation, half of them read and half written.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import sys
from typing import Any

LEAST_BYTES = 16 << 20
GREATEST = 448.0  # of e4m3
SMALLEST = 2.0**-9  # of e4m3, greater than 0


def cast_transpose(torch: Any, x: Any, scale: Any) -> tuple:
    scaled = (x.float() * scale).clamp(-GREATEST, GREATEST).to(torch.float8_e4m3fn)
    return scaled, scaled.t().contiguous(), x.abs().amax().float()


def quantize(torch: Any, blocks: Any, dims: tuple) -> tuple:
    most = blocks.abs().amax(dims, keepdim=True).float()
    scale = torch.where(most < 1e-30, 1.0, most / GREATEST)
    q = (blocks.float() / scale).clamp(-GREATEST, GREATEST).to(torch.float8_e4m3fn)
    return q, scale


def quantize_rows(torch: Any, x: Any, block: int) -> tuple:
    rows, columns = x.shape
    q, scale = quantize(torch, x.view(rows, columns // block, block), (-1,))
    return q.view(rows, columns), scale.view(rows, columns // block)


def quantize_blocks(torch: Any, x: Any, block: int) -> tuple:
    rows, columns = x.shape
    q, scale = quantize(torch, x.view(rows // block, block, columns // block, block), (1, 3))
    return q.view(rows, columns), scale.view(rows // block, columns // block)


def quantize_tensor(torch: Any, x: Any) -> tuple:
    q, scale = quantize(torch, x, (0, 1))
    return q, scale.view(())


def same(torch: Any, ours: Any, theirs: Any) -> bool:
    """Whether e4m3 results differ by at most one number of the type, as quotients may round differently, and
    others by at most 1e-6 of their values."""
    difference = (ours.float() - theirs.float()).abs()
    relative, least = (1 / 8, SMALLEST) if theirs.dtype == torch.float8_e4m3fn else (1e-6, 0.0)
    return bool((difference <= theirs.float().abs() * relative + least).all())


def shape_of(draw: random.Random) -> tuple[int, int]:
    while True:
        rows = int(2 ** draw.uniform(10, 16)) // 128 * 128
        columns = draw.randint(1, 128) * 128
        if LEAST_BYTES <= 2 * rows * columns <= 1 << 30:
            return rows, columns


def measure(draw: random.Random, compiles: bool) -> tuple[str, dict[str, float]]:
    """Draws a case. Returns its name, and the times of the copy and of the peer, divided by tmajit's."""
    import torch
    from device_time import device_us

    import tmajit

    rows, columns = shape_of(draw)
    x = torch.randn(rows, columns, device="cuda", dtype=torch.bfloat16)
    scale = torch.full((1,), 64.0, device="cuda")
    name, run, define, written = draw.choice(
        [
            (
                "cast_transpose",
                lambda out: tmajit.cast_transpose(x, scale, out=out),
                lambda x: cast_transpose(torch, x, scale),
                2,
            ),
            (
                "quantize_rows",
                lambda out: tmajit.quantize_rows(x, block=columns, out=out),
                lambda x: quantize_rows(torch, x, columns),
                1,
            ),
            (
                "quantize_rows, 1 x 128",
                lambda out: tmajit.quantize_rows(x, block=128, out=out),
                lambda x: quantize_rows(torch, x, 128),
                1,
            ),
            (
                "quantize_blocks, 128 x 128",
                lambda out: tmajit.quantize_blocks(x, out=out),
                lambda x: quantize_blocks(torch, x, 128),
                1,
            ),
            (
                "quantize_tensor",
                lambda out: tmajit.quantize_tensor(x, out=out),
                lambda x: quantize_tensor(torch, x),
                1,
            ),
        ]
    )
    wanted = define(x)
    out = [torch.empty_like(one) for one in wanted]
    run(out)
    for k, (ours, theirs) in enumerate(zip(out, wanted, strict=True)):
        if not same(torch, ours, theirs):
            sys.exit(f"{name} of {rows} x {columns}: result {k} is wrong")
    ours = device_us(lambda: run(out))
    half = torch.empty((2 + written) * rows * columns // 2, device="cuda", dtype=torch.uint8)
    to = torch.empty_like(half)
    ratios = {"copy": device_us(lambda: to.copy_(half)) / ours}
    if compiles:
        torch._dynamo.reset()
        compiled = torch.compile(define, dynamic=False, mode="max-autotune-no-cudagraphs")
        ratios["compile"] = device_us(lambda: compiled(x)) / ours
    texts = ", ".join(f"{peer} {ratio:.2f}" for peer, ratio in ratios.items())
    print(f"{name} of {rows} x {columns}: {ours:.1f} us; {texts}", flush=True)
    return name, ratios


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=40, help="number of cases (40)")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32), help="default: any")
    parser.add_argument("--no-compile", action="store_true", help="leave torch.compile out")
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}; times of the copy and of torch.compile, divided by tmajit's")
    draw = random.Random(arguments.seed)
    found: dict[tuple[str, str], list[float]] = {}
    for _ in range(arguments.cases):
        name, ratios = measure(draw, not arguments.no_compile)
        for peer, ratio in ratios.items():
            found.setdefault((name, peer), []).append(ratio)
    for (name, peer), ratios in sorted(found.items()):
        ordered = sorted(ratios)
        mean = math.exp(statistics.fmean(map(math.log, ordered)))
        print(
            f"{name}, {peer}: {len(ordered)} cases, {ordered[0]:.2f} to {ordered[-1]:.2f}, mean {mean:.2f}"
        )


if __name__ == "__main__":
    main()
