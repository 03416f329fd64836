#!/usr/bin/env python3
"""Random gathers and additions by index tensors beside PyTorch, CuPy, FlashInfer and vLLM, on a GPU.

Rows: tables of 64 MiB to 4 GiB with rows of 64 bytes to 16 KiB, 2^12 to 2^20 random indices of 32 or 64
bits. Along: one index for each element. Tokens: rows of activations, each taken by 8 experts, as a mixture
of experts moves them, and added up again, times weights. Compares each result with PyTorch's. The copy moves
as many bytes: those of the moved rows, read and written once, and of the indices.

--bags measures gather_sum of ragged bags instead: tables of 64 MiB to 4 GiB with rows of 64 bytes to 2 KiB,
and lists of 2^14 to 2^19 indices in bags whose lengths follow Zipf's law, some of them empty, beside PyTorch's
embedding_bag. The bytes also count weights and offsets.
--moe measures moe_permute instead, for the hidden sizes, numbers of experts and tokens of a mixture of
experts with 8 slots, and gather_sum, its inverse. moe_permute reads the tokens once and writes 8 rows of
each; its bytes also count ids and positions. gather_sum reads 8 rows of each token and writes one.
--paged measures the moves of docs/paged.md: keys and values of tokens of 8 heads of 128 to the slots of a
paged cache, which takes tmajit and PyTorch two calls, blocks of the cache back, and repacked blocks.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

from peer_times import NotApplicableError, compiled, differing_bits, start, tmajit, torch

HEADS, WIDTH, SLOTS = 8, 128, 8


def compile_call(function: Callable, *operands: Any) -> Callable:
    """A function that compiles, and returns the call."""

    def make() -> Callable:
        fast = compiled(function)
        return lambda: fast(*operands)

    return make


def as_bits(tensor: Any) -> Any:
    """CuPy's array on a tensor's memory, of integers of the elements' size."""
    import cupy

    integers = {1: torch.uint8, 2: torch.int16, 4: torch.int32}
    return cupy.from_dlpack(tensor.view(integers[tensor.element_size()]))


def on_stream(function: Callable, result: Any) -> Callable:
    """A call of CuPy on PyTorch's stream, whose result is a tensor."""
    import cupy

    stream = cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream)

    def run() -> Any:
        with stream:
            function()
        return result

    return run


def random_bits(*shape: int, dtype: Any) -> Any:
    x = torch.empty(*shape, dtype=dtype, device="cuda")
    x.view(torch.uint8).random_(0, 255)
    return x


