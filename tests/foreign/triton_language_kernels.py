"""Kernels that use each builtin of Triton's language at least once, in the layouts of one, four and eight warps."""

import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait


@triton.jit
def counts(x, out, n, B: tl.constexpr, BINS: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + at, mask=at < n, other=0)
    tl.store(out + tl.arange(0, BINS), tl.histogram(v, BINS, mask=at < n))


@triton.jit
def gathered(x, rows, out, R: tl.constexpr, C: tl.constexpr, D: tl.constexpr):
    c = tl.arange(0, C)[None, :]
    v = tl.load(x + tl.arange(0, R)[:, None] * C + c)
    at = tl.arange(0, D)[:, None] * C + c
    tl.store(out + at, tl.gather(v, tl.load(rows + at), 0))


@triton.jit
def _linear(a0, b0, a1, b1):
    return a0 * a1, b0 * a1 + b1


@triton.jit
def recurrence(a, b, out, R: tl.constexpr, C: tl.constexpr, AXIS: tl.constexpr, BACK: tl.constexpr):
    at = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    x, y = tl.associative_scan((tl.load(a + at), tl.load(b + at)), AXIS, _linear, reverse=BACK)
    tl.store(out + at, y)


@triton.jit
def reductions(x, out, R: tl.constexpr, C: tl.constexpr):
    v = tl.load(x + tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :])
    r = tl.arange(0, R)
    tl.store(out + r, tl.argmax(v, 1).to(tl.float32))
    tl.store(out + R + r, tl.argmin(v, 1).to(tl.float32))
    largest, at = tl.max(v, 1, return_indices=True)
    tl.store(out + 2 * R + r, largest + at)
    tl.store(out + 3 * R + r, tl.xor_sum(v.to(tl.int32), 1).to(tl.float32))
    tl.store(out + 4 * R + tl.arange(0, C), tl.sum(v, 0))
    tl.store(out + 4 * R + C, tl.sum(v))


@triton.jit
def product(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr, OUT: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * N + n[None, :])
    tl.store(c + m[:, None] * N + n[None, :], tl.dot(x, y, input_precision=PRECISION, out_dtype=OUT))


