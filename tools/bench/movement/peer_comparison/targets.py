"""The targets, and which of them a report meets. Needs only the report."""

from . import distribution
from . import results

TABLE_ROWS = 10  # permutations a type in the table of peers
# Ratios to the best peer, as geometric means over the table of permutations, and over odd extents.
TABLE_TARGETS = {"f32": 1.15, "bf16": 1.2, "u8": 1.4}
ODD_TARGET = 1.6

# Random permutations: geometric means of the ratios to the best peer and to the driver's copy.
RANDOM_TARGETS = {"f32": (1.10, 0.90), "bf16": (1.15, 0.85), "u8": (1.35, 0.75)}
RANDOM_GROUP = "random permutation"
EVEN = 0.97  # smallest ratio to the best peer whose difference from 1 is within the error of the measurement
EVEN_SHARE = 0.99  # of permutations: share with at least EVEN
LEAST = 0.90  # of permutations: least ratio to the best peer
OF_COPY, OF_COPY_SHARE = 0.6, 0.99  # of permutations: share with at least OF_COPY of the driver's copy
VIEWS_EVEN_SHARE, VIEWS_MEAN = 0.97, 1.10  # of views and reductions: share with at least EVEN, geometric mean
OTHER_GROUPS = (RANDOM_GROUP, "random scan", "random reduction", "random stencil")  # all other groups are views
SCANS_SHARE = 0.9  # of scans: share that is no slower than the best peer


def _target(what, need, got, at_least=True):
    return {"what": what, "need": need, "got": got, "at_least": at_least,
            "met": got >= need if at_least else got <= need}


def of(report):
    """([measured targets], [names of targets that were not measured])."""
    return _of_random(report) if distribution.is_random(report) else _of_list(report)


def _share(ratios, bound):
    return sum(ratio >= bound for ratio in ratios) / len(ratios)


def _of_random(report):
    found, unknown = [], []

    def add(what, measure, wanted, *conditions):
        """Adds targets. Each condition: (its name, the required value, a function from the ratios to the value)."""
        if not any(map(wanted, report["results"])):
            return
        ratios = distribution.ratios(report, measure, wanted)
        reference = {"best": "the best peer", "driver": "the driver's copy"}[measure]
        if not ratios:
            unknown.append(f"{what} relative to {reference}")
            return
        for name, need, value in conditions:
            found.append(_target(f"{what}, {name} {reference}", need, value(ratios)))

    permutation = lambda result: result["group"] == RANDOM_GROUP
    add("random permutations", "best", permutation,
        (f"share of {EVEN} of", EVEN_SHARE, lambda ratios: _share(ratios, EVEN)), ("least of", LEAST, min))
    add("random permutations", "driver", permutation,
        (f"share of {OF_COPY} of", OF_COPY_SHARE, lambda ratios: _share(ratios, OF_COPY)))
    for types, (best, copy) in RANDOM_TARGETS.items():
        these = lambda result, t=types: permutation(result) and result["types"] == t
        for measure, need in (("best", best), ("driver", copy)):
            add(f"random permutations {types}", measure, these, ("geometric mean of", need, results.geometric_mean))
    add("random scans", "best", lambda result: result["group"] == "random scan",
        ("share of 1 of", SCANS_SHARE, lambda ratios: _share(ratios, 1)))
    for what, these in (("random reductions", lambda result: result["group"] == "random reduction"),
                        ("random views", lambda result: result["group"] not in OTHER_GROUPS)):
        add(what, "best", these, (f"share of {EVEN} of", VIEWS_EVEN_SHARE, lambda ratios: _share(ratios, EVEN)),
            ("geometric mean of", VIEWS_MEAN, results.geometric_mean))
    return found, unknown


def _of_list(report):
    found, unknown = [], []
    for result in report["results"]:
        ours, driver = results.microseconds(result, results.OURS), results.microseconds(result, results.DRIVER)
        if ours is None or driver is None:
            if "min_ratio" in result or "max_extra_us" in result:
                unknown.append(result["label"])
        elif "min_ratio" in result:
            found.append(_target(result["label"] + ", speed relative to the driver's copy", result["min_ratio"],
                                 driver / ours))
        elif "max_extra_us" in result:
            found.append(_target(result["label"] + ", us beyond the driver's copy",
                                 result["max_extra_us"], ours - driver, at_least=False))
    for type_name, need in TABLE_TARGETS.items():
        rows = results.table_rows(report, type_name)
        ratios = results.measured(map(results.ratio_to_best_peer, rows))
        for row in rows:
            ratio = results.ratio_to_best_peer(row)
            if ratio is not None:
                found.append(_target(f"{row['label']}, speed relative to the best peer ({results.best_peer(row)[0]})", 1.0, ratio))
        if len(ratios) == TABLE_ROWS:
            found.append(_target(f"table of peers {type_name}, geometric mean of the best peer", need,
                                 results.geometric_mean(ratios)))
        else:
            unknown.append(f"geometric mean over the table, {type_name}: "
                           f"{len(ratios)} of {TABLE_ROWS} rows have a peer")
        odd = results.measured(map(results.ratio_to_best_peer, results.odd_rows(report, type_name)))
        if odd:
            found.append(_target(f"odd extents {type_name}, geometric mean of the best peer", ODD_TARGET,
                                 results.geometric_mean(odd)))
        else:
            unknown.append(f"odd extents, {type_name}")
    jit = report.get("jit")
    if jit:
        for plan in jit["plans"]:
            found.append(_target(plan["label"] + ", ms of a cold plan", jit["max_cold_ms"],
                                 plan["cold_ms"], at_least=False))
            found.append(_target(plan["label"] + ", us of planning", jit["max_hot_us"], plan["hot_us"],
                                 at_least=False))
    else:
        unknown.append("the cost of planning: --jit")
    return found, unknown
