"""The distribution of the random cases' ratios to the best peer and to the driver's copy. Needs only the report."""

from . import results
from .contest import quantile

WORST = 10  # number of worst cases that are listed
# The share of the ratios below each of these is reported.
BOUNDS = (0.97, 0.90)
MEASURES = {"best": results.ratio_to_best_peer, "improved": results.improved_to_best_peer, "driver": results.ratio_to_driver}


def is_random(report):
    return bool(report.get("random"))


def types_of(result):
    """The types of a case, by which results are grouped. All casts are one group: they have too many pairs of types."""
    return "any" if result["operation"] == "cast" else result["types"]


def statistics(ratios):
    """The distribution of a list of ratios, which must not be empty."""
    ordered = sorted(ratios)
    return {
        "cases": len(ordered),
        "least": ordered[0],
        "percent_1": quantile(ordered, 0.01),
        "percent_10": quantile(ordered, 0.10),
        "median": quantile(ordered, 0.5),
        "geometric_mean": results.geometric_mean(ordered),
        **{f"below_{bound:.2f}": sum(ratio < bound for ratio in ordered) / len(ordered) for bound in BOUNDS},
    }


def ratios(report, measure, wanted=lambda result: True):
    """The ratios of the measured cases for which `wanted` is true."""
    values = [MEASURES[measure](result) for result in report["results"] if wanted(result)]
    return [value for value in values if value]


def _groups(report):
    """Yields (group, types, condition on a result) for the types of each group, and for all types of groups with several."""
    found = {}
    for result in report["results"]:
        found.setdefault(result["group"], {})[types_of(result)] = None
    for group, types in found.items():
        for name in types:
            yield group, name, lambda result, g=group, t=name: (result["group"], types_of(result)) == (g, t)
        if len(types) > 1:
            yield group, "all", lambda result, g=group: result["group"] == g


def worst(report):
    """The worst cases relative to the best peer: [{label, ratio, peer, kernels}]."""
    measured = [result for result in report["results"] if results.ratio_to_best_peer(result)]
    return [{"label": result["label"], "ratio": results.ratio_to_best_peer(result),
             "peer": results.best_peer(result)[0], "kernels": results.choices(result)}
            for result in sorted(measured, key=results.ratio_to_best_peer)[:WORST]]


def of(report):
    """The distribution for the report: {measure: [{"group": …, "types": …, "cases": …, …}], "worst": …}."""
    found = {}
    for measure in MEASURES:
        found[measure] = []
        for group, types, wanted in _groups(report):
            values = ratios(report, measure, wanted)
            if values:
                found[measure].append({"group": group, "types": types, **statistics(values)})
    if not found["improved"]:
        del found["improved"]  # a run without --improve
    return {**found, "worst": worst(report)}


def _table(title, rows):
    keys = [f"below_{bound:.2f}" for bound in BOUNDS]
    lines = [f"{title:<40}{'cases':>7}{'least':>8}{'1 %':>8}{'10 %':>8}{'median':>8}{'mean':>8}"
             + "".join(f"{'<' + key[6:]:>9}" for key in keys)]
    for row in rows:
        numbers = "".join(f"{row[key]:>8.3f}" for key in ("least", "percent_1", "percent_10", "median",
                                                          "geometric_mean"))
        lines.append(f"{row['group'] + ' ' + row['types']:<40}{row['cases']:>7}{numbers}"
                     + "".join(f"{100 * row[key]:>7.1f} %" for key in keys))
    return "\n".join(lines)


def text(report):
    found = of(report)
    titles = {"best": "Ours to the best peer", "improved": "Ours after trials to the best peer",
              "driver": "Ours to the driver's copy"}
    parts = [_table(title, found[measure]) for measure, title in titles.items() if found.get(measure)]
    if found["worst"]:
        parts.append("\n".join(["Least ratios to the best peer"] + [
            f"{case['ratio']:>7.3f} {case['peer']:<13}{case['label']}  {case['kernels']}" for case in found["worst"]]))
    return "\n\n".join(parts)