def draw_row(draw: random.Random, dtype: Any, longest: int) -> int:
    """The elements of a row of 64 to 2^longest bytes."""
    row = int(2 ** draw.uniform(6, longest)) // dtype.itemsize
    return max(64 // dtype.itemsize, row // 64 * 64) if draw.random() < 0.6 else row


def take_rows(kind: str, case: str, x: Any, index: Any, moved: int, contest: Any) -> None:
    """Measures a gather of rows."""
    wanted = torch.index_select(x, 0, index)
    y = torch.empty_like(wanted)

    def by_cupy() -> Callable:
        import cupy

        to = torch.empty_like(wanted)
        table, ids, bits = as_bits(x), cupy.from_dlpack(index), as_bits(to)
        return on_stream(lambda: cupy.take(table, ids, 0, out=bits), to)

    def by_pytorch() -> Callable:
        to = torch.empty_like(wanted)
        return lambda: torch.index_select(x, 0, index, out=to)

    calls = {
        "eager": by_pytorch,
        "compile": compile_call(lambda x, index: torch.index_select(x, 0, index), x, index),
        "CuPy": by_cupy,
    }
    contest.measure(
        kind,
        case,
        moved,
        lambda: tmajit.gather(x, index, 0, out=y),
        calls,
        lambda result: differing_bits(result, wanted),
    )


def gather_rows(draw: random.Random, contest: Any) -> None:
    dtype = draw.choice((torch.uint8, torch.bfloat16, torch.float32))
    row = draw_row(draw, dtype, 14)
    table = max(2, int(2 ** draw.uniform(26, 32)) // (row * dtype.itemsize))
    count = min(int(2 ** draw.uniform(12, 20)), (1 << 30) // (row * dtype.itemsize))
    kind = draw.choice((torch.int32, torch.int64))
    index = torch.randint(0, table, (count,), device="cuda", dtype=kind)
    moved = count * (2 * row * dtype.itemsize + kind.itemsize)
    case = f"{count} rows of {row} {dtype} from {table}"
    take_rows("gather of rows", case, random_bits(table, row, dtype=dtype), index, moved, contest)


def tokens(hidden: int, count: int, experts: int, contest: Any) -> None:
    """Each token's row is copied once for each of its 8 experts, in the order of the experts."""
    x = torch.randn(count, hidden, device="cuda").to(torch.bfloat16)
    chosen = torch.rand(count, experts, device="cuda").topk(SLOTS).indices.flatten()
    index = (torch.argsort(chosen, stable=True) // SLOTS).to(torch.int32)
    moved = count * hidden * 2 * (1 + SLOTS) + SLOTS * count * 4
    take_rows("tokens", f"{count} of {hidden} to {experts} experts", x, index, moved, contest)


def gather_along(draw: random.Random, contest: Any) -> None:
    dtype = draw.choice((torch.uint8, torch.bfloat16, torch.float32))
    shape = [int(2 ** draw.uniform(6, 13)) for _ in range(2)]
    shape[draw.randrange(2)] = max(1, int(2 ** draw.uniform(20, 25)) // shape[0])
    axis = draw.randrange(2)
    x = random_bits(*shape, dtype=dtype)
    index = torch.randint(0, shape[axis], shape, device="cuda")
    wanted = torch.take_along_dim(x, index, axis)
    y = torch.empty_like(x)

    def by_cupy() -> Callable:
        import cupy

        to = torch.empty_like(x)
        source, ids, bits = as_bits(x), cupy.from_dlpack(index), as_bits(to)
        return on_stream(lambda: cupy.copyto(bits, cupy.take_along_axis(source, ids, axis)), to)

    calls = {
        "eager": lambda: lambda: torch.take_along_dim(x, index, axis),
        "compile": compile_call(lambda x, index: torch.take_along_dim(x, index, axis), x, index),
        "CuPy": by_cupy,
    }
    contest.measure(
        "gather along",
        f"{axis} of {shape} {dtype}",
        x.numel() * (2 * dtype.itemsize + 8),
        lambda: tmajit.gather(x, index, axis, along=True, out=y),
        calls,
        lambda result: differing_bits(result, wanted),
    )


def scatter_add_rows(draw: random.Random, contest: Any) -> None:
    """Only the first call's result is compared: each call adds to the same table."""
    dtype = draw.choice((torch.bfloat16, torch.float32))
    row = draw_row(draw, dtype, 13)
    table = max(2, int(2 ** draw.uniform(24, 30)) // (row * dtype.itemsize))
    count = min(int(2 ** draw.uniform(12, 18)), (1 << 30) // (row * dtype.itemsize))
    x = torch.randint(-4, 5, (count, row), device="cuda").to(dtype)  # sums are exact in any order
    index = torch.randint(0, table, (count,), device="cuda")

    def zeros() -> Any:
        return torch.zeros(table, row, dtype=dtype, device="cuda")

    wanted, y = zeros().index_add_(0, index, x), zeros()

    def by_pytorch() -> Callable:
        to = zeros()
        return lambda: to.index_add_(0, index, x)

    def by_cupy() -> Callable:
        import cupy
        import cupyx

        if dtype != torch.float32:
            raise NotApplicableError("CuPy does not compute with bf16")
        to = zeros()
        sums, ids, values = cupy.from_dlpack(to), cupy.from_dlpack(index), cupy.from_dlpack(x)
        return on_stream(lambda: cupyx.scatter_add(sums, ids, values), to)

    calls = {
        "eager": by_pytorch,
        "compile": lambda: compile_call(lambda y, index, x: y.index_add_(0, index, x), zeros(), index, x)(),
        "CuPy": by_cupy,
    }
    contest.measure(
        "scatter_add of rows",
        f"{count} rows of {row} {dtype} to {table}",
        count * (3 * row * dtype.itemsize + 8),
        lambda: tmajit.scatter_add(x, index, 0, out=y),
        calls,
        lambda result: differing_bits(result, wanted),
    )


def moe_permute(hidden: int, experts: int, count: int, contest: Any) -> None:
    """The rows of tokens sorted by expert, with positions and counts; peers need not count."""
    x = torch.randn(count, hidden, device="cuda").to(torch.bfloat16)
    chosen = torch.rand(count, experts, device="cuda").topk(SLOTS).indices.to(torch.int32)
    pairs = count * SLOTS
    numbers = torch.arange(pairs, dtype=torch.int32, device="cuda")

    def define(x: Any, chosen: Any, numbers: Any) -> tuple:
        order = torch.argsort(chosen.flatten(), stable=True)
        positions = torch.empty_like(numbers)
        positions[order] = numbers
        return torch.index_select(x, 0, order // SLOTS), positions.view(chosen.shape)

    def integers(*shape: int, dtype: Any = torch.int32) -> Any:
        return torch.empty(*shape, dtype=dtype, device="cuda")

    def by_vllm() -> Callable:
        rows = torch.empty(pairs, hidden, dtype=x.dtype, device="cuda")
        positions, order = integers(*chosen.shape), integers(pairs)
        offsets = integers(experts + 1, dtype=torch.int64)
        size = torch.ops._moe_C.moe_permute_sort_workspace_size(pairs, experts)
        scratch = integers(size, dtype=torch.int8), *(integers(*chosen.shape) for _ in range(3))
        given = x, chosen, numbers.view(chosen.shape), None, experts, experts, SLOTS

        def run() -> tuple:
            torch.ops._moe_C.moe_permute_with_scratch(*given, rows, offsets, positions, order, *scratch)
            return rows, positions

        return run

    rows = torch.empty(pairs, hidden, dtype=x.dtype, device="cuda")
    out = rows, integers(*chosen.shape), integers(experts), integers(experts + 1)
    wanted = define(x, chosen, numbers)
    counts = chosen.flatten().bincount(minlength=experts).to(torch.int32)

    def check_peer(results: Any) -> str | None:
        return differing_bits(results[0], wanted[0]) or differing_bits(results[1], wanted[1])

    calls = {
        "eager": lambda: lambda: define(x, chosen, numbers),
        "compile": compile_call(define, x, chosen, numbers),
        "vLLM": by_vllm,
    }
    contest.measure(
        "moe_permute",
        f"{count} tokens of {hidden} to {SLOTS} of {experts} experts",
        count * hidden * 2 * (1 + SLOTS) + 2 * pairs * 4,
        lambda: tmajit.moe_permute(x, chosen, experts, out=out),
        calls,
        lambda results: check_peer(results) or differing_bits(results[2], counts),
        check_peer,
    )


def gather_sum(hidden: int, experts: int, count: int, contest: Any) -> None:
    """The inverse: the weighted sum of each token's rows."""
    chosen = torch.rand(count, experts, device="cuda").topk(SLOTS).indices.flatten()
    numbers = torch.arange(count * SLOTS, dtype=torch.int32, device="cuda")
    positions = torch.empty_like(numbers)
    positions[torch.argsort(chosen, stable=True)] = numbers
    positions = positions.view(count, SLOTS)
    rows = torch.randint(-4, 5, (count * SLOTS, hidden), device="cuda").to(torch.bfloat16)
    weights = torch.full((count, SLOTS), 0.25, device="cuda")  # sums are exact
    y = torch.empty(count, hidden, dtype=rows.dtype, device="cuda")

    def define(rows: Any, positions: Any, weights: Any) -> Any:
        taken = torch.index_select(rows, 0, positions.flatten()).view(count, SLOTS, hidden)
        return (taken * weights[:, :, None].to(rows.dtype)).sum(1)

    def by_vllm() -> Callable:
        to = torch.empty_like(y)

        def run() -> Any:
            torch.ops._moe_C.moe_unpermute(rows, weights, positions, None, SLOTS, to)
            return to

        return run

    wanted = define(rows, positions, weights)
    calls = {
        "eager": lambda: lambda: define(rows, positions, weights),
        "compile": compile_call(define, rows, positions, weights),
        "vLLM": by_vllm,
    }
    contest.measure(
        "gather_sum",
        f"{SLOTS} rows for {count} tokens of {hidden}",
        (SLOTS + 1) * count * hidden * 2,
        lambda: tmajit.gather_sum(rows, positions, weights, out=y),
        calls,
        lambda result: differing_bits(result + 0.0, wanted + 0.0),  # zeros of either sign are equal
    )


def bag_lengths(draw: random.Random, count: int) -> list[int]:
    """Lengths of bags that have `count` indices together: a length of at least n has a chance of about 1 / n."""
    longest = draw.choice((16, 256, 4096))
    lengths: list[int] = []
    remaining = count
    while remaining > 0:
        length = int(1 / (1 - draw.random() * longest / (longest + 1)))
        lengths.append(0 if draw.random() < 0.1 else min(length, remaining))
        remaining -= lengths[-1]
    return lengths


def ragged_bags(draw: random.Random, contest: Any) -> None:
    """Sums of bags of different lengths, with and without weights."""
    dtype = draw.choice((torch.bfloat16, torch.float32))
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

    def by_pytorch() -> Any:
        return torch.nn.functional.embedding_bag(
            index, x, offsets, mode="sum", per_sample_weights=weights, include_last_offset=True
        )

    wanted = by_pytorch()
    numbers = len(index) * (kind.itemsize + (0 if weights is None else dtype.itemsize))
    contest.measure(
        "ragged bags",
        f"{'' if weights is None else 'weighted '}{len(lengths)} bags, {len(index)} rows of {row} {dtype} of {table}",
        (len(index) + len(lengths)) * row * dtype.itemsize + numbers + len(offsets) * kind.itemsize,
        lambda: tmajit.gather_sum(x, index, weights, offsets=offsets, out=y),
        {"eager": lambda: by_pytorch},
        lambda result: differing_bits(result + 0.0, wanted + 0.0),  # zeros of either sign are equal
    )


def cache_of(blocks: int, block_size: int, heads_first: bool) -> Any:
    """A cache as (blocks, places, heads, width), whose heads may come before the places in memory."""
    shape = (blocks, HEADS, block_size, WIDTH) if heads_first else (blocks, block_size, HEADS, WIDTH)
    cache = torch.zeros(*shape, dtype=torch.bfloat16, device="cuda")
    return cache.transpose(1, 2) if heads_first else cache


def paged_write(count: int, block_size: int, heads_first: bool, contest: Any) -> None:
    """Keys and values of tokens to random slots."""
    blocks = 2 * count // block_size
    tensors = [torch.randn(count, HEADS, WIDTH, device="cuda").to(torch.bfloat16) for _ in range(2)]
    slots = torch.randperm(blocks * block_size, device="cuda")[:count]

    def caches() -> list:
        return [cache_of(blocks, block_size, heads_first) for _ in tensors]

    def store(caches: list, tensors: list, slots: Any) -> list:
        for cache, tensor in zip(caches, tensors, strict=True):
            cache.index_put_((slots // block_size, slots % block_size), tensor)
        return caches

    def by_vllm() -> Callable:
        written, one = caches(), torch.ones(1, device="cuda")

        def run() -> list:
            torch.ops._C_cache_ops.reshape_and_cache_flash(*tensors, *written, slots, "auto", one, one)
            return written

        return run

    def by_flashinfer() -> Callable:
        from flashinfer import page

        written = caches()
        layout = "HND" if heads_first else "NHD"
        paged = tuple(cache.transpose(1, 2) for cache in written) if heads_first else tuple(written)
        # One sequence has all blocks, so a slot is a position in it.
        of_sequence = torch.zeros(count, dtype=torch.int32, device="cuda"), slots.to(torch.int32)
        pages = torch.arange(blocks, dtype=torch.int32, device="cuda")
        first_pages = torch.tensor([0, blocks], dtype=torch.int32, device="cuda")
        last_page = torch.tensor([block_size], dtype=torch.int32, device="cuda")
        lengths = pages, first_pages, last_page

        def run() -> list:
            page.append_paged_kv_cache(*tensors, *of_sequence, paged, *lengths, kv_layout=layout)
            return written

        return run

    ours_caches, wanted = caches(), store(caches(), tensors, slots)

    def ours() -> list:
        for cache, tensor in zip(ours_caches, tensors, strict=True):
            tmajit.scatter(tensor, slots, (0, 1), flat=True, out=cache)
        return ours_caches

    def by_pytorch() -> Callable:
        written = caches()
        return lambda: store(written, tensors, slots)

    calls = {
        "eager": by_pytorch,
        "compile": lambda: compile_call(store, caches(), tensors, slots)(),
        "vLLM": by_vllm,
        "FlashInfer": by_flashinfer,
    }
    contest.measure(
        "paged write",
        f"{count} tokens to blocks of {block_size}, {'HND' if heads_first else 'NHD'}",
        2 * count * (2 * HEADS * WIDTH * 2 + 8),
        ours,
        calls,
        lambda results: next(filter(None, map(differing_bits, results, wanted)), None),
    )


def take_blocks(kind: str, case: str, cache: Any, table: Any, contest: Any) -> None:
    """Measures a gather of blocks of the view `cache`."""
    wanted = torch.index_select(cache, 0, table).contiguous()
    y = torch.empty_like(wanted)

    def define(cache: Any, table: Any) -> Any:
        return torch.index_select(cache, 0, table).contiguous()

    calls = {"eager": lambda: lambda: define(cache, table), "compile": compile_call(define, cache, table)}
    contest.measure(
        kind,
        case,
        2 * wanted.nbytes + table.nbytes,
        lambda: tmajit.gather(cache, table, 0, out=y),
        calls,
        lambda result: differing_bits(result, wanted),
    )


def paged_read(count: int, block_size: int, heads_first: bool, contest: Any) -> None:
    cache = cache_of(2 * count // block_size, block_size, heads_first).normal_()
    table = torch.randperm(len(cache), device="cuda", dtype=torch.int32)[: count // block_size]
    case = f"{count} tokens from blocks of {block_size}, {'HND' if heads_first else 'NHD'}"
    take_blocks("paged read", case, cache, table, contest)


def paged_repack(count: int, block_size: int, heads_first: bool, contest: Any) -> None:
    """Blocks of one layout become dense blocks of the other one."""
    cache = cache_of(2 * count // block_size, block_size, heads_first).normal_()
    turned = cache if heads_first else cache.transpose(1, 2)
    table = torch.randperm(len(cache), device="cuda", dtype=torch.int32)[: count // block_size]
    case = f"{count} tokens in blocks of {block_size}, {'HND to NHD' if heads_first else 'NHD to HND'}"
    take_blocks("paged repack", case, turned, table, contest)


def main() -> None:
    def add_options(parser: Any) -> None:
        parser.add_argument("--moe", action="store_true", help="measure moe_permute and gather_sum alone")
        parser.add_argument("--bags", action="store_true", help="measure gather_sum of ragged bags alone")
        parser.add_argument("--paged", action="store_true", help="only the moves of docs/paged.md")

    names = ("eager", "compile", "CuPy", "FlashInfer", "vLLM")
    options, draw, contest = start(__doc__, names, 100, add_options)
    hidden_sizes, counts = (2048, 4096, 7168), (32, 128, 512, 4096, 16384)
    if options.moe:
        for hidden, experts, count in itertools.product(hidden_sizes, (128, 256, 384), counts):
            moe_permute(hidden, experts, count, contest)
            gather_sum(hidden, experts, count, contest)
    elif options.bags:
        for _ in range(options.cases):
            ragged_bags(draw, contest)
    elif options.paged:
        for move in (paged_write, paged_read, paged_repack):
            for count, block_size, heads_first in itertools.product((4096, 65536), (16, 64), (False, True)):
                move(count, block_size, heads_first, contest)
    else:
        for hidden, count in itertools.product(hidden_sizes, counts):
            experts = draw.choice((128, 256, 384))
            tokens(hidden, count, experts, contest)
            gather_sum(hidden, experts, count, contest)
        for _ in range(options.cases):
            draw.choice((gather_rows, gather_rows, gather_along, scatter_add_rows))(draw, contest)
    contest.finish()


if __name__ == "__main__":
    main()
