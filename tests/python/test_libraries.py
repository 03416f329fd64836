"""Tensors of other libraries. A test is skipped if its library is not installed or finds no GPU."""

from __future__ import annotations

import numpy as np
import pytest

import exchange
import tmajit


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


def test_pytorch_streams_and_graphs():
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


TUNED = """
extern "C" __global__ void __launch_bounds__(threads) scale(float* y, const float* x, int n) {
  for (int i = blockIdx.x * threads + threadIdx.x; i < n; i += gridDim.x * threads) y[i] = x[i] * factor;
}
"""


def test_pytorch_tunes_a_kernel():
    torch = pytest.importorskip("torch")
    place = gpu(torch)
    n = 1 << 22
    x = torch.rand(n, device=place)
    y = torch.empty_like(x)
    seen = []

    def launch(run, threads, ctas):
        if threads * ctas <= 1 << 18:
            run(y, x, n, grid=ctas, block=threads)

    tuning = tmajit.tune_kernel(
        TUNED,
        launch,
        {"threads": [32, 2048, 256], "ctas": [1, 528, 4096]},
        constants={"factor": 2.0},
        repeats=3,
        progress=lambda done, candidates, constants: seen.append((done, candidates, constants)),
    )
    # A CTA has at most 1024 threads, and launch() leaves out one combination of 256.
    assert len(tuning.candidates) == 5
    assert len(tuning.left_out) == 4
    assert {constants["threads"] for constants, _ in tuning.left_out} == {2048, 256}
    times = [time for _, time in tuning.candidates]
    assert times == sorted(times)
    assert tuning.candidates[-1][0] == {"threads": 32, "ctas": 1}
    assert seen and all(candidates == 5 and "threads = " in constants for _, candidates, constants in seen)
    y.zero_()
    tuning.kernel(y, x, n, grid=tuning.constants["ctas"], block=tuning.constants["threads"])
    assert torch.equal(y, 2 * x)
    assert "528" in tuning._repr_html_()


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
