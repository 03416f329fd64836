#!/usr/bin/env python3
"""Random softmaxes and norms by tmajit.rowwise beside PyTorch's kernels and PyTorch's copy, on a GPU: bf16 and f32, rows of 32
to 262,144 elements, six in ten a multiple of 64, 2^24 to 2^27 elements. Compares each result with PyTorch's in f32.
"""

import argparse
import math
import random
import statistics
import sys

import torch
from torch.nn.functional import layer_norm, rms_norm

import tmajit

OPERATIONS = (
    ("m = max(x); e = expf(x - m); r = 1.0f / sum(e); y = e * r", lambda x: torch.softmax(x, -1)),
    ("y = x0 * rsqrtf(mean(x0 * x0) + 1e-6f) * x1", lambda x, w: rms_norm(x, w.shape, w, 1e-6)),
    (
        "u = mean(x0); c = x0 - u; y = c * rsqrtf(mean(c * c) + 1e-5f) * x1 + x2",
        lambda x, w, bias: layer_norm(x, w.shape, w, bias, 1e-5),
    ),
)


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
    length = int(2 ** draw.uniform(5, 18))
    if draw.random() < 0.6:
        length = max(32, length // 64 * 64)
    rows = max(1, int(2 ** draw.uniform(24, 27)) // length)
    number = draw.randrange(3)
    steps, peer = OPERATIONS[number]
    sources = [torch.randn(rows, length, device="cuda").to(dtype)]
    sources += [torch.randn(length, device="cuda").to(dtype) for _ in range(number)]
    y = torch.empty_like(sources[0])
    tmajit.rowwise(sources, steps, out=y)
    wanted = peer(*(source.float() for source in sources))
    error = ((y.float() - wanted).abs() / (wanted.abs() + (1e-2 if number else 1e-6))).max().item()
    if error > (2e-2 if dtype == torch.bfloat16 else 2e-4):
        sys.exit(f"{steps} of {rows} x {length} {dtype} is wrong by {error}")
    del wanted
    ours = device_us(lambda: tmajit.rowwise(sources, steps, out=y))
    ratios = device_us(lambda: y.copy_(sources[0])) / ours, device_us(lambda: peer(*sources)) / ours
    print(
        f"{dtype} {rows} x {length}, {number} weights: {ours:.1f} us, {ratios[0]:.2f}, {ratios[1]:.2f}",
        flush=True,
    )
    return ratios


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--cases", type=int, default=100, help="number of cases (100)")
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
    shares = ", ".join(
        f"{sum(r >= least for r in ordered) * 100 // len(ordered)} % at least {least}"
        for least in (0.92, 0.97)
    )
    print(
        f"{name}: {ordered[0]:.2f} to {ordered[-1]:.2f}, tenth {ordered[len(ordered) // 10]:.2f}, mean {mean:.2f}; {shares}"
    )
