#!/usr/bin/env python3
"""Random gathers, scatters and scatter_adds of rows by tmajit beside PyTorch's kernels and PyTorch's copy of as many bytes, on
a GPU: bf16 and f32, rows of 32 bytes to 32 KiB, six in ten a multiple of 64 bytes, 2^20 to 2^29 bytes of a table of at least
512 MiB. Compares each result with PyTorch's.
"""

import argparse
import math
import random
import statistics
import sys

import torch

import tmajit

TABLE_BYTES = 1 << 29


def device_us(call, runs=12):
    """The median time on the device, after a first call."""
    call()
    times = []
    for _ in range(runs):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(1e3 * begin.elapsed_time(end))
    return statistics.median(times)


def measure(draw):
    """Draws a case. Returns the times of the copy and of PyTorch, each divided by tmajit's."""
    dtype = draw.choice((torch.bfloat16, torch.float32))
    size = torch.empty((), dtype=dtype).element_size()
    row_bytes = int(2 ** draw.uniform(5, 15))
    length = (row_bytes // 64 * 64 if draw.random() < 0.6 and row_bytes >= 64 else row_bytes) // size
    rows = TABLE_BYTES // (length * size)
    count = min(rows, max(1, int(2 ** draw.uniform(20, 29)) // (length * size)))
    name = draw.choice(("gather", "scatter", "scatter_add"))
    table = torch.randint(-8, 9, (rows, length), device="cuda").to(dtype)
    moved = torch.randint(-8, 9, (count, length), device="cuda").to(dtype)
    # Different rows, so that the results of a scatter do not depend on an order.
    index = torch.randperm(rows, device="cuda")[:count]
    if name == "gather":
        ours, theirs = torch.empty_like(moved), torch.empty_like(moved)
        call = lambda: tmajit.gather(table, index, out=ours)
        peer = lambda: torch.index_select(table, 0, index, out=theirs)
    elif name == "scatter":
        ours, theirs = table.clone(), table
        call = lambda: tmajit.scatter(moved, index, out=ours)
        peer = lambda: theirs.index_copy_(0, index, moved)
    else:
        ours, theirs = table.clone(), table
        call = lambda: tmajit.scatter_add(moved, index, out=ours)
        peer = lambda: theirs.index_add_(0, index, moved)
    call()
    peer()
    if not torch.equal(ours, theirs):
        sys.exit(f"{name} of {count} of {rows} rows of {length} {dtype} is wrong")
    copied = torch.empty_like(moved)
    times = device_us(call), device_us(lambda: copied.copy_(moved)), device_us(peer)
    print(
        f"{name} of {count} of {rows} rows of {length} {dtype}: {times[0]:.1f} us, "
        f"{times[1] / times[0]:.2f}, {times[2] / times[0]:.2f}",
        flush=True,
    )
    return times[1] / times[0], times[2] / times[0]


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--cases", type=int, default=60, help="number of cases (60)")
parser.add_argument("--seed", type=int, default=random.randrange(1 << 32), help="default: any")
arguments = parser.parse_args()
print(
    f"{torch.cuda.get_device_name()}, seed {arguments.seed}: times of the copy and of PyTorch, divided by tmajit's"
)
draw = random.Random(arguments.seed)
for name, ratios in zip(
    ("copy", "PyTorch"), zip(*(measure(draw) for _ in range(arguments.cases)), strict=True), strict=True
):
    ordered = sorted(ratios)
    mean = math.exp(statistics.fmean(map(math.log, ordered)))
    print(f"{name}: {ordered[0]:.2f} to {ordered[-1]:.2f}, tenth {ordered[len(ordered) // 10]:.2f}, mean {mean:.2f}")