@triton.jit
def scaled_product(a, s, b, t, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k, q = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K), tl.arange(0, K // 32)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * N + n[None, :])
    xs = tl.load(s + m[:, None] * (K // 32) + q[None, :])
    ys = tl.load(t + n[:, None] * (K // 32) + q[None, :])
    tl.store(c + m[:, None] * N + n[None, :], tl.dot_scaled(x, xs, "e4m3", y, ys, "e4m3"))


@triton.jit
def shuffled(x, out, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + at)
    tl.store(out + at, tl.flip(v))
    a, b = tl.split(tl.reshape(v, (B // 2, 2)))
    tl.store(out + B + at, tl.interleave(b, a))
    tl.store(out + 2 * B + at, tl.reshape(tl.trans(tl.reshape(v, (8, B // 8))), (B,)))
    tl.store(out + 3 * B + at, tl.sort(v, descending=True))
    tl.store(out + 4 * B + at, tl.reshape(tl.permute(tl.reshape(v, (4, B // 16, 4)), (2, 0, 1)), (B,)))
    tl.store(out + 5 * B + tl.arange(0, 8), tl.topk(v, 8))


@triton.jit
def randoms(out, seed, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(out + at, tl.randint(seed, at).to(tl.int32, bitcast=True))


@triton.jit
def atomics(x, words, longs, floats, doubles, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + at)
    tl.atomic_and(words + at * 0, v | 0xF0F0)
    tl.atomic_or(words + 1 + at * 0, v)
    tl.atomic_xor(words + 2 + at * 0, v)
    tl.atomic_max(words + 3 + at * 0, v)
    tl.atomic_min(words + 4 + at * 0, v, sem="relaxed")
    tl.atomic_cas(words + 8 + at % 4, at % 4, at % 4 + 100)
    tl.atomic_xchg(words + 16 + at, v)
    tl.atomic_add(longs + at % 3, v.to(tl.int64), scope="sys")
    tl.atomic_add(floats + at % 8, v.to(tl.float32))
    tl.atomic_max(floats + 8 + at * 0, v.to(tl.float32))
    tl.atomic_min(floats + 9 + at * 0, v.to(tl.float32))
    tl.atomic_add(doubles + at % 8, v.to(tl.float64))


@triton.jit
def printed(x, out, n, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + at, mask=at < n, other=1)
    tl.device_print("value ", v)
    tl.device_assert(v > -1000000, "too small")
    tl.store(out + at, v + 1, mask=at < n)


@triton.jit
def functions(x, out, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + at)
    tl.store(out + at, libdevice.sinh(v))
    tl.store(out + B + at, libdevice.pow(tl.abs(v) + 1, v))
    tl.store(out + 2 * B + at, tl.erf(v))
    tl.store(out + 3 * B + at, tl.sin(v * 100))
    tl.store(out + 4 * B + at, libdevice.tgamma(tl.abs(v) + 0.5))
    tl.store(out + 5 * B + at, libdevice.rint(v) + libdevice.fmod(v, 0.7))
    tl.store(out + 6 * B + at, tl.rsqrt(tl.abs(v) + 1) + tl.sqrt_rn(tl.abs(v)) + tl.div_rn(v, 3.0))
    tl.store(out + 7 * B + at, tl.log2(tl.abs(v) + 1) + tl.exp2(v) + tl.floor(v) + tl.ceil(v) + tl.fma(v, v, v))


@triton.jit
def assembly(x, out, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + at)
    y = tl.inline_asm_elementwise(
        "{ .reg .b32 t; shf.l.wrap.b32 t, $1, $1, 3; not.b32 $0, t; }", "=r,r", [v], dtype=tl.int32, is_pure=True, pack=1
    )
    z = tl.inline_asm_elementwise(
        "{ add.s16x2 $0, $2, $2; mov.b32 $1, $2; }",
        "=r,=r,r",
        [v.to(tl.int16)],
        dtype=(tl.int16, tl.int16),
        is_pure=True,
        pack=2,
    )
    tl.store(out + at, y + z[0].to(tl.int32) + z[1].to(tl.int32))


@triton.jit
def descriptors(a, b, c, M, N, BM: tl.constexpr, BN: tl.constexpr):
    x = tl.make_tensor_descriptor(a, [M, N], [N, 1], [BM, BN])
    sums = tl.make_tensor_descriptor(b, [M, N], [N, 1], [BM, BN])
    y = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    m = tl.program_id(0) * BM
    for n in range(0, N, BN):
        v = x.load([m, n])
        y.store([m, n], v * 2)
        sums.atomic_add([m, n], v)


@triton.jit
def specialized(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPECIALIZED: tl.constexpr):
    x = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    y = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    z = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    sums = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, K, BK, warp_specialize=SPECIALIZED):
        sums = tl.dot(x.load([m, k]), y.load([n, k]).T, sums)
    z.store([m, n], sums.to(tl.float16))


@triton.jit
def attention_of_tiles(q, k, v, out, heads, length, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, SPECIALIZED: tl.constexpr):
    rows = heads * length
    qs = tl.make_tensor_descriptor(q, [rows, D], [D, 1], [BM, D])
    ks = tl.make_tensor_descriptor(k, [rows, D], [D, 1], [BN, D])
    vs = tl.make_tensor_descriptor(v, [rows, D], [D, 1], [BN, D])
    outs = tl.make_tensor_descriptor(out, [rows, D], [D, 1], [BM, D])
    head = tl.program_id(1) * length
    row = head + tl.program_id(0) * BM
    largest = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    sums = tl.zeros((BM, D), tl.float32)
    x = qs.load([row, 0])
    for n in tl.range(0, length, BN, warp_specialize=SPECIALIZED):
        s = tl.dot(x, ks.load([head + n, 0]).T) * scale
        larger = tl.maximum(largest, tl.max(s, 1))
        p = tl.exp2(s - larger[:, None])
        shrink = tl.exp2(largest - larger)
        total = total * shrink + tl.sum(p, 1)
        sums = tl.dot(p.to(tl.float16), vs.load([head + n, 0]), sums * shrink[:, None])
        largest = larger
    outs.store([row, 0], (sums / total[:, None]).to(tl.float16))


@triton.jit
def pipelined(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, TRANSPOSED: tl.constexpr, DOUBLED: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a + m[:, None] * K + k[None, :], mask=k[None, :] < K, other=0.0)
        if TRANSPOSED:
            y = tl.load(b + n[None, :] * K + k[:, None], mask=k[:, None] < K, other=0.0)
        else:
            y = tl.load(b + k[:, None] * N + n[None, :], mask=k[:, None] < K, other=0.0)
        if DOUBLED:
            x = (x * 2).to(x.dtype)
        sums = tl.dot(x, y, sums)
    tl.store(c + m[:, None] * N + n[None, :], sums.to(c.dtype.element_ty))


@triton.jit
def collatz(x, out, n):
    p = tl.program_id(0)
    if p >= n:
        return
    s = tl.load(x + p)
    steps = 0
    while s != 1:
        if s % 2 == 0:
            s = s // 2
        else:
            s = 3 * s + 1
        steps += 1
    tl.store(out + p, steps)


@triton.jit
def cached(x, out, B: tl.constexpr):
    at = tl.arange(0, B)
    a = tl.load(x + at, cache_modifier=".cg")
    b = tl.load(x + at, eviction_policy="evict_last")
    c = tl.load(x + at, volatile=True)
    d = tl.load(x + at, cache_modifier=".cv")
    tl.store(out + at, a + b, cache_modifier=".cs")
    tl.store(out + B + at, c + d, cache_modifier=".wt")
    tl.store(out + 2 * B + at, a, eviction_policy="evict_first")


@triton.jit
def casts(x, e4, e5, half, bytes, back, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + at)
    a = v.to(tl.float8e4nv)
    b = v.to(tl.float8e5)
    tl.store(e4 + at, a)
    tl.store(e5 + at, b)
    tl.store(half + at, v.to(tl.float16, fp_downcast_rounding="rtz"))
    tl.store(bytes + at, v.to(tl.int8))
    tl.store(back + at, a.to(tl.bfloat16).to(tl.float32) + b.to(tl.float16).to(tl.float32))
    tl.store(back + B + at, v.to(tl.bfloat16).to(tl.float8e4nv).to(tl.float32) + v.to(tl.float16).to(tl.float8e5).to(tl.float32))


@triton.jit
def whole_numbers(x, y, out, B: tl.constexpr):
    at = tl.arange(0, B)
    a, b = tl.load(x + at), tl.load(y + at)
    tl.store(out + at, a // b)
    tl.store(out + B + at, a % b)
    tl.store(out + 2 * B + at, tl.umulhi(a.to(tl.uint64), b.to(tl.uint64)).to(tl.int64))
    tl.store(out + 3 * B + at, (a >> 3) ^ (b << 2))
    tl.store(out + 4 * B + at, tl.minimum(a, b) + tl.maximum(a, b) * 2 + tl.abs(a))
    tl.store(out + 5 * B + at, (a.to(tl.uint32) // 7).to(tl.int64))


@triton.jit
def dependent(x, out, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    gdc_wait()
    v = tl.load(x + at)
    gdc_launch_dependents()
    tl.store(out + at, v + 1)


@triton.jit
def not_numbers(x, y, out, B: tl.constexpr):
    at = tl.arange(0, B)
    a, b = tl.load(x + at), tl.load(y + at)
    tl.store(out + at, tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL))
    tl.store(out + B + at, tl.minimum(a, b))
    tl.store(out + 2 * B + at, tl.where(a < b, a, b))


@triton.jit
def locked_sums(x, sums, lock, N, B: tl.constexpr, G: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    part = tl.load(x + row * N + c, mask=c < N, other=0)
    own = lock + row % G
    while tl.atomic_cas(own, 0, 1) == 1:
        pass
    if tl.load(own + G) == 0:
        tl.atomic_xchg(own + G, 1)
    else:
        part += tl.load(sums + (row % G) * N + c, mask=c < N)
    tl.store(sums + (row % G) * N + c, part, mask=c < N)
    tl.debug_barrier()
    tl.atomic_xchg(own, 0)
