"""Timing: contestants take turns, round by round, so that changes in the machine's speed affect all of them."""

import time
from dataclasses import dataclass, field
from typing import Callable, Optional

GRAPH_BELOW = 128 << 20  # bytes moved; smaller moves are nodes of a CUDA graph
GRAPH_NODES = 200
TOO_SMALL = "too small to be timed by the host's clock"
ROUNDS, QUICK_ROUNDS = 15, 7
# Launch and wait vary by some tenths of a millisecond, which is less than 1 % of this time.
HOST_SAMPLE_SECONDS = 40e-3
# A contestant that is HOPELESS times slower than the best after HOPELESS_ROUNDS rounds is not timed further.
HOPELESS, HOPELESS_ROUNDS = 4.0, 2


class NotApplicable(Exception):
    """A contestant has no way to do a case; the text says why."""


@dataclass
class Entry:
    """A contestant, ready for one case."""

    name: str
    run: Callable[[], object]  # enqueues the move once
    results: Callable[[], list]  # the arrays that the last run() wrote
    sample: Optional[Callable[[], float]] = None  # times itself: microseconds of a run
    capturable: bool = True  # may run inside CUDA graph capture
    notes: dict = field(default_factory=dict)  # for the report
    close: Callable[[], None] = lambda: None


def by_host_clock(enqueue, wait):
    """A sample for a contestant whose stream no event can time: the difference between one call and many, by the host's clock.
    L2 then holds what the call before left there. wait: a function of the result of the last enqueue()."""

    def elapsed(calls):
        begin = time.perf_counter()
        for _ in range(calls):
            result = enqueue()
        wait(result)
        return time.perf_counter() - begin

    elapsed(2)
    calls = max(2, min(512, int(HOST_SAMPLE_SECONDS / elapsed(1)) + 1))

    def sample():
        single = elapsed(1)
        return 1e6 * (elapsed(1 + calls) - single) / calls

    return sample


def quantile(ordered, q):
    """The quantile q of an ordered list, interpolated between the two nearest elements."""
    position = q * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])


def summary(samples):
    """The samples with their statistics, in the format of the C++ programs' reports."""
    ordered = sorted(samples)
    median = quantile(ordered, 0.5)
    spread = (quantile(ordered, 0.75) - quantile(ordered, 0.25)) / median if median > 0 else 0.0
    return {
        "median": median,
        "min": ordered[0],
        "max": ordered[-1],
        "spread": spread,
        "samples": [round(value, 4) for value in ordered],
    }


def hopeless(times):
    """The names in {name: samples} that are too slow to be timed further."""
    least = {name: min(samples) for name, samples in times.items()}
    return [name for name in least if least[name] > HOPELESS * min(least.values())]


def race(machine, entries, bytes_moved, rounds, always=()):
    """Times entries. Returns {"microseconds": {name: summary}, "graph": whether a CUDA graph was used, "launches":
    launches in a sample, "by_host": names of entries that time themselves, "errors": {name: error}, "skipped": {name: why
    it cannot take part}, "stopped": {name: rounds after which it was stopped}}. always: names of entries that get all
    rounds, however slow they are."""
    graph = bytes_moved < GRAPH_BELOW and machine.has_graphs
    launches = GRAPH_NODES if graph else 1
    work, errors, skipped = {}, {}, {}
    for entry in entries:
        try:
            if entry.sample:
                if graph:
                    raise NotApplicable(TOO_SMALL)
                work[entry.name] = entry.sample
            elif graph:
                if not entry.capturable:
                    raise NotApplicable("cannot run inside a CUDA graph")
                work[entry.name] = machine.capture(entry.run, launches)
            else:
                work[entry.name] = entry.run
            for _ in range(2):
                (entry.run if entry.sample else work[entry.name])()
            machine.synchronize()
        except NotApplicable as error:
            skipped[entry.name] = str(error)
        except Exception as error:  # the other contestants go on
            work.pop(entry.name, None)
            errors[entry.name] = describe(error)
            machine.require_alive()
    entries = [entry for entry in entries if entry.name in work]
    by_host = [entry.name for entry in entries if entry.sample]
    times = {entry.name: [] for entry in entries}
    stopped = {}
    for round_number in range(rounds):
        pending = []
        for turn in range(len(entries)):
            entry = entries[(turn + round_number) % len(entries)]  # the first contestant changes from round to round
            if entry.sample:
                machine.synchronize()
                times[entry.name].append(entry.sample())
                continue
            machine.reset_l2()
            pending.append((entry.name, machine.time(work[entry.name])))
        machine.synchronize()
        for name, read in pending:
            times[name].append(read() / launches)
        if round_number + 1 == HOPELESS_ROUNDS < rounds:
            stopped = {name: HOPELESS_ROUNDS for name in hopeless(times) if name not in always}
            entries = [entry for entry in entries if entry.name not in stopped]
    return {
        "microseconds": {name: summary(samples) for name, samples in times.items()},
        "graph": graph,
        "launches": launches,
        "by_host": by_host,
        "errors": errors,
        "skipped": skipped,
        "stopped": stopped,
    }


def describe(error):
    """An exception in one line."""
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0]}"[:300] if text else type(error).__name__
