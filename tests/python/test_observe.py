"""Counters, history and records of kernels."""

from __future__ import annotations

import queue
import threading

import numpy as np
import pytest

import tmajit


def test_counters_and_history_tell_where_kernels_came_from(caplog: pytest.LogCaptureFixture) -> None:
    before = tmajit.counters()
    made: queue.Queue[dict] = queue.Queue()
    tmajit.on_kernel(made.put)

    def fails(record: dict) -> None:
        raise ValueError("a mistake")

    tmajit.on_kernel(fails)
    # Threads that wait for the same kernel hold the lock of the interpreter.
    x = np.arange(3 * 5 * 7, dtype=np.float64).reshape(3, 5, 7)
    threads = [threading.Thread(target=lambda: tmajit.map("x * 3.0625 + 17", x)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    record = made.get(timeout=60)
    assert record["operation"] == "map"
    assert record["level"] in ("compiled", "disk")
    assert record["made_by"] == "caller"
    assert len(record["key"]) == 64
    after = tmajit.counters()
    assert sum(after["requests"].values()) > sum(before["requests"].values())
    assert after["failures"] == before["failures"]
    assert after["served"] == after["waited"] == after["swaps"] == after["swap_ms"] == 0
    assert record["key"] in [each["key"] for each in tmajit.history()]
