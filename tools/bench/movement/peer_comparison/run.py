"""A run: checks every contestant in every case, then times them in turn."""

import sys
import time

from . import contest, results
from .contest import Entry, NotApplicable

# Allowed difference between a peer's computed result and the reference, relative to the larger of 1 and the value:
# about the error of one more rounding.
PEER_TOLERANCE = {"f64": 1e-14, "f32": 2e-6, "bf16": 1 / 128, "e4m3": 1 / 8}


class Lost(Exception):
    """The device has failed, and no further case can be measured."""


# A trial takes at most 20 calls, and a few more launches until its result is read.
TRIAL_CALLS, CALLS_IN_A_ROW = 32, 4


def ours(session, machine, index, name=results.OURS):
    """A function that makes the Entry of tmajit's move for case `index`."""

    def make(case, sources, destinations):
        destination, source = machine.addresses()
        plan = session.plan(index, destination, source)
        return Entry(name, lambda: plan(machine.stream), lambda: destinations, notes=plan.describe(),
                     close=plan.free)

    return make


def improved(session, machine, index):
    """A function that makes the Entry of case `index` after the trials of a session with open(improve=True)."""
    make_first = ours(session, machine, index, results.IMPROVED)

    def make(case, sources, destinations):
        entry = make_first(case, sources, destinations)
        for _ in range(TRIAL_CALLS // CALLS_IN_A_ROW):
            for _ in range(CALLS_IN_A_ROW):
                entry.run()
            machine.synchronize()
        return entry

    return make


def by_host(machine, entry):
    """An Entry of tmajit, timed like peers that time themselves."""
    return Entry(entry.name + results.BY_HOST, entry.run, entry.results,
                 sample=contest.by_host_clock(entry.run, lambda _: machine.synchronize()))


def before(session, machine, cases):
    """A function that makes the Entry of another build's move. `cases` are that build's cases, matched by label."""
    numbers = {case["label"]: index for index, case in enumerate(cases)}

    def make(case, sources, destinations):
        if case["label"] not in numbers:
            raise NotApplicable("that build has no such case")
        return ours(session, machine, numbers[case["label"]], results.BEFORE)(case, sources, destinations)

    return make


def driver_copy(session, machine, case):
    """The Entry of the driver's copy, which reads and writes as many bytes as the case, counted in sectors."""
    destination, source = machine.addresses()
    half = case["sector_bytes"] // 2
    return Entry(results.DRIVER, lambda: session.copy(destination, source, half, machine.stream), lambda: [])


def tolerance(case, name):
    """The allowed error of contestant `name`, relative to the larger of 1 and the value."""
    if name == results.OURS:
        return case.get("tolerance", 0)
    if "tolerance" not in case:
        return 0
    return max(case["tolerance"], PEER_TOLERANCE.get(case["destinations"][0]["type"], 0))


def _prepare(machine, case, name, make, arrays, reference):
    """Makes a contestant and checks its result. Raises if the result is wrong."""
    entry = make(case, *arrays)
    try:
        machine.poison_destinations(case)
        entry.run()
        machine.synchronize()
        wrong = machine.differs(case, entry.results(), reference, tolerance(case, name))
        if wrong:
            raise ValueError(wrong)
    except Exception:
        entry.close()
        raise
    return entry


def measure_case(session, machine, index, case, makers, seed, rounds):
    """Measures a case. Returns the case with its times and errors."""
    result = dict(case)
    result["errors"], result["notes"], result["skipped"] = {}, {}, {}
    if not machine.fits(case):
        result["skipped"]["all"] = "the device has not enough memory"
        return result
    machine.fill(case, seed)
    arrays = machine.arrays(case)
    try:
        reference = machine.reference(case, arrays[0])
    except NotApplicable as error:  # nothing to check the contestants against
        result["skipped"]["all"] = str(error)
        return result
    entries = []
    try:
        for name, make in [(results.OURS, ours(session, machine, index)), *makers]:
            try:
                entry = _prepare(machine, case, name, make, arrays, reference)
                entries.append(entry)
                if entry.notes:
                    result["notes"][name] = entry.notes
            except NotApplicable as error:
                result["skipped"][name] = str(error)
            except Exception as error:  # the other contestants go on
                result["errors"][name] = contest.describe(error)
                _require_alive(machine)
        del reference
        entries.insert(1, driver_copy(session, machine, case))
        always = (results.OURS, results.IMPROVED)
        if any(entry.sample for entry in entries):
            entries += [by_host(machine, entry) for entry in entries if entry.name in always]
        timed = contest.race(machine, entries, case["sector_bytes"], rounds,
                             (*always, *(name + results.BY_HOST for name in always), results.DRIVER))
        for name, after in timed.pop("stopped").items():
            result["notes"].setdefault(name, {})["rounds"] = after
        for key in ("errors", "skipped"):
            result[key].update(timed.pop(key))
        result.update(timed)
    finally:
        for entry in entries:
            entry.close()
        machine.release_cached_memory()
    return result


def _require_alive(machine):
    try:
        machine.require_alive()
    except Exception as error:
        raise Lost(contest.describe(error)) from error


def select(cases, only, quick):
    """[(index, case)] of the cases to measure."""
    return [(index, case) for index, case in enumerate(cases)
            if (case["quick"] or not quick) and (not only or any(part in case["label"] for part in only))]


def run(session, machine, chosen, peers, options, report, on_result, trying=None):
    """Measures `chosen`, adding to `report`. peers: {name: function that makes an Entry}. trying: a session with
    open(improve=True), for a contestant of ours with trials."""
    start = options.start
    fitting = [case for _, case in chosen if machine.fits(case)]
    if fitting:
        machine.reserve(fitting)

    def leave_out(count, why):
        report["left_out"], report["why_left_out"] = count, why

    for number, (index, case) in enumerate(chosen):
        if options.limit and time.monotonic() - start > options.limit:
            return leave_out(len(chosen) - number, f"--limit {options.limit:g} s was over")
        progress(f"[{number + 1}/{len(chosen)}] {time.monotonic() - start:.0f} s  {case['label']}")
        wanted = {"none": (), "eager": ("eager",), "all": tuple(name for name in peers if name != results.BEFORE)}[case["peers"]]
        makers = [(name, peers[name]) for name in (*wanted, results.BEFORE) if name in peers]
        if trying:
            makers.insert(0, (results.IMPROVED, improved(trying, machine, index)))
        try:
            result = measure_case(session, machine, index, case, makers, options.seed, options.rounds)
        except Lost as error:
            return leave_out(len(chosen) - number, f"the device failed in {case['label']}: {error}")
        except Exception as error:  # the other cases are still measured
            result = dict(case, errors={"all": contest.describe(error)})
            machine.release_cached_memory()
            try:
                _require_alive(machine)
            except Lost as fatal:
                report["results"].append(result)
                return leave_out(len(chosen) - number - 1, f"the device failed: {fatal}")
        result["seconds"] = round(time.monotonic() - start, 1)
        report["results"].append(result)
        on_result(result)


def progress(text):
    """Replaces the progress line, if standard error is a terminal."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}" if text else "\r\x1b[K", end="", file=sys.stderr, flush=True)
