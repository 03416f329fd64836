"""Continuing the run of an earlier report, and dividing the cases into parts."""

import json
from pathlib import Path

# A run can only be continued if these keys of both reports are equal.
SAME = ("device", "versions", "peers", "rounds", "seed", "random", "views", "reductions", "scans", "stencils")


def read(path):
    """The report in a file; None if there is no file yet."""
    return json.loads(Path(path).read_text(encoding="utf-8")) if Path(path).exists() else None


def _measured(result):
    """Whether the case was measured, and not abandoned with an error of the whole case."""
    return "all" not in result.get("errors", {})


def missing(chosen, old):
    """The part of [(index, case)] that the report `old` lacks; all of them if `old` is None."""
    done = {result["label"] for result in old["results"] if _measured(result)} if old else set()
    return [(index, case) for index, case in chosen if case["label"] not in done]


def continue_run(old, report):
    """Copies the results of `old` into `report`. Raises ValueError if they were measured under other conditions."""
    other = [name for name in SAME if old.get(name) != report.get(name)]
    if other:
        raise ValueError(f"it was measured with another {', another '.join(other)}")
    report["results"] = [result for result in old["results"] if _measured(result)]
    if "jit" in old:
        report["jit"] = old["jit"]


def part_of(chosen, number, parts):
    """Every `parts`-th of the cases, beginning with number `number`, which counts from 1."""
    return chosen[number - 1::parts]
