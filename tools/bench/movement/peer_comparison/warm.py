"""Compiles the peers' kernels ahead in several processes, because compiling takes seconds for each case.

A peer that chooses kernels by measuring repeats this in the run itself, when no other process uses the device."""

import math
import os
import subprocess
import sys
import time

from . import contest

COMPILING = ("compile", "jax", "triton", "cutensor-jit")
MIN_CASES = 12  # compiling fewer cases takes less time than starting processes
MAX_PROCESSES = 14
OWN_BYTES = 4 << 30  # device memory that a process needs besides a case's buffers
START_SECONDS, CASE_SECONDS = 60.0, 10.0  # time limit of a process: to start, and for each case


def peers_to_warm(peers):
    return [name for name in COMPILING if name in peers]


def cases_to_compile(chosen, peers):
    """The cases of [(index, case)] that a peer has to compile."""
    return [case for _, case in chosen if case["peers"] == "all"] if peers_to_warm(peers) else []


def processes_for(cases, free_bytes, cpus=os.cpu_count() or 1):
    """The number of processes to start; 0 if compiling ahead would save no time."""
    if len(cases) < MIN_CASES:
        return 0
    need = OWN_BYTES + max(case["source_bytes"] + 2 * case["destination_bytes"] for case in cases)
    return int(min(MAX_PROCESSES, cpus - 2, free_bytes // need))


def patience(cases, processes, limit=None):
    """The seconds to wait for `processes`: at most half of the run's limit, if there is one."""
    seconds = START_SECONDS + CASE_SECONDS * math.ceil(cases / processes)
    return min(seconds, limit / 2) if limit else seconds


def run(program, arguments, count, seconds):
    """Starts `program arguments --warm-part i/count` for each i and waits. Returns how many succeeded."""
    if count < 2:
        return 0
    children = [subprocess.Popen([sys.executable, program, *arguments, "--warm-part", f"{i}/{count}"],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                for i in range(count)]
    deadline = time.monotonic() + seconds
    succeeded = 0
    for child in children:
        try:
            succeeded += child.wait(max(0.1, deadline - time.monotonic())) == 0
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
    return succeeded


def compile_part(machine, cases, makers):
    """The work of a child process: each of `makers` compiles each of `cases` once."""
    cases = [case for case in cases if machine.fits(case)]
    if cases:
        machine.reserve(cases)
    for case in cases:
        for name, make in makers.items():
            try:
                make(case, *machine.arrays(case)).close()
            except contest.NotApplicable:
                pass
            except Exception as error:  # the run itself reports it again
                print(f"{case['label']}: {name}: {contest.describe(error)}", file=sys.stderr)
        machine.release_cached_memory()
