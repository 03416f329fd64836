"""Bandwidths, ratios and geometric means of the measurements in a report."""

import math

OURS, DRIVER, BEFORE = "tmajit", "driver", "before"
OURS_BY_HOST = "tmajit by host"  # timed like the peers in a result's "by_host"
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


def ours_beside(result, peer):
    """tmajit's time, measured as that of `peer` was."""
    by_host = peer in result.get("by_host", ())
    return microseconds(result, OURS_BY_HOST if by_host else OURS)


def best_peer(result):
    """(name, microseconds) of the peer that is fastest relative to tmajit, or None."""
    times = [(name, microseconds(result, name)) for name in PEERS]
    relative = lambda pair: pair[1] / (ours_beside(result, pair[0]) or 1)
    return min((pair for pair in times if pair[1]), key=relative, default=None)


def ratio_to_driver(result):
    """tmajit's bandwidth divided by that of the driver's copy of as many bytes."""
    ours, driver = microseconds(result, OURS), microseconds(result, DRIVER)
    return driver / ours if ours and driver else None


def ratio_to_best_peer(result):
    """tmajit's bandwidth divided by that of the fastest peer."""
    best = best_peer(result)
    ours = best and ours_beside(result, best[0])
    return best[1] / ours if ours else None


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
