"""What measurements say: bandwidths, ratios, geometric means, targets. Works on the report alone."""

import math

OURS, DRIVER = "tmajit", "driver"
PEERS = ("eager", "compile", "jax", "cupy", "triton", "cutensor", "cutensor-jit")
TABLE_ROWS = 10  # permutations a type in the table of peers

# Of the best peer, as geometric means over the table of permutations, and over odd extents.
TABLE_TARGETS = {"f32": 1.15, "bf16": 1.2, "u8": 1.4}
ODD_TARGET = 1.6


def among(report, names):
    """The report as if of all peers only these had been measured."""
    gone = set(PEERS) - set(names)
    rows = [{**row, "microseconds": {name: times for name, times in row.get("microseconds", {}).items()
                                     if name not in gone}} for row in report["results"]]
    return {**report, "peers": [name for name in report.get("peers", []) if name not in gone], "results": rows}


def microseconds(result, name):
    """The median of a contestant; None if it was not measured."""
    measured = result.get("microseconds", {}).get(name)
    return measured["median"] if measured else None


def bandwidth(result, name):
    """GB/s read plus written, each element once; the driver's copy moves whole sectors."""
    time = microseconds(result, name)
    return time and result["sector_bytes" if name == DRIVER else "bytes"] / time * 1e-3


def best_peer(result):
    """(name, microseconds) of the fastest peer, or None."""
    times = [(name, microseconds(result, name)) for name in PEERS]
    return min((pair for pair in times if pair[1]), key=lambda pair: pair[1], default=None)


def of_driver(result):
    """Ours beside the driver's copy of as many bytes: a ratio of bandwidths."""
    ours, driver = microseconds(result, OURS), microseconds(result, DRIVER)
    return driver / ours if ours and driver else None


def of_best_peer(result):
    ours, best = microseconds(result, OURS), best_peer(result)
    return best[1] / ours if ours and best else None


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def _some(values):
    return [value for value in values if value is not None]


def table_rows(report, type_name):
    """The table of peers, one type."""
    return [r for r in report["results"] if r["group"] == "peers" and r["types"] == type_name]


def odd_rows(report, type_name):
    return [r for r in report["results"] if r["odd"] and r["types"] == type_name and r["peers"] == "all"]


def _target(what, need, got, at_least=True):
    return {"what": what, "need": need, "got": got, "at_least": at_least,
            "met": got >= need if at_least else got <= need}


def targets(report):
    """([targets that were measured], [what could not be])."""
    found, unknown = [], []
    for result in report["results"]:
        ours, driver = microseconds(result, OURS), microseconds(result, DRIVER)
        if ours is None or driver is None:
            if "least_ratio" in result or "most_extra_us" in result:
                unknown.append(result["label"])
        elif "least_ratio" in result:
            found.append(_target(result["label"] + ", of the driver's copy", result["least_ratio"],
                                 driver / ours))
        elif "most_extra_us" in result:
            found.append(_target(result["label"] + ", us beyond the driver's copy",
                                 result["most_extra_us"], ours - driver, at_least=False))
    for type_name, need in TABLE_TARGETS.items():
        rows = table_rows(report, type_name)
        ratios = _some(map(of_best_peer, rows))
        for row in rows:
            ratio = of_best_peer(row)
            if ratio is not None:
                found.append(_target(f"{row['label']}, of the best peer ({best_peer(row)[0]})", 1.0, ratio))
        if len(ratios) == TABLE_ROWS:
            found.append(_target(f"table of peers {type_name}, geometric mean of the best peer", need,
                                 geometric_mean(ratios)))
        else:
            unknown.append(f"geometric mean over the table, {type_name}: "
                           f"{len(ratios)} of {TABLE_ROWS} rows have a peer")
        odd = _some(map(of_best_peer, odd_rows(report, type_name)))
        if odd:
            found.append(_target(f"odd extents {type_name}, geometric mean of the best peer", ODD_TARGET,
                                 geometric_mean(odd)))
        else:
            unknown.append(f"odd extents, {type_name}")
    jit = report.get("jit")
    if jit:
        for plan in jit["plans"]:
            found.append(_target(plan["label"] + ", ms of a cold plan", jit["most_cold_ms"],
                                 plan["cold_ms"], at_least=False))
            found.append(_target(plan["label"] + ", us of planning", jit["most_hot_us"], plan["hot_us"],
                                 at_least=False))
    else:
        unknown.append("the cost of planning: --jit")
    return found, unknown
