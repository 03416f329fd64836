"""torch.compile's kernels made ahead, by several processes: it takes seconds a case otherwise.

Only Triton's own cache of compiled kernels is filled. What PyTorch's compiler chooses by measuring, it
chooses again in the run itself, where nothing else is on the device."""

import os
import subprocess
import sys
import time

from . import contest

LEAST_CASES = 12  # fewer are compiled sooner than processes start
MOST_PROCESSES = 8
PATIENCE = 150.0  # seconds


def cases_to_compile(chosen, peers):
    """Those of [(index, case)] that torch.compile takes part in."""
    return [case for _, case in chosen if case["peers"] == "all"] if "compile" in peers else []


def processes_for(cases):
    """How many are worth starting."""
    if len(cases) < LEAST_CASES:
        return 0
    return min(MOST_PROCESSES, (os.cpu_count() or 1) // 2)


def run(program, arguments, count):
    """Starts `program arguments --warm-part i/count` for each i and waits. Returns how many succeeded."""
    if count < 2:
        return 0
    children = [subprocess.Popen([sys.executable, program, *arguments, "--warm-part", f"{i}/{count}"],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                for i in range(count)]
    deadline = time.monotonic() + PATIENCE
    succeeded = 0
    for child in children:
        try:
            succeeded += child.wait(max(0.1, deadline - time.monotonic())) == 0
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
    return succeeded


def compile_part(machine, cases, compiled):
    """What a child does: compiles each of `cases` once."""
    import torch._inductor.config as config

    for name in ("fx_graph_cache", "autotune_local_cache"):
        if hasattr(config, name):
            setattr(config, name, False)
    cases = [case for case in cases if machine.fits(case)]
    if cases:
        machine.reserve(cases)
    for case in cases:
        try:
            compiled(case, *machine.arrays(case))
        except Exception as error:  # the run itself will say so
            print(f"{case['label']}: {contest.describe(error)}", file=sys.stderr)
