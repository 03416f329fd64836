#!/usr/bin/env python3
"""Random softmaxes and norms by tmajit.rowwise, other libraries' kernels and PyTorch's copy, timed on a GPU.

Tensors of 2^24 to 2^27 elements in bf16 or f32; rows of 32 to 262,144 elements, six in ten rounded down to a
multiple of 64. Each result is compared with PyTorch's in f64. --lengths draws rows of other lengths; a tensor
has at least one row.

The peers: eager PyTorch; torch.compile, for one shape at a time; one Triton program for each row, as in
Triton's tutorials; Liger and QuACK, if they are installed. Cases in which a peer fails or is wrong do not
count for it. QuACK's LayerNorm takes weights of f32, which are converted beforehand.
"""

import argparse
import math
import random
import statistics
import sys

import torch
import triton
import triton.language as tl
from torch.nn.functional import layer_norm, rms_norm

import tmajit
from device_time import device_us

STEPS = (
    "m = max(x); e = expf(x - m); r = 1.0f / sum(e); y = e * r",
    "y = x0 * rsqrtf(mean(x0 * x0) + 1e-6f) * x1",
    "u = mean(x0); c = x0 - u; y = c * rsqrtf(mean(c * c) + 1e-5f) * x1 + x2",
)
EAGER = (
    lambda x: torch.softmax(x, -1),
    lambda x, w: rms_norm(x, w.shape, w, 1e-6),
    lambda x, w, bias: layer_norm(x, w.shape, w, bias, 1e-5),
)


@triton.jit
def row_program(y, x, w, bias, length, number: tl.constexpr, block: tl.constexpr):
    at = tl.arange(0, block)
    inside = at < length
    first = tl.program_id(0).to(tl.int64) * length
    value = tl.load(x + first + at, mask=inside, other=-float("inf") if number == 0 else 0.0).to(tl.float32)
    if number == 0:
        e = tl.exp(value - tl.max(value, axis=0))
        result = e / tl.sum(e, axis=0)
    else:
        weight = tl.load(w + at, mask=inside).to(tl.float32)
        if number == 1:
            result = value * tl.rsqrt(tl.sum(value * value, axis=0) / length + 1e-6) * weight
        else:
            centred = tl.where(inside, value - tl.sum(value, axis=0) / length, 0.0)
            scale = tl.rsqrt(tl.sum(centred * centred, axis=0) / length + 1e-5)
            result = centred * scale * weight + tl.load(bias + at, mask=inside).to(tl.float32)
    tl.store(y + first + at, result, mask=inside)


def triton_rows(number, sources):
    x = sources[0]
    block = triton.next_power_of_2(x.shape[1])
    if block > 1 << 16:
        raise ValueError("a row is too long for one program")
    y = torch.empty_like(x)
    warps = 4 if block < 2048 else 8 if block < 8192 else 16
    operands = [*sources, x, x][:3]
    row_program[(x.shape[0],)](y, *operands, x.shape[1], number, block, num_warps=warps)
    return y


def liger_rows(number, sources):
    from liger_kernel.ops.layer_norm import LigerLayerNormFunction
    from liger_kernel.ops.rms_norm import LigerRMSNormFunction
    from liger_kernel.ops.softmax import LigerSoftmaxFunction

    if number == 0:
        return LigerSoftmaxFunction.apply(*sources)
    if number == 1:
        return LigerRMSNormFunction.apply(*sources, 1e-6, 0.0, "gemma", False)
    return LigerLayerNormFunction.apply(*sources, 1e-5)


def quack_rows(number, sources):
    from quack.rmsnorm import layernorm_fwd, rmsnorm_fwd
    from quack.softmax import softmax_fwd

    if number == 0:
        return softmax_fwd(*sources)
    if number == 1:
        return rmsnorm_fwd(*sources, eps=1e-6)[0]
    return layernorm_fwd(sources[0], *quack_rows.weights, eps=1e-5)


def compiled_rows(number, sources):
    return compiled_rows.now(*sources)


