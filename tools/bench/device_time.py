"""The time of a call on a GPU, for the benchmarks written in Python."""

import statistics

import torch


def device_us(call, runs=12):
    """The median time in microseconds between two events around the call, after a first call."""
    call()
    times = []
    for _ in range(runs):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(1e3 * begin.elapsed_time(end))
    return statistics.median(times)
