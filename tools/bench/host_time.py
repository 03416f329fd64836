#!/usr/bin/env python3
"""Measures the host's time of calls of the Python package on PyTorch's tensors, in microseconds. If JAX, Triton, CuPy or
TVM's FFI is installed, it measures calls on JAX's arrays and launches by the other packages, too. Calls are enqueued
in batches that fit the launch queue. Between batches the host waits for the GPU, outside the measured time. With --bench
the same run also measures cuLaunchKernelEx alone, and shows how much longer each call takes.
"""

import argparse
import importlib.util
import json
import statistics
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path

import torch

import tmajit.torch

try:
    import triton
    from triton import language as tl
except ImportError:
    triton = None
else:

    @triton.jit
    def triton_copy(source, destination, block: tl.constexpr):
        at = tl.program_id(0) * block + tl.arange(0, block)
        tl.store(destination + at, tl.load(source + at))


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
    """Yields (text, call): the package's calls, and PyTorch's and JAX's calls for the same work."""
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
    yield from other_launches(x)
    if importlib.util.find_spec("jax"):
        jax, ours = importlib.import_module("jax"), importlib.import_module("tmajit.jax")
        a = jax.numpy.ones(x.shape)
        for text, f in ("tmajit.jax.permute", ours.permute), ("jax.numpy.transpose", jax.numpy.transpose):
            yield f"jax.jit of {text}(a, axes)", partial(jax.jit(partial(f, axes=axes)), a)


def other_launches(x):
    """Yields (text, call): launches by other packages that are installed."""
    if triton:
        y = torch.empty_like(x)
        yield "a copy by Triton, y[…] = x[…]", lambda: triton_copy[(x.numel() // 1024,)](x, y, 1024)
    if importlib.util.find_spec("cupy"):
        cupy = importlib.import_module("cupy")
        a = cupy.asarray(x)
        b = cupy.empty_like(a.transpose(0, 2, 1, 3))
        yield "cupy.copyto(b, a.transpose(axes))", lambda: cupy.copyto(b, a.transpose(0, 2, 1, 3))
    if importlib.util.find_spec("tvm_ffi"):
        nothing = tvm_function()
        yield "a function of TVM's FFI, of two tensors, no launch", lambda: nothing(x, x)


def tvm_function():
    """A native function of TVM's FFI that takes any arguments and does nothing. Its package has it for tests."""
    tvm_ffi = importlib.import_module("tvm_ffi")
    # The library registers the function. The module tvm_ffi.testing would load it, but imports pytest.
    tvm_ffi.libinfo.load_lib_ctypes("apache-tvm-ffi", "tvm_ffi_testing", "RTLD_GLOBAL")
    return tvm_ffi.get_global_func("testing.nop")


def raw_launch_us(bench):
    """The host's time of cuLaunchKernelEx alone, by tmajit-bench, whose path is `bench`."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "dispatch.json")
        subprocess.run([bench, "--only", "dispatch", "--json", report], check=True, stdout=subprocess.DEVNULL)
        rows = json.loads(report.read_text())["dispatch"]
    return (
        statistics.median(row["raw_ns"] for row in rows if row["device"] == "gpu" and row["threads"] == 1)
        / 1e3
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE", help="also write the numbers to this file")
    parser.add_argument(
        "--bench", metavar="FILE", help="tmajit-bench, to measure cuLaunchKernelEx alone in the same run"
    )
    options = parser.parse_args()
    print(f"{torch.cuda.get_device_name()}, tmajit {tmajit.__version__}, torch {torch.__version__}\n")
    raw = raw_launch_us(options.bench) if options.bench else None
    print(f"{'host time of a call':<54}{'us':>8}" + ("" if raw is None else f"{'over raw':>10}"))
    numbers = {} if raw is None else {"cuLaunchKernelEx alone": raw}
    for text, us in numbers.items():
        print(f"{text:<54}{us:>8.2f}")
    for text, call in contestants():
        numbers[text] = host_us(call)
        print(f"{text:<54}{numbers[text]:>8.2f}" + ("" if raw is None else f"{numbers[text] - raw:>10.2f}"))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(numbers, file, indent=2)


if __name__ == "__main__":
    main()