PEERS = {
    "eager": lambda number, sources: EAGER[number](*sources),
    "compile": compiled_rows,
    "Triton": triton_rows,
    "Liger": liger_rows,
    "QuACK": quack_rows,
}


def error_of(y, wanted, number):
    return ((y.double() - wanted).abs() / (wanted.abs() + (1e-2 if number else 1e-6))).max().item()


def measure(draw, lengths, peers, refusals):
    """Draws a case. Returns the times of the copy and of the peers, each divided by tmajit's."""
    dtype = draw.choice((torch.bfloat16, torch.float32))
    length = int(2 ** draw.uniform(*lengths))
    if draw.random() < 0.6:
        length = max(32, length // 64 * 64)
    rows = max(1, int(2 ** draw.uniform(24, 27)) // length)
    number = draw.randrange(3)
    sources = [torch.randn(rows, length, device="cuda").to(dtype)]
    sources += [torch.randn(length, device="cuda").to(dtype) for _ in range(number)]
    y = torch.empty_like(sources[0])
    tmajit.rowwise(sources, STEPS[number], out=y)
    wanted = EAGER[number](*(source.double() for source in sources))
    limit = 2e-2 if dtype == torch.bfloat16 else 2e-4
    if not (error := error_of(y, wanted, number)) <= limit:  # it may be NaN
        sys.exit(f"{STEPS[number]} of {rows} x {length} {dtype} is wrong by {error}")
    ours = device_us(lambda: tmajit.rowwise(sources, STEPS[number], out=y))
    ratios = {"copy": device_us(lambda: y.copy_(sources[0])) / ours}
    if "compile" in peers:
        torch._dynamo.reset()
        compiled_rows.now = torch.compile(EAGER[number], dynamic=False)
    quack_rows.weights = [weight.float() for weight in sources[1:]]
    for peer in peers:
        try:
            error = error_of(PEERS[peer](number, sources), wanted, number)
            if not error <= 10 * limit:
                raise ValueError(f"wrong by {error:.2g}")
            ratios[peer] = device_us(lambda peer=peer: PEERS[peer](number, sources)) / ours
        except Exception as refused:
            refusals.setdefault(peer, []).append(f"{rows} x {length} {dtype}, {number} weights: {refused}")
    if found := [ratios[peer] for peer in peers if peer in ratios]:
        ratios["best peer"] = min(found)
    texts = ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())
    print(f"{dtype} {rows} x {length}, {number} weights: {ours:.1f} us; {texts}", flush=True)
    return ratios


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--cases", type=int, default=100, help="number of cases (100)")
parser.add_argument("--seed", type=int, default=random.randrange(1 << 32), help="default: any")
parser.add_argument(
    "--lengths", nargs=2, type=float, default=(5, 18), help="log2 of the shortest and the longest row (5 18)"
)
parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS), help="default: all")
arguments = parser.parse_args()
print(f"{torch.cuda.get_device_name()}, seed {arguments.seed}")
print("times of the copy and of peers, divided by tmajit's")
draw = random.Random(arguments.seed)
refusals: dict[str, list[str]] = {}
cases = [measure(draw, arguments.lengths, arguments.peers, refusals) for _ in range(arguments.cases)]
for name in dict.fromkeys(name for case in cases for name in case):
    ordered = sorted(case[name] for case in cases if name in case)
    mean = math.exp(statistics.fmean(map(math.log, ordered)))
    shares = ", ".join(
        f"{sum(r >= least for r in ordered) * 100 // len(ordered)} % at least {least}"
        for least in (0.92, 0.97)
    )
    print(
        f"{name}: {len(ordered)} cases, {ordered[0]:.2f} to {ordered[-1]:.2f}, "
        f"tenth {ordered[len(ordered) // 10]:.2f}, mean {mean:.2f}; {shares}"
    )
for peer, cases_of in refusals.items():
    print(f"{peer} refused {len(cases_of)} cases, first {cases_of[0][:200]}")
