"""Calls from several threads at once, with and without the GIL."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np

import tmajit

THREADS = 8

FIRST_CALLS = f"""
import sys, threading
import numpy as np
import tmajit
sys.setswitchinterval(1e-6)
x = np.arange(24, dtype=np.float32).reshape(4, 6)
start, right = threading.Barrier({THREADS}), []
def call():
    start.wait()
    right.append((tmajit.cast(x, np.int32) == x).all() and (tmajit.permute(x, (1, 0)) == x.T).all())
threads = [threading.Thread(target=call) for _ in range({THREADS})]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sum(map(bool, right)))
"""


def in_threads(call):
    """Calls call(number) in THREADS threads at once. Raises the first error."""
    errors = []
    start = threading.Barrier(THREADS)

    def run(number):
        start.wait()
        try:
            call(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_the_first_calls_of_a_process_come_from_several_threads():
    # If threads deadlock, the process never ends.
    for _ in range(3):
        run = subprocess.run(
            [sys.executable, "-c", FIRST_CALLS], capture_output=True, text=True, timeout=120, check=True
        )
        assert run.stdout.strip() == str(THREADS)


def test_each_thread_gets_its_own_results():
    x = np.arange(60, dtype=np.int32).reshape(3, 4, 5)

    def call(number):
        for i in range(20):
            y = x + 100 * number + i
            assert (tmajit.permute(y, (2, 0, 1)) == y.transpose(2, 0, 1)).all()
            assert (tmajit.sum(y, 1, dtype=np.int32) == y.sum(1)).all()

    in_threads(call)


def test_threads_share_a_plan_and_a_kernel():
    x = np.arange(60, dtype=np.float32).reshape(12, 5)
    plan = tmajit.plan("permute", x, axes=(1, 0))
    text = 'extern "C" __global__ void add(float* y, float a) { y[threadIdx.x] += a; }'
    kernel = tmajit.kernel(text)

    def call(number):
        for _ in range(10):
            assert (plan(x + number) == (x + number).T).all()
            y = np.zeros(32, np.float32)
            kernel(y, float(number), grid=1, block=32)
            assert (y == number).all()

    in_threads(call)


def test_a_list_of_sources_changes_during_the_call():
    sources = [np.full(7, i, np.float32) for i in range(4)]
    ended = threading.Event()

    def replace():
        while not ended.is_set():
            for i in range(4):
                sources[i] = np.full(7, i, np.float32)

    thread = threading.Thread(target=replace)
    thread.start()
    try:
        for _ in range(50):
            assert (tmajit.concat(sources, 0) == np.repeat(np.arange(4), 7)).all()
    finally:
        ended.set()
        thread.join()
