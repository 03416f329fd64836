"""Kernels in the style of Triton's tutorials. They are compiled ahead of time, which needs no GPU."""

import triton
import triton.language as tl


@triton.jit
def vector_add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0) * columns
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row + at, mask=at < columns, other=-float("inf"))
    v = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row + at, v / tl.sum(v, axis=0), mask=at < columns)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    n = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for first in range(0, K, BK):
        row = first + tl.arange(0, BK)[:, None]
        column = first + tl.arange(0, BK)[None, :]
        x = tl.load(a + m * K + column, mask=(m < M) & (column < K), other=0.0)
        y = tl.load(b + row * N + n, mask=(row < K) & (n < N), other=0.0)
        sums = tl.dot(x, y, sums)
    tl.store(c + m * N + n, sums.to(tl.float16), mask=(m < M) & (n < N))


@triton.jit
def matmul_of_host_descriptors(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM
    n = tl.program_id(1) * BN
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        sums = tl.dot(a.load([m, k]), b.load([k, n]), sums)
    c.store([m, n], sums.to(tl.float16))


@triton.jit
def persistent_matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    a_tiles = tl.make_tensor_descriptor(a, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    b_tiles = tl.make_tensor_descriptor(b, shape=[K, N], strides=[N, 1], block_shape=[BK, BN])
    c_tiles = tl.make_tensor_descriptor(c, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    rows = tl.cdiv(M, BM)
    for tile in tl.range(tl.program_id(0), rows * tl.cdiv(N, BN), tl.num_programs(0), flatten=True):
        m = (tile % rows) * BM
        n = (tile // rows) * BN
        sums = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, K, BK):
            sums = tl.dot(a_tiles.load([m, k]), b_tiles.load([k, n]), sums)
        c_tiles.store([m, n], sums.to(tl.float16))


@triton.jit
def attention(q, k, v, out, length, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(1) * length * D
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    x = tl.load(q + head + rows[:, None] * D + d[None, :])
    largest = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    sums = tl.zeros((BM, D), tl.float32)
    for first in range(0, (tl.program_id(0) + 1) * BM, BN):
        columns = first + tl.arange(0, BN)
        y = tl.load(k + head + columns[None, :] * D + d[:, None])
        s = tl.dot(x, y) * scale
        s = tl.where(rows[:, None] >= columns[None, :], s, -1.0e6)
        larger = tl.maximum(largest, tl.max(s, 1))
        p = tl.exp2(s - larger[:, None])
        shrink = tl.exp2(largest - larger)
        total = total * shrink + tl.sum(p, 1)
        z = tl.load(v + head + columns[:, None] * D + d[None, :])
        sums = tl.dot(p.to(tl.float16), z, sums * shrink[:, None])
        largest = larger
    tl.store(out + head + rows[:, None] * D + d[None, :], (sums / total[:, None]).to(tl.float16))


@triton.jit
def histogram(x, counts, largest, sums, lock, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    v = tl.load(x + at, mask=inside, other=0)
    tl.atomic_add(counts + v % BINS, 1, mask=inside, sem="relaxed")
    tl.atomic_max(largest, tl.max(v, 0))
    tl.atomic_add(sums + v % BINS, (v % 4).to(tl.float16), mask=inside)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(lock + 1, tl.load(lock + 1) + tl.sum(v, 0))
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def sort(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.sort(tl.load(x + at)))


@triton.jit
def running_sum(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.cumsum(tl.load(x + at), 0))
