"""The time of a call on a GPU, for the benchmarks written in Python."""

import statistics

import torch

BUSY_CYCLES = 1_000_000  # 0.5 to 0.6 ms, in which the host enqueues the call


def device_us(call, runs=12):
    """The median time in microseconds between two events around the call, after a first call.

    The GPU is busy until the host has enqueued both events and the call, so that the time holds no work of the
    host, unless the call takes the host longer or waits for the GPU.
    """
    call()
    times = []
    for _ in range(runs):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda._sleep(BUSY_CYCLES)
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(1e3 * begin.elapsed_time(end))
    return statistics.median(times)
