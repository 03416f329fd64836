#!/usr/bin/env python3
"""Random gathers and additions by index tensors beside PyTorch and CuPy, on a GPU.

Rows: tables of 64 MiB to 4 GiB with rows of 64 bytes to 16 KiB, 2^12 to 2^20 random indices of 32 or 64
bits. Along: one index for each element. Tokens: rows of activations, each taken by 8 experts, as a mixture
of experts moves them, and added up again, times weights. With --paged only the moves of docs/paged.md: tokens
of 8 heads of 128 to the slots of a paged cache and back, in both layouts, and repacked blocks. Bytes are those of the moved rows, read and written once, and of the indices.
Compares each result with PyTorch's.

With --bags it measures gather_sum of ragged bags instead: tables of 64 MiB to 4 GiB with rows of 64 bytes to
2 KiB, and lists of 2^14 to 2^19 indices in bags whose lengths follow Zipf's law, some of them empty, beside
PyTorch's embedding_bag. Bytes are those of the rows that are read and written, of indices, weights and
offsets.

With --moe it measures moe_permute instead, for the hidden sizes, numbers of experts and tokens of a mixture
of experts with 8 slots, and gather_sum, its inverse. moe_permute reads the tokens once and writes 8 rows of
each; its bytes also count ids and positions. gather_sum reads 8 rows of each token and writes one.
"""

import argparse
import functools
import itertools
import math
import random
import statistics
import sys

import cupy
import torch

import tmajit
from device_time import device_us

DTYPES = (torch.uint8, torch.bfloat16, torch.float32)


def equal(y, wanted, what):
    if not torch.equal(y.view(torch.uint8), wanted.view(torch.uint8)):
        sys.exit(f"{what} is wrong")


