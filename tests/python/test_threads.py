"""Calls from several threads at once, with and without the GIL."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import pytest

import tmajit
from operation_cases import CASES, as_list
from support import SEED, bits

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


def test_a_list_of_axes_changes_during_the_call():
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    axes = [0, 1]
    ended = threading.Event()

    def exchange():
        while not ended.is_set():
            axes[0], axes[1] = axes[1], axes[0]

    thread = threading.Thread(target=exchange)
    thread.start()
    try:
        for _ in range(200):
            try:
                y = tmajit.permute(x, axes)
            except tmajit.ArgumentError:  # it read one axis twice
                continue
            assert bits(y) == bits(x if y.shape == x.shape else x.T)
    finally:
        ended.set()
        thread.join()


def all_work():
    """Calls of every part of the package that has state, by name. Equal calls return equal values."""
    x = np.arange(60, dtype=np.float32).reshape(12, 5)
    plan = tmajit.plan("permute", x, axes=(1, 0))
    text = 'extern "C" __global__ void add(float* y, float a) { y[threadIdx.x] += a; }'
    kernel = tmajit.kernel(text)

    def launched(made):
        y = np.zeros(32, np.float32)
        made(y, 2.5, grid=1, block=32)
        return bits(y)

    def checked():
        y = np.zeros(16, np.float32)
        report = tmajit.check(kernel, y, 2.5, grid=1, block=32)
        return [one.rule for one in report], bits(y)

    def of_a_new_type():
        kind = type("Array", (np.ndarray,), {})  # the package keeps a table of the types of arrays
        return bits(tmajit.permute(x.view(kind), (1, 0)))

    def refused(call, *arguments, **named):
        with pytest.raises(tmajit.Error) as caught:
            call(*arguments, **named)
        return caught.value.code, str(caught.value)

    work = {
        str(case): lambda case=case: [bits(y) for y in as_list(case.call(tmajit, np.array))] for case in CASES
    }
    return work | {
        "a launch of a shared plan": lambda: bits(plan(x)),
        "a shared plan's attributes": lambda: (repr(plan), plan.source, plan.ptx, plan.kernels),
        "a shared plan's explanation": lambda: str(plan.explain()),
        "a new plan": lambda: bits(tmajit.plan("reduce", x, op="sum", axes=1)(x)),
        "a launch of a shared kernel": lambda: launched(kernel),
        "a new kernel": lambda: launched(tmajit.kernel(text.replace("add", "other"))),
        "a check": checked,
        "an array of a new type": of_a_new_type,
        "an illegal argument": lambda: refused(tmajit.permute, x, (0, 2)),
        "tensors that break a rule": lambda: refused(tmajit.permute, x[:5], (1, 0), out=x[1:6]),
        "a text that does not compile": lambda: refused(tmajit.map, "x +", x),
    }


@pytest.mark.tmajit_findings
def test_threads_do_all_work_at_once():
    work = all_work()
    names = list(work)
    found = {name: [None] * (2 * THREADS) for name in names}

    def call(number):
        rng = np.random.default_rng(SEED + number)
        for turn in (2 * number, 2 * number + 1):
            for i in rng.permutation(len(names)):
                found[names[i]][turn] = work[names[i]]()

    in_threads(call)
    for name in names:
        wanted = work[name]()
        assert all(one == wanted for one in found[name]), name
