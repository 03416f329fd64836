"""Tensors of other libraries. A test is skipped if its library is not installed or finds no GPU."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import exchange
import tmajit
from support import SEED, random_shape, random_view


def gpu(library):
    if not library.cuda.is_available():
        pytest.skip("PyTorch sees no GPU")
    return "cuda"


def test_the_exchange_interface_of_dlpack():
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    exchange.calls.clear()
    made = tmajit.permute(exchange.Exchanged(x[::-1]), (1, 0))
    assert type(made) is exchange.Exchanged
    assert (made.array == x[::-1].T).all()
    assert exchange.calls == ["view", "allocate", "to"]
    assert not exchange.alive
    exchange.calls.clear()
    out = exchange.Exchanged(np.zeros((6, 4), np.float32))
    assert tmajit.permute(exchange.Exchanged(x), (1, 0), out=out) is out
    assert (out.array == x.T).all()
    assert exchange.calls == ["view", "view"]


def test_a_tensor_without_elements_at_a_null_address():
    class Null(exchange.Exchanged):
        def fill(self, tensor, offset=0):
            super().fill(tensor)
            tensor.data, tensor.byte_offset = None, 0

    made = tmajit.pad(Null(np.empty((0, 3), np.float32)), ((1, 1), (0, 0)), value=2)
    assert (made.array == np.full((2, 3), 2, np.float32)).all()


def test_tensors_of_tvm():
    tvm_ffi = pytest.importorskip("tvm_ffi")
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    tensor = tvm_ffi.core.DLTensorTestWrapper(tvm_ffi.from_dlpack(x))
    out = np.zeros((6, 4), np.float32)
    tmajit.permute(tensor, (1, 0), out=tvm_ffi.from_dlpack(out))
    assert (out == x.T).all()


def test_an_object_that_has_only_dlpack():
    class Array:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    class Old(Array):
        def __dlpack__(self, stream=None):
            return self.array.__dlpack__()

    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    for kind in (Array, Old):
        assert (tmajit.permute(kind(x), (1, 0)) == x.T).all()
    fixed = x.copy()
    fixed.flags.writeable = False
    assert (tmajit.copy(Array(fixed)) == x).all()
    with pytest.raises(tmajit.ArgumentError, match="read-only"):
        tmajit.copy(x, out=Array(fixed))


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_pytorch_moves(device):
    torch = pytest.importorskip("torch")
    place = gpu(torch) if device == "cuda" else device
    print(f"seed {SEED}")
    rng = np.random.default_rng(SEED)
    for rank in range(9):
        x = torch.from_numpy(np.array(random_view(rng, random_shape(rng, rank), np.float32))).to(place)
        axes = tuple(int(a) for a in rng.permutation(rank))
        made = tmajit.permute(x, axes)
        assert type(made) is torch.Tensor
        assert made.device == x.device
        assert torch.equal(made, x.permute(axes))
        dims = tuple(range(0, rank, 2))
        assert torch.equal(tmajit.flip(x, dims), x.flip(dims))
    wide = torch.arange(64 * 64, device=place, dtype=torch.float32).reshape(64, 64)
    assert torch.equal(tmajit.copy(wide[::2, 1::3]), wide[::2, 1::3])
    assert torch.equal(tmajit.broadcast(wide[:1], (5, 64)), wide[:1].expand(5, 64))
    for kind in (torch.bfloat16, torch.float8_e4m3fn, torch.bool, torch.complex64, torch.int64):
        x = wide.to(kind)
        assert torch.equal(tmajit.permute(x, (1, 0)).view(torch.uint8), x.T.contiguous().view(torch.uint8))
    assert tmajit.cast(wide, torch.bfloat16).dtype == torch.bfloat16


def test_pytorch_streams_graphs_and_threads():
    torch = pytest.importorskip("torch")
    place = gpu(torch)
    x = torch.rand(256, 512, device=place)
    y = torch.empty(512, 256, device=place)
    tmajit.permute(x, (1, 0), out=y)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        tmajit.permute(x, (1, 0), out=y)
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        tmajit.permute(x, (1, 0), out=y)
        z = tmajit.map("2 * x", y)
    x.copy_(torch.rand_like(x))
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(y, x.T)
    assert torch.equal(z, 2 * x.T)

    def work(number):
        with torch.cuda.stream(torch.cuda.Stream()):
            mine = torch.full((64, 33), float(number), device=place)
            for _ in range(100):
                assert torch.equal(tmajit.permute(mine, (1, 0)), mine.T)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))


def test_pytorch_plans():
    torch = pytest.importorskip("torch")
    place = gpu(torch)
    x = torch.rand(1024, 1024, device=place)
    plan = tmajit.plan("permute", x, axes=(1, 0))
    y = torch.empty_like(x)
    assert plan(y, x) is y
    assert torch.equal(y, x.T)
    assert "R" in plan.sass
    report = plan.tune(repeats=3)
    assert report[0]["microseconds"] > 0
    assert torch.equal(plan(x), x.T)


def test_cupy():
    cupy = pytest.importorskip("cupy")
    x = cupy.arange(24, dtype=cupy.float32).reshape(4, 6)
    made = tmajit.permute(x, (1, 0))
    assert isinstance(made, cupy.ndarray)
    assert (made == x.T).all()
    with cupy.cuda.Stream(non_blocking=True):
        assert (tmajit.map("x + 1", x[:, ::2]) == x[:, ::2] + 1).all()


def test_jax():
    jnp = pytest.importorskip("jax.numpy")
    x = jnp.arange(24, dtype=jnp.float32).reshape(4, 6)
    made = tmajit.permute(x, (1, 0))
    assert type(made) is type(x)
    assert (made == x.T).all()
    assert tmajit.cast(x, jnp.bfloat16).dtype == jnp.bfloat16
    with pytest.raises(tmajit.ArgumentError, match="read-only"):
        tmajit.copy(x, out=jnp.zeros_like(x))
    with pytest.raises(TypeError, match="JAX makes arrays of int32 in place of int64"):
        tmajit.argmax(x)
    assert tmajit.argmax(x, dtype="int32") == 23
