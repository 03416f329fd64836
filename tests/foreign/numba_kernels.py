"""Kernels in the style of Numba's guide. They are compiled ahead of time, which needs no GPU."""

import math

# Makes numba.cuda the module of the package numba-cuda. Where numba-cuda is installed, its .pth file does this.
import _numba_cuda_redirector  # noqa: F401
import numpy
from numba import cuda, types
from numba.cuda import cg, dispatcher

ROWS = numpy.array([[1.5, -2.0, 0.25, 8.0], [3.0, 0.5, -1.0, 2.0]], numpy.float32)


def saxpy(a, x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a * x[i] + y[i]


def matmul(a, b, c):
    x = cuda.shared.array((16, 16), types.float32)
    y = cuda.shared.array((16, 16), types.float32)
    column, row = cuda.grid(2)
    i, j = cuda.threadIdx.y, cuda.threadIdx.x
    total = types.float32(0)
    for first in range(0, a.shape[1], 16):
        x[i, j] = a[row, first + j] if row < a.shape[0] and first + j < a.shape[1] else 0
        y[i, j] = b[first + i, column] if column < b.shape[1] and first + i < b.shape[0] else 0
        cuda.syncthreads()
        for k in range(16):
            total += x[i, k] * y[k, j]
        cuda.syncthreads()
    if row < c.shape[0] and column < c.shape[1]:
        c[row, column] = total


def block_sum(x, out):
    partial = cuda.shared.array(32, types.int64)
    total = types.int64(0)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        total += x[i]
    step = 16
    while step > 0:
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, step)
        step //= 2
    if cuda.laneid == 0:
        partial[cuda.threadIdx.x // 32] = total
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        total = types.int64(0)
        for warp in range(cuda.blockDim.x // 32):
            total += partial[warp]
        cuda.atomic.add(out, 0, total)


def scan(x, out):
    sums = cuda.shared.array(0, types.int32)
    t = cuda.threadIdx.x
    size = cuda.blockDim.x
    sums[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = 1
    while step < size:
        before = sums[t - step] if t >= step else 0
        cuda.syncthreads()
        sums[t] += before
        cuda.syncthreads()
        step *= 2
    out[cuda.grid(1)] = sums[t]


def histogram(x, counts):
    own = cuda.shared.array(64, types.int32)
    t = cuda.threadIdx.x
    if t < 64:
        own[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(own, x[i] % 64, 1)
    cuda.syncthreads()
    if t < 64:
        cuda.atomic.add(counts, t, own[t])


def complex_numbers(x, out):
    i = cuda.grid(1)
    if i < x.size:
        z = 0j
        c = x[i]
        for turn in range(5):
            z = z * z + c / (1 + 2j)
        out[i] = z.conjugate() + abs(c)


def local_sort(x, out):
    own = cuda.local.array(9, types.float64)
    i = cuda.grid(1)
    for k in range(9):
        own[k] = x[i, k]
    for k in range(1, 9):
        value = own[k]
        j = k - 1
        while j >= 0 and own[j] > value:
            own[j + 1] = own[j]
            j -= 1
        own[j + 1] = value
    for k in range(9):
        out[i, k] = own[k]


def grid_barrier(x, out):
    grid = cg.this_grid()
    i = cuda.grid(1)
    x[i] = i * 3
    grid.sync()
    out[i] = x[x.size - 1 - i]


def checked(x, divisors, out):
    i = cuda.grid(1)
    if x[i] < 0:
        raise ValueError("negative")
    out[i] = x[i] // divisors[i] + x[i] % divisors[i]


def halves(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        a, b = x[i], y[i]
        out[i] = cuda.fp16.hfma(a, b, a) + (a - b) * a
        if a > b:
            out[i] = cuda.fp16.hmax(a, b) / types.float16(2)


def atomics(x, whole, words, numbers):
    i = cuda.grid(1)
    v = x[i]
    cuda.atomic.add(whole, 0, v)
    cuda.atomic.sub(whole, 1, v)
    cuda.atomic.max(whole, 2, v)
    cuda.atomic.min(whole, 3, v)
    cuda.atomic.inc(words, 0, 100)
    cuda.atomic.dec(words, 1, 100)
    cuda.atomic.and_(words, 2, types.uint32(~(1 << (i % 32))))
    cuda.atomic.or_(words, 3, types.uint32(1 << (i % 32)))
    cuda.atomic.xor(words, 4, types.uint32(i))
    cuda.atomic.add(numbers, 0, types.float64(v))
    cuda.atomic.max(numbers, 1, types.float64(v))
    cuda.atomic.nanmin(numbers, 2, types.float64(v))
    old = cuda.atomic.cas(whole, 4, 0, v + 1000000)
    if old == 0:
        cuda.atomic.exch(whole, 5, 77)


def votes(x, out):
    i = cuda.grid(1)
    v = x[i]
    word = cuda.ballot_sync(0xFFFFFFFF, v > 0)
    same = cuda.match_any_sync(0xFFFFFFFF, v)
    all_same, agree = cuda.match_all_sync(0xFFFFFFFF, v // 100)
    out[i, 0] = cuda.popc(word) + cuda.clz(word) * 64 + cuda.ffs(word) * 4096
    out[i, 1] = same
    out[i, 2] = cuda.brev(types.uint32(i))
    out[i, 3] = types.uint32(agree) + 2 * types.uint32(cuda.all_sync(0xFFFFFFFF, v > -50)) + 4 * types.uint32(cuda.any_sync(0xFFFFFFFF, v == 3))
    out[i, 4] = cuda.shfl_xor_sync(0xFFFFFFFF, v, 5) + cuda.shfl_sync(0xFFFFFFFF, v, (i + 1) % 32)
    out[i, 5] = cuda.shfl_up_sync(0xFFFFFFFF, v, 3) - cuda.lanemask_lt()
    out[i, 6] = cuda.activemask()
    out[i, 7] = cuda.selp(v > 0, 3, 4)


def constants(out):
    rows = cuda.const.array_like(ROWS)
    i = cuda.grid(1)
    out[i] = rows[i % 2, (i // 2) % 4] + rows[1, i % 4]


def functions(x, out):
    i = cuda.grid(1)
    v = x[i]
    out[0, i] = math.sin(v)
    out[1, i] = math.cos(v * 1000)
    out[2, i] = math.exp(v)
    out[3, i] = math.log(abs(v))
    out[4, i] = math.pow(abs(v), 1.7)
    out[5, i] = math.erf(v)
    out[6, i] = math.gamma(abs(v) + 1)
    out[7, i] = math.atan2(v, 2.0)
    out[8, i] = math.sqrt(abs(v))
    out[9, i] = math.tanh(v)
    out[10, i] = math.fmod(v, 0.3)
    out[11, i] = math.floor(v) + math.ceil(v) + math.trunc(v) + round(v)
    out[12, i] = math.lgamma(abs(v) + 0.5)
    fraction, exponent = math.frexp(v)
    out[13, i] = fraction + exponent
    out[14, i] = math.hypot(v, 1.0) + math.copysign(1.0, v)
    out[15, i] = math.log1p(abs(v)) + math.expm1(v)


def records(particles, out):
    i = cuda.grid(1)
    if i < particles.size:
        p = particles[i]
        p.x += p.v * 0.5
        p.count += 1
        out[i] = p.x * p.mass


def strided(x, out):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        out[j, i] = x[i, j] + x[-1, -1] * x.ndim


def pairs(parts, weights, out):
    i = cuda.grid(1)
    a, b = parts
    out[i] = a[i] * weights[0] + b[i] * weights[1]


def printing(x):
    i = cuda.grid(1)
    if i == 1:
        print("number", i, x[i], 2.5)
    x[i] = x[i] * 2


def python_division(x, y, out):
    i = cuda.grid(1)
    out[i, 0] = x[i] // y[i]
    out[i, 1] = x[i] % y[i]
    out[i, 2] = x[i] << (y[i] & 31)
    out[i, 3] = x[i] >> (y[i] & 31)
    out[i, 4] = -x[i] // 7
    out[i, 5] = abs(x[i]) ** 3


def whole_chooser(x, out):
    i = cuda.grid(1)
    kind = x[i] % 8
    if kind == 0:
        value = 5.0
    elif kind == 1:
        value = x[i] * 0.5
    elif kind == 2:
        value = math.sqrt(x[i])
    elif kind == 3:
        value = float(i)
    elif kind == 4:
        value = 1.0 / (x[i] + 1)
    elif kind == 5:
        value = x[i] ** 2
    elif kind == 6:
        value = -1.0
    else:
        value = float(min(x[i], 9) + max(i, 3))
    out[i] = value


def stencil(x, out, turns):
    tile = cuda.shared.array(130, types.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t + 1] = x[i]
    if t == 0:
        tile[0] = x[i - 1] if i > 0 else 0
    if t == cuda.blockDim.x - 1:
        tile[t + 2] = x[i + 1] if i + 1 < x.size else 0
    for turn in range(turns):
        cuda.syncthreads()
        value = (tile[t] + tile[t + 2]) * types.float32(0.5)
        cuda.syncthreads()
        tile[t + 1] = value
    cuda.syncwarp()
    out[i] = tile[t + 1]


def ticket(x, partial, count, out):
    last = cuda.shared.array(1, types.boolean)
    t = cuda.threadIdx.x
    own = x[cuda.grid(1)]
    cuda.atomic.add(partial, cuda.blockIdx.x, own)
    cuda.threadfence()
    cuda.syncthreads()
    if t == 0:
        last[0] = cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1
    cuda.syncthreads()
    if last[0]:
        cuda.threadfence()
        if t == 0:
            total = 0
            for block in range(cuda.gridDim.x):
                total += partial[block]
            out[0] = total


particle = types.Record.make_c_struct([("x", types.float32), ("v", types.float64), ("count", types.int16), ("mass", types.float32)])
f32, f64, i32, i64, u32 = types.float32, types.float64, types.int32, types.int64, types.uint32
# The argument types of each kernel.
SIGNATURES = {
    saxpy: (f32, f32[::1], f32[::1], f32[::1]),
    matmul: (f32[:, ::1], f32[:, ::1], f32[:, ::1]),
    block_sum: (i32[::1], i64[::1]),
    scan: (i32[::1], i32[::1]),
    histogram: (i32[::1], i32[::1]),
    complex_numbers: (types.complex128[::1], types.complex128[::1]),
    local_sort: (f64[:, ::1], f64[:, ::1]),
    grid_barrier: (i32[::1], i32[::1]),
    checked: (i32[::1], i32[::1], i32[::1]),
    halves: (types.float16[::1], types.float16[::1], types.float16[::1]),
    atomics: (i64[::1], i64[::1], u32[::1], f64[::1]),
    votes: (i32[::1], i64[:, ::1]),
    constants: (f32[::1],),
    functions: (f64[::1], f64[:, ::1]),
    records: (particle[::1], f64[::1]),
    strided: (f32[:, :], f32[:, :]),
    pairs: (types.UniTuple(f32[::1], 2), types.UniTuple(f32, 2), f32[::1]),
    printing: (f32[::1],),
    python_division: (i64[::1], i64[::1], i64[:, ::1]),
    whole_chooser: (i32[::1], f64[::1]),
    stencil: (f32[::1], f32[::1], i32),
    ticket: (i32[::1], i32[::1], i32[::1], i64[::1]),
}
MODES = {
    "plain": {},
    "debug": {"debug": True, "opt": False},
}


class _Device:
    """Replaces the device, which Numba asks for its compute capability if a kernel uses the grid barrier."""

    compute_capability = (9, 0)


def compile_all(folder):
    """Writes KERNEL.MODE.ptx for each kernel and mode, or KERNEL.MODE.error if it does not compile."""
    dispatcher.get_current_device = _Device
    for kernel, signature in SIGNATURES.items():
        for mode, options in MODES.items():
            path = folder / f"{kernel.__name__}.{mode}"
            try:
                text, _ = cuda.compile_ptx(kernel, types.void(*signature), cc=(9, 0), **options)
                path.with_suffix(f".{mode}.ptx").write_text(text)
            except Exception as reason:  # a compiler may raise any exception
                path.with_suffix(f".{mode}.error").write_text(f"{type(reason).__name__}: {reason}")


if __name__ == "__main__":
    import pathlib
    import sys

    compile_all(pathlib.Path(sys.argv[1]))
