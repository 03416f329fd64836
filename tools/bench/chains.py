#!/usr/bin/env python3
"""Chains of operations, fused by tmajit.Chain and one by one, on a GPU.

Matrices of 16 MiB to 1 GiB in bf16 or f32, of 64 to 16,384 columns. The results are compared. A ratio is
the time of the operations one by one, divided by the time of the chain. Both allocate their results. The
chain is recorded and planned before it is timed.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import sys
from collections.abc import Callable
from typing import Any

LEAST_BYTES, MOST_BYTES = 16 << 20, 1 << 30


def chains(tmajit: Any) -> dict[str, tuple]:
    """For each name: a function that records the operations on a chain, and one that runs them one by one."""

    def by_parts(operations: Callable) -> tuple:
        return (
            lambda chain, x: operations(
                x,
                lambda expression, *sources: chain.map(*sources, expression=expression),
                lambda x, op: chain.reduce(x, op=op, axes=1, keep_dims=True),
            ),
            lambda x: operations(x, tmajit.map, lambda x, op: tmajit.reduce(x, op, 1, keep_dims=True)),
        )

    return {
        "map, softmax": (
            lambda chain, x: chain.softmax(chain.map(x, expression="x * 0.125f")),
            lambda x: tmajit.softmax(tmajit.map("x * 0.125f", x)),
        ),
        "map, sum of rows": (
            lambda chain, x: chain.reduce(chain.map(x, expression="x * x"), op="sum", axes=1),
            lambda x: tmajit.reduce(tmajit.map("x * x", x), "sum", 1),
        ),
        "softmax, map": (
            lambda chain, x: chain.map(chain.softmax(x), expression="x * 64.0f"),
            lambda x: tmajit.map("x * 64.0f", tmajit.softmax(x)),
        ),
        "permute, softmax": (
            lambda chain, x: chain.softmax(chain.permute(x, axes=(1, 0))),
            lambda x: tmajit.softmax(tmajit.permute(x, (1, 0))),
        ),
        "softmax in four operations": by_parts(softmax_of),
        "RMSNorm in four operations": by_parts(rms_norm_of),
    }


def softmax_of(x: Any, mapped: Callable, reduced: Callable) -> Any:
    """The softmax of rows, by separate maps and reductions."""
    powers = mapped("expf(x0 - x1)", x, reduced(x, "max"))
    return mapped("x0 / x1", powers, reduced(powers, "sum"))


def rms_norm_of(x: Any, mapped: Callable, reduced: Callable) -> Any:
    """The RMSNorm of rows, by separate maps and a reduction."""
    scale = mapped("rsqrtf(x + 1e-5f)", reduced(mapped("x * x", x), "mean"))
    return mapped("x0 * x1", x, scale)


def tolerances(dtype: Any) -> dict[str, float]:
    """How far results may differ: sums of f32 by 2^-21 of their terms in either order (docs/reduce.md), each
    of four rounded values by a unit in the last place, and values below the least normal one by that one."""
    import torch

    limits = torch.finfo(dtype)
    return {"rtol": max(2**-20, 4 * limits.eps), "atol": limits.tiny}


def measure(draw: random.Random) -> tuple[str, float]:
    """Draws a case. Returns its name and the ratio of its times."""
    import torch
    from device_time import device_us

    import tmajit

    dtype = draw.choice((torch.bfloat16, torch.float32))
    columns = int(2 ** draw.uniform(6, 14))
    rows = int(2 ** draw.uniform(math.log2(LEAST_BYTES), math.log2(MOST_BYTES))) // (columns * dtype.itemsize)
    x = torch.randn(rows, columns, device="cuda").to(dtype)
    name, (recorded, separate) = draw.choice(list(chains(tmajit).items()))

    chain = tmajit.Chain()
    result = recorded(chain, x)

    def fused() -> Any:
        return chain.run(result)

    if not torch.allclose(fused().float(), separate(x).float(), **tolerances(dtype)):
        sys.exit(f"{name} of {rows} x {columns} {dtype}: results differ")
    time, separate_time = device_us(fused), device_us(lambda: separate(x))
    ratio = separate_time / time
    print(f"{name} of {rows} x {columns} {dtype}: {time:.1f} us, one by one {separate_time:.1f} us; {ratio:.2f}")
    return name, ratio


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=60, help="number of cases (60)")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32), help="default: any")
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}; the time one by one, divided by that of the chain")
    draw = random.Random(arguments.seed)
    found: dict[str, list[float]] = {}
    for _ in range(arguments.cases):
        name, ratio = measure(draw)
        found.setdefault(name, []).append(ratio)
    for name, ratios in sorted(found.items()):
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        print(f"{name}: {len(ratios)} cases, {min(ratios):.2f} to {max(ratios):.2f}, mean {mean:.2f}")


if __name__ == "__main__":
    main()
