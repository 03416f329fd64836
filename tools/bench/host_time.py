#!/usr/bin/env python3
"""Measures the host's time of calls of the Python package, in microseconds: on PyTorch's tensors, and on JAX's arrays
if JAX is installed. Calls are enqueued in batches that fit the launch queue. The GPU is waited for between batches,
outside the measured time. `tmajit-bench --only dispatch` measures cuLaunchKernelEx alone.
"""

import argparse
import importlib.util
import json
import statistics
import time
from functools import partial

import torch

import tmajit.torch

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
    yield "tmajit.torch.permute(x, axes)", lambda: tmajit.torch.permute(x, axes)
    yield "tmajit.torch.permute(x, axes, out=y)", lambda: tmajit.torch.permute(x, axes, out=y)
    yield "x.permute(axes).contiguous()", lambda: x.permute(axes).contiguous()
    yield "y.copy_(x.permute(axes))", lambda: y.copy_(x.permute(axes))
    yield "torch.add(x, 1, out=x)", lambda: torch.add(x, 1, out=x)
    if importlib.util.find_spec("jax"):
        jax, ours = importlib.import_module("jax"), importlib.import_module("tmajit.jax")
        a = jax.numpy.ones(x.shape)
        for text, f in ("tmajit.jax.permute", ours.permute), ("jax.numpy.transpose", jax.numpy.transpose):
            yield f"jax.jit of {text}(a, axes)", partial(jax.jit(partial(f, axes=axes)), a)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE", help="also write the numbers to this file")
    options = parser.parse_args()
    print(f"{torch.cuda.get_device_name()}, tmajit {tmajit.__version__}, torch {torch.__version__}\n")
    print(f"{'host time of a call':<42}{'us':>8}")
    numbers = {}
    for text, call in contestants():
        numbers[text] = host_us(call)
        print(f"{text:<42}{numbers[text]:>8.2f}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(numbers, file, indent=2)


if __name__ == "__main__":
    main()
