#!/usr/bin/env python3
"""Measures the host's time of calls of the Python package on PyTorch's tensors, in microseconds.

Calls are enqueued in batches that fit the launch queue. The GPU is waited for between batches, outside the
measured time. `tmajit-bench --only dispatch` measures cuLaunchKernelEx alone.

    host_time.py                   a table
    host_time.py --json FILE       also write the numbers
"""

import argparse
import json
import statistics
import time

import torch

import tmajit

BATCH, BATCHES = 200, 60


def host_us(call):
    """The median over batches of the host's time of one call, after a warm-up."""
    for _ in range(BATCH):
        call()
    times = []
    for _ in range(BATCHES):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(BATCH):
            call()
        times.append(1e6 * (time.perf_counter() - start) / BATCH)
    return statistics.median(times)


def contestants():
    """[(text, call)]: the package's calls and what a user would write without it."""
    x = torch.rand(8, 16, 32, 64, device="cuda")
    axes = (0, 2, 1, 3)
    y = x.permute(axes).contiguous()
    plan = tmajit.plan("permute", x, axes=axes)
    yield "an empty call", lambda: None
    yield "tmajit.permute(x, axes, out=y)", lambda: tmajit.permute(x, axes, out=y)
    yield "tmajit.permute(x, axes)", lambda: tmajit.permute(x, axes)
    yield "plan(y, x)", lambda: plan(y, x)
    yield "x.permute(axes).contiguous()", lambda: x.permute(axes).contiguous()
    yield "y.copy_(x.permute(axes))", lambda: y.copy_(x.permute(axes))
    yield "torch.add(x, 1, out=x)", lambda: torch.add(x, 1, out=x)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", metavar="FILE", help="also write the numbers to this file")
    options = parser.parse_args()
    print(f"{torch.cuda.get_device_name()}, tmajit {tmajit.__version__}, torch {torch.__version__}\n")
    print(f"{'host time of a call':<34}{'us':>8}")
    numbers = {}
    for text, call in contestants():
        numbers[text] = host_us(call)
        print(f"{text:<34}{numbers[text]:>8.2f}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(numbers, file, indent=2)


if __name__ == "__main__":
    main()
