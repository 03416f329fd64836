"""Bandwidths, ratios and geometric means of the measurements in a report."""

import math

OURS, DRIVER, BEFORE = "tmajit", "driver", "before"
IMPROVED = "tmajit improved"  # with RuntimeOptions::improve, after its trials
BY_HOST = " by host"  # after the name of OURS or IMPROVED: timed like the peers in a result's "by_host"
PEERS = ("eager", "compile", "jax", "cupy", "triton", "cutensor", "cutensor-jit", BEFORE)


def among(report, names):
    """The report with only the peers in `names`, and BEFORE."""
    removed = set(PEERS) - {*names, BEFORE}
    rows = [{**row, "microseconds": {name: times for name, times in row.get("microseconds", {}).items()
                                     if name not in removed}} for row in report["results"]]
    return {**report, "peers": [name for name in report.get("peers", []) if name not in removed], "results": rows}


def microseconds(result, name):
    """The median of a contestant; None if it was not measured."""
    measured = result.get("microseconds", {}).get(name)
    return measured["median"] if measured else None


def bandwidth(result, name):
    """GB/s read plus written, each element once; the driver's copy moves whole sectors."""
    time = microseconds(result, name)
    return time and result["sector_bytes" if name == DRIVER else "bytes"] / time * 1e-3


def ours_beside(result, peer, ours=OURS):
    """The time of tmajit's contestant `ours`, measured as that of `peer` was."""
    by_host = peer in result.get("by_host", ())
    return microseconds(result, ours + BY_HOST if by_host else ours)


def best_peer(result, ours=OURS):
    """(name, microseconds) of the peer that is fastest relative to tmajit, or None."""
    times = [(name, microseconds(result, name)) for name in PEERS]
    relative = lambda pair: pair[1] / (ours_beside(result, pair[0], ours) or 1)
    return min((pair for pair in times if pair[1]), key=relative, default=None)


def ratio_to_driver(result):
    """tmajit's bandwidth divided by that of the driver's copy of as many bytes."""
    ours, driver = microseconds(result, OURS), microseconds(result, DRIVER)
    return driver / ours if ours and driver else None


def ratio_to_best_peer(result, ours=OURS):
    """tmajit's bandwidth divided by that of the fastest peer."""
    best = best_peer(result, ours)
    time = best and ours_beside(result, best[0], ours)
    return best[1] / time if time else None


def improved_to_best_peer(result):
    """The same after the trials of RuntimeOptions::improve."""
    return ratio_to_best_peer(result, IMPROVED)


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def measured(values):
    """The values that are not None."""
    return [value for value in values if value is not None]


def table_rows(report, type_name):
    """The rows of the table of peers for one type."""
    return [r for r in report["results"] if r["group"] == "peers" and r["types"] == type_name]


def odd_rows(report, type_name):
    """The cases with odd extents for one type."""
    return [r for r in report["results"] if r["odd"] and r["types"] == type_name and r["peers"] == "all"]


def choices(result):
    """The kernels of tmajit's plan, as text."""
    steps = result.get("notes", {}).get(OURS, {}).get("steps", [])
    return "; ".join(dict.fromkeys(step["choice"] or step["kernel"] for step in steps))
