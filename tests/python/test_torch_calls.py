"""Random calls of all operations on PyTorch tensors give PyTorch's results, also from threads and in graphs.

$TMAJIT_CASES is the number of calls: 2,000 on a GPU, 60 on the simulated device if it is not set.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from support import SEED

torch = pytest.importorskip("torch")
from torch_calls import Random  # noqa: E402

THREADS, STREAMS = 8, 4


def arrays_of(place):
    """A function that returns an array on a tensor's memory. Arrays may have negative strides."""
    if place == "cpu":
        return lambda x: x.numpy()
    cupy = pytest.importorskip("cupy")
    return cupy.asarray


@pytest.mark.parametrize("place", ["cpu", "cuda"])
def test_random_calls(place):
    if place == "cuda" and not torch.cuda.is_available():
        pytest.skip("PyTorch sees no GPU")
    count = int(os.environ.get("TMAJIT_CASES", "2000" if place == "cuda" else "60"))
    print(f"seed {SEED}, {count} calls")
    if place == "cpu":
        random = Random(SEED, place, arrays_of(place), max_elements=1 << 10)
        for _ in range(count):
            random.call().check()
        return
    streams = [torch.cuda.Stream() for _ in range(STREAMS)]
    arrays = arrays_of(place)

    def work(thread):
        random = Random(SEED + thread, place, arrays)
        with torch.cuda.stream(streams[thread % STREAMS]):
            for _ in range(count // THREADS):
                random.call().check()

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(work, range(THREADS)))


def test_random_calls_in_graphs():
    if not torch.cuda.is_available():
        pytest.skip("PyTorch sees no GPU")
    print(f"seed {SEED}")
    random = Random(SEED, "cuda")
    calls = [random.call() for _ in range(40)]
    calls = [call for call in calls if call.name != "reduce_into"]
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for call in calls:
            call.check()  # compiles the kernels
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        results = [call.ours(*call.sources) for call in calls]
    rng = np.random.default_rng(SEED)
    for call in calls:
        for x in call.sources:
            base = x._base if x._base is not None else x
            new = torch.from_numpy(rng.integers(0, 2, tuple(base.shape)).astype(np.float32)).to("cuda")
            base.copy_(new.to(base.dtype))
    graph.replay()
    torch.cuda.synchronize()
    for call, found in zip(calls, results, strict=True):
        call.check(found)