def gather_rows(draw):
    dtype = draw.choice(DTYPES)
    row = int(2 ** draw.uniform(6, 14)) // dtype.itemsize
    if draw.random() < 0.6:
        row = max(64 // dtype.itemsize, row // 64 * 64)
    table = max(2, int(2 ** draw.uniform(26, 32)) // (row * dtype.itemsize))
    count = min(int(2 ** draw.uniform(12, 20)), (1 << 30) // (row * dtype.itemsize))
    x = torch.empty(table, row, dtype=dtype, device="cuda")
    x.view(torch.uint8).random_(0, 255)
    kind = draw.choice((torch.int32, torch.int64))
    index = torch.randint(0, table, (count,), device="cuda", dtype=kind)
    y = torch.empty(count, row, dtype=dtype, device="cuda")
    what = f"gather of {count} rows of {row} {dtype} from {table}"
    equal(tmajit.gather(x, index, 0, out=y), torch.index_select(x, 0, index), what)
    ours = device_us(lambda: tmajit.gather(x, index, 0, out=y))
    other = cupy.empty((count, row), f"u{dtype.itemsize}")
    table_of_bits = cupy.from_dlpack(
        x.view((None, torch.uint8, torch.int16, None, torch.int32)[dtype.itemsize])
    )
    table_of_bits = table_of_bits.view(f"u{dtype.itemsize}")
    cupy_index = cupy.from_dlpack(index)
    peers = {
        "index_select": device_us(lambda: torch.index_select(x, 0, index, out=y)),
        "CuPy": device_us(lambda: cupy.take(table_of_bits, cupy_index, 0, out=other)),
    }
    moved = count * (2 * row * dtype.itemsize + kind.itemsize)
    return what, ours, moved, peers


def gather_along(draw):
    dtype = draw.choice(DTYPES)
    shape = [int(2 ** draw.uniform(6, 13)) for _ in range(2)]
    shape[draw.randrange(2)] = max(1, int(2 ** draw.uniform(20, 25)) // shape[0])
    axis = draw.randrange(2)
    x = torch.empty(shape, dtype=dtype, device="cuda")
    x.view(torch.uint8).random_(0, 255)
    index = torch.randint(0, shape[axis], shape, device="cuda")
    y = torch.empty_like(x)
    what = f"gather along {axis} of {shape} {dtype}"
    equal(tmajit.gather(x, index, axis, along=True, out=y), torch.take_along_dim(x, index, axis), what)
    ours = device_us(lambda: tmajit.gather(x, index, axis, along=True, out=y))
    peers = {"take_along_dim": device_us(lambda: torch.take_along_dim(x, index, axis, out=y))}
    return what, ours, x.numel() * (2 * dtype.itemsize + 8), peers


def scatter_add_rows(draw):
    dtype = draw.choice(DTYPES[1:])
    row = int(2 ** draw.uniform(6, 13)) // dtype.itemsize
    if draw.random() < 0.6:
        row = max(64 // dtype.itemsize, row // 64 * 64)
    table = max(2, int(2 ** draw.uniform(24, 30)) // (row * dtype.itemsize))
    count = min(int(2 ** draw.uniform(12, 18)), (1 << 30) // (row * dtype.itemsize))
    x = torch.randint(-4, 5, (count, row), device="cuda").to(dtype)  # sums are exact in any order
    index = torch.randint(0, table, (count,), device="cuda")
    y, wanted = (torch.zeros(table, row, dtype=dtype, device="cuda") for _ in range(2))
    what = f"scatter_add of {count} rows of {row} {dtype} to {table}"
    tmajit.scatter_add(x, index, 0, out=y)
    equal(y, wanted.index_add_(0, index, x), what)
    ours = device_us(lambda: tmajit.scatter_add(x, index, 0, out=y))
    peers = {"index_add_": device_us(lambda: wanted.index_add_(0, index, x))}
    return what, ours, count * (3 * row * dtype.itemsize + 8), peers


def tokens(hidden, count, experts):
    """Each token's row is copied once for each of its 8 experts, in the order of the experts."""
    x = torch.randn(count, hidden, device="cuda").to(torch.bfloat16)
    chosen = torch.rand(count, experts, device="cuda").topk(8).indices.flatten()
    index = (torch.argsort(chosen, stable=True) // 8).to(torch.int32)
    y = torch.empty(8 * count, hidden, dtype=x.dtype, device="cuda")
    what = f"{count} tokens of {hidden} to {experts} experts"
    equal(tmajit.gather(x, index, 0, out=y), x[index], what)
    ours = device_us(lambda: tmajit.gather(x, index, 0, out=y))
    peers = {"index_select": device_us(lambda: torch.index_select(x, 0, index, out=y))}
    return what, ours, count * hidden * 2 * 9 + 8 * count * 4, peers


def moe_permute(hidden, experts, count, slots=8):
    """The rows of tokens sorted by expert, with positions and counts."""
    x = torch.randn(count, hidden, device="cuda").to(torch.bfloat16)
    chosen = torch.rand(count, experts, device="cuda").topk(slots).indices.to(torch.int32)
    pairs = count * slots
    out = (
        torch.empty(pairs, hidden, dtype=x.dtype, device="cuda"),
        *(torch.empty(n, dtype=torch.int32, device="cuda") for n in ((count, slots), experts, experts + 1)),
    )
    rows, positions, counts, _ = out
    what = f"moe_permute of {count} tokens of {hidden} to {slots} of {experts} experts"
    order = torch.argsort(chosen.flatten(), stable=True)
    wanted = torch.empty(pairs, dtype=torch.int32, device="cuda")
    wanted[order] = torch.arange(pairs, dtype=torch.int32, device="cuda")
    tmajit.moe_permute(x, chosen, experts, out=out)
    equal(rows, x[order // slots], what)
    equal(positions.flatten(), wanted, f"{what}: positions")
    equal(counts, chosen.flatten().bincount(minlength=experts).to(torch.int32), f"{what}: counts")

    def by_pytorch():
        order = torch.argsort(chosen.flatten(), stable=True)
        torch.index_select(x, 0, order // slots, out=rows)

    ours = device_us(lambda: tmajit.moe_permute(x, chosen, experts, out=out))
    peers = {"argsort and index_select": device_us(by_pytorch)}
    if count == 32:
        peers["an empty kernel"] = empty_kernel_us()
    return what, ours, count * hidden * 2 * (1 + slots) + 2 * pairs * 4, peers


def gather_sum(hidden, experts, count, slots=8):
    """The inverse: the weighted sum of each token's rows."""
    chosen = torch.rand(count, experts, device="cuda").topk(slots).indices.flatten()
    positions = torch.empty(count * slots, dtype=torch.int32, device="cuda")
    positions[torch.argsort(chosen, stable=True)] = torch.arange(
        count * slots, dtype=torch.int32, device="cuda"
    )
    positions = positions.view(count, slots)
    rows = torch.randint(-4, 5, (count * slots, hidden), device="cuda").to(torch.bfloat16)
    weights = torch.full((count, slots), 0.25, device="cuda")  # sums are exact
    y = torch.empty(count, hidden, dtype=rows.dtype, device="cuda")
    what = f"gather_sum of {slots} rows for {count} tokens of {hidden}"

    def by_pytorch():
        taken = torch.index_select(rows, 0, positions.flatten()).view(count, slots, hidden)
        return (taken * weights[:, :, None].to(rows.dtype)).sum(1)

    tmajit.gather_sum(rows, positions, weights, out=y)
    equal(y, by_pytorch(), what)
    ours = device_us(lambda: tmajit.gather_sum(rows, positions, weights, out=y))
    peers = {"index_select, product and sum": device_us(by_pytorch)}
    return what, ours, (slots + 1) * count * hidden * 2, peers


def bag_lengths(draw, count):
    """Lengths of bags that have `count` indices together: a length of at least n has a chance of about 1 / n."""
    longest = draw.choice((16, 256, 4096))
    lengths, remaining = [], count
    while remaining > 0:
        length = int(1 / (1 - draw.random() * longest / (longest + 1)))
        lengths.append(0 if draw.random() < 0.1 else min(length, remaining))
        remaining -= lengths[-1]
    return lengths


def ragged_bags(draw):
    """Sums of bags of different lengths, with and without weights."""
    dtype = draw.choice(DTYPES[1:])
    row = int(2 ** draw.uniform(6, 11)) // 64 * 64 // dtype.itemsize
    table = max(2, int(2 ** draw.uniform(26, 32)) // (row * dtype.itemsize))
    lengths = bag_lengths(draw, int(2 ** draw.uniform(14, 19)))
    kind = draw.choice((torch.int32, torch.int64))
    # Sums of small whole numbers, and of their quarters, are exact.
    x = torch.randint(-4, 5, (table, row), device="cuda", dtype=torch.int8).to(dtype)
    index = torch.randint(0, table, (sum(lengths),), device="cuda", dtype=kind)
    offsets = torch.tensor([0, *itertools.accumulate(lengths)], device="cuda", dtype=kind)
    weights = torch.full_like(index, 0.25, dtype=dtype) if draw.random() < 0.5 else None
    y = torch.empty(len(lengths), row, dtype=dtype, device="cuda")
    weighted = "" if weights is None else "weighted "
    what = f"{weighted}sums of {len(lengths)} bags, {len(index)} rows of {row} {dtype} from {table}"

    def call():
        return tmajit.gather_sum(x, index, weights, offsets=offsets, out=y)

    def by_pytorch():
        return torch.nn.functional.embedding_bag(
            index, x, offsets, mode="sum", per_sample_weights=weights, include_last_offset=True
        )

    call()
    equal(y, by_pytorch(), what)
    ours = device_us(call)
    peers = {"embedding_bag": device_us(by_pytorch)}
    rows = (len(index) + len(lengths)) * row * dtype.itemsize
    numbers = len(index) * (kind.itemsize + (0 if weights is None else dtype.itemsize))
    return what, ours, rows + numbers + len(offsets) * kind.itemsize, peers


@functools.cache
def empty_kernel_us():
    """The time of a launch in a chain of launches of a kernel that does nothing."""
    nothing = cupy.RawKernel('extern "C" __global__ void nothing() {}', "nothing")
    stream = cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream)

    def launch():
        with stream:
            nothing((1,), (32,), ())

    return device_us(launch)


HEADS, WIDTH = 8, 128


def cache_of(blocks, block_size, heads_first):
    """A cache as (blocks, places, heads, width), whose heads may come before the places in memory."""
    if heads_first:
        return torch.zeros(blocks, HEADS, block_size, WIDTH, dtype=torch.bfloat16, device="cuda").transpose(
            1, 2
        )
    return torch.zeros(blocks, block_size, HEADS, WIDTH, dtype=torch.bfloat16, device="cuda")


def paged_write(count, block_size, heads_first):
    blocks = 2 * count // block_size
    keys = torch.randn(count, HEADS, WIDTH, device="cuda").to(torch.bfloat16)
    slots = torch.randperm(blocks * block_size, device="cuda")[:count]
    ours_cache, peers_cache = (cache_of(blocks, block_size, heads_first) for _ in range(2))
    places = slots // block_size, slots % block_size

    def call():
        return tmajit.scatter(keys, slots, (0, 1), flat=True, out=ours_cache)

    call()
    peers_cache.index_put_(places, keys)
    what = f"{count} tokens to blocks of {block_size}, {'HND' if heads_first else 'NHD'}"
    equal(ours_cache.contiguous(), peers_cache.contiguous(), what)
    ours = device_us(call)
    peers = {"index_put_": device_us(lambda: peers_cache.index_put_(places, keys))}
    return what, ours, count * (2 * HEADS * WIDTH * 2 + 8), peers


def paged_read(count, block_size, heads_first):
    blocks = 2 * count // block_size
    cache = cache_of(blocks, block_size, heads_first).normal_()
    table = torch.randperm(blocks, device="cuda", dtype=torch.int32)[: count // block_size]
    y = torch.empty(len(table), block_size, HEADS, WIDTH, dtype=cache.dtype, device="cuda")
    what = f"{count} tokens from blocks of {block_size}, {'HND' if heads_first else 'NHD'}"
    equal(tmajit.gather(cache, table, 0, out=y), torch.index_select(cache, 0, table).contiguous(), what)
    ours = device_us(lambda: tmajit.gather(cache, table, 0, out=y))
    peers = {"index_select": device_us(lambda: torch.index_select(cache, 0, table))}
    return what, ours, count * 2 * HEADS * WIDTH * 2 + 4 * len(table), peers


def paged_repack(count, block_size, heads_first):
    """Blocks of one layout become dense blocks of the other one."""
    blocks = 2 * count // block_size
    cache = cache_of(blocks, block_size, heads_first).normal_()
    turned = cache.transpose(1, 2) if not heads_first else cache
    chosen = torch.randperm(blocks, device="cuda", dtype=torch.int32)[: count // block_size]
    y = torch.empty(len(chosen), *turned.shape[1:], dtype=cache.dtype, device="cuda")
    what = f"{count} tokens in blocks of {block_size}, {'HND to NHD' if heads_first else 'NHD to HND'}"
    equal(tmajit.gather(turned, chosen, 0, out=y), torch.index_select(turned, 0, chosen).contiguous(), what)
    ours = device_us(lambda: tmajit.gather(turned, chosen, 0, out=y))
    peers = {"index_select": device_us(lambda: torch.index_select(turned, 0, chosen).contiguous())}
    return what, ours, count * 2 * HEADS * WIDTH * 2 + 4 * len(chosen), peers


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--cases", type=int, default=100, help="number of random cases (100)")
parser.add_argument("--seed", type=int, default=random.randrange(1 << 32), help="default: any")
parser.add_argument("--moe", action="store_true", help="measure moe_permute and gather_sum alone")
parser.add_argument("--bags", action="store_true", help="measure gather_sum of ragged bags alone")
parser.add_argument("--paged", action="store_true", help="only the moves of docs/paged.md")
arguments = parser.parse_args()
draw = random.Random(arguments.seed)


def copy_speed():
    """Bytes in a microsecond, each counted when it is read and when it is written."""
    to, source = (torch.empty(1 << 30, dtype=torch.uint8, device="cuda") for _ in range(2))
    return (2 << 30) / device_us(lambda: to.copy_(source))


copy = copy_speed()
print(f"{torch.cuda.get_device_name()}, seed {arguments.seed}: a copy of 1 GiB at {copy / 1e6:.2f} TB/s")
print("time; TB/s and its share of the copy's; times of peers, divided by tmajit's")
ratios: dict[str, list[float]] = {}


def report(what, ours, moved, peers):
    texts = ", ".join(f"{name} {time / ours:.2f}" for name, time in peers.items())
    print(
        f"{what}: {ours:.1f} us, {moved / ours / 1e6:.2f} TB/s, {moved / ours / copy:.2f}; {texts}",
        flush=True,
    )
    return min(peers.values()) / ours


if arguments.moe:
    for hidden, experts, count in itertools.product(
        (2048, 4096, 7168), (128, 256, 384), (32, 128, 512, 4096, 16384)
    ):
        report(*moe_permute(hidden, experts, count))
        report(*gather_sum(hidden, experts, count))
    sys.exit()
if arguments.paged:
    for move in (paged_write, paged_read, paged_repack):
        for count in (4096, 65536):
            for block_size in (16, 64):
                for heads_first in (False, True):
                    report(*move(count, block_size, heads_first))
    sys.exit()
kinds = (ragged_bags,) if arguments.bags else (gather_rows, gather_rows, gather_along, scatter_add_rows)
for hidden in () if arguments.bags else (2048, 4096, 7168):
    for count in (32, 128, 512, 4096, 16384):
        experts = draw.choice((128, 256, 384))
        report(*tokens(hidden, count, experts))
        report(*gather_sum(hidden, experts, count))
for _ in range(arguments.cases):
    kind = draw.choice(kinds)
    what, ours, moved, peers = kind(draw)
    ratios.setdefault(kind.__name__, []).append(report(what, ours, moved, peers))
for name, all_of in ratios.items():
    ordered = sorted(all_of)
    mean = math.exp(statistics.fmean(map(math.log, ordered)))
    share = sum(ratio >= 0.97 for ratio in ordered) * 100 // len(ordered)
    print(
        f"{name}: {len(ordered)} cases, best peer {ordered[0]:.2f} to {ordered[-1]:.2f}, mean {mean:.2f}, "
        f"{share} % at least 0.97"
    )
