#!/usr/bin/env python3
"""Fits the constants of the cost model (Costs in include/tmajit/chip.hpp) to measurements, and judges the model's
predictions and choices.

    tmajit-movement --model --random 40 --json measured.json    # on a Hopper GPU
    fit.py measured.json --write                                # anywhere

A part of the cases is held out: constants are fitted to the rest, and both parts are judged. --write fits the constants
to all cases and writes them to the header. Predictions are those of the build's libtmajit_movement.so. Needs
only Python 3.9. docs/model.md describes the model.
"""
import argparse
import json
import math
import random
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from peer_comparison.library import Library, find

HEADER = Path(__file__).resolve().parents[3] / "include/tmajit/chip.hpp"
# A line of the header: "  double launch_us = 2.1;  ///< …".
CONSTANT = re.compile(r"^  double (\w+) = ([-+.\deE]+);( *)///<", re.MULTILINE)
# Constants that are not fitted: properties of the chip, and thresholds in bytes.
FIXED = ("gbps", "cached_bytes", "uncached_bytes", "crowded_bytes", "cached_tile_bytes", "instructions_per_us")

# As in src/plan/cost_model.cpp: another candidate is chosen only if it takes less than this part of the default
# candidate's time, and at least CLEARLY_US microseconds less.
CLEARLY = 0.97
CLEARLY_US = 0.1
GOOD = 1.03  # a choice is good up to this multiple of the best candidate's time
WEIGHT_EXPONENT = 1.5  # a candidate's weight is (best time / its time) ** WEIGHT_EXPONENT
MEAN_ERROR_WEIGHT = 0.4  # weight of a case's mean error: it is common to all candidates, so it changes no choice
PRIOR = 0.1  # weight of a constant's distance from its old value
STEPS = 25  # limit for the iterations of a fit


class Case:
    """A case with its measured candidates, the planner's choice first."""

    def __init__(self, result, chip, session, index):
        self.label = result["label"]
        self.predict = lambda constants: session.predict(index, chip, constants)
        self.record = {"chip": chip["name"], "operation": result.get("operation", "permute"),
                     **{name: result[name] for name in ("type", "shape", "axes")}}
        times = {one["choice"]: one["us"] for one in result["candidates"] if one["us"] is not None}
        self.candidates = [one for one in self.predict({}) if one["choice"] in times]
        self.us = [times[one["choice"]] for one in self.candidates]
        best = min(self.us, default=0)
        self.weight = [(best / us)**WEIGHT_EXPONENT for us in self.us]

    def predicted(self, constants):
        times = {one["choice"]: one["us"] for one in self.predict(constants)}
        return [times[one["choice"]] for one in self.candidates]

    def regret(self, predicted):
        """The measured time of the candidate chosen by predictions, divided by the least measured time."""
        return self.us[self.chosen(predicted)] / min(self.us)

    def chosen(self, predicted):
        """The candidate that choose() in cost_model.cpp would choose, if the default candidate was measured."""
        counted = [min(p * CLEARLY, p - CLEARLY_US) if one["default"] else p for p, one in zip(predicted, self.candidates)]
        allowed = [i for i, one in enumerate(self.candidates) if one["allowed"]]
        return min(allowed or range(len(counted)), key=lambda i: counted[i])

    def residuals(self, constants):
        """The weighted logarithmic errors of the predictions: each candidate's distance from the mean, then the mean."""
        errors = [math.log(p / us) for p, us in zip(self.predicted(constants), self.us)]
        mean = sum(w * e for w, e in zip(self.weight, errors)) / sum(self.weight)
        inside = [w * (e - mean) for w, e in zip(self.weight, errors)]
        return inside + [MEAN_ERROR_WEIGHT * mean * math.sqrt(sum(w * w for w in self.weight))]


def load(paths, library):
    """The cases of reports with at least two candidates that were measured and that this build knows."""
    cases = []
    for path in paths:
        document = json.loads(Path(path).read_text())
        which = {name: document.get(name, False) for name in ("random", "views", "reductions", "scans", "stencils")}
        session = library.open("sim", document["seed"], **which)
        listed = library.cases(document["seed"], **which)
        numbers = {case["label"]: index for index, case in enumerate(listed)}
        made = [Case(result, document["chip"], session, numbers[result["label"]]) for result in document["results"]
                if result["label"] in numbers]
        cases += [case for case in made if len(case.us) > 1]
    if not cases:
        sys.exit("fit.py: no case of these files was measured, or this build knows none of their kernels")
    return cases


def solve(matrix, right):
    """Solves matrix · x = right by Gaussian elimination, which changes both arguments."""
    n = len(right)
    for k in range(n):
        pivot = max(range(k, n), key=lambda row: abs(matrix[row][k]))
        matrix[k], matrix[pivot], right[k], right[pivot] = matrix[pivot], matrix[k], right[pivot], right[k]
        for row in range(k + 1, n):
            factor = matrix[row][k] / matrix[k][k]
            if factor:
                matrix[row] = [a - factor * b for a, b in zip(matrix[row], matrix[k])]
                right[row] -= factor * right[k]
    result = [0.0] * n
    for k in reversed(range(n)):
        rest = sum(matrix[k][j] * result[j] for j in range(k + 1, n))
        result[k] = (right[k] - rest) / matrix[k][k]
    return result


def fit(cases, start, fixed=()):
    """Fits by the Levenberg-Marquardt method on the constants' logarithms, which keeps them positive. The loss of
    residuals above 5 % grows linearly, not quadratically, so that effects outside of the model do not distort the
    constants. Constants named in `fixed` do not change."""
    names = [name for name in start if name not in fixed]

    def residuals(x):
        constants = {**start, **{name: math.exp(value) for name, value in zip(names, x)}}
        return [r for case in cases for r in case.residuals(constants)]

    def robust(values):
        return [1 / math.sqrt(math.sqrt(1 + (r / 0.05)**2)) for r in values]

    def cost(values, x):
        loss = sum(0.05**2 * 2 * (math.sqrt(1 + (r / 0.05)**2) - 1) for r in values)
        return loss + sum((PRIOR * (a - b))**2 for a, b in zip(x, first))

    first = [math.log(start[name]) for name in names]
    x, damping = list(first), 1e-2
    values = residuals(x)
    for _ in range(STEPS):
        weights = robust(values)
        columns = []
        for k in range(len(x)):
            moved = list(x)
            moved[k] += 1e-4
            columns.append([w * (b - a) / 1e-4 for w, a, b in zip(weights, values, residuals(moved))])
        weighted = [w * r for w, r in zip(weights, values)]
        normal_matrix = [[sum(a * b for a, b in zip(one, other)) for other in columns] for one in columns]
        gradient = [sum(a * b for a, b in zip(one, weighted)) for one in columns]
        for k in range(len(x)):
            normal_matrix[k][k] += PRIOR**2
            gradient[k] += PRIOR**2 * (x[k] - first[k])
        before = cost(values, x)
        while damping < 1e6:
            system = [row[:] for row in normal_matrix]
            for k in range(len(x)):
                system[k][k] *= 1 + damping
            step = solve(system, [-s for s in gradient])
            trial = [a + max(-1, min(1, s)) for a, s in zip(x, step)]
            new = residuals(trial)
            if cost(new, trial) < before:
                break
            damping *= 4
        else:
            break
        gain = 1 - cost(new, trial) / before
        x, values, damping = trial, new, damping / 4
        if gain < 1e-4:
            break
    return {**start, **{name: math.exp(value) for name, value in zip(names, x)}}


def quantile(values, q):
    return sorted(values)[int(q * (len(values) - 1))]


def judge(title, cases, constants):
    regrets = [case.regret(case.predicted(constants)) for case in cases]
    share = sum(r <= GOOD for r in regrets) / len(regrets)
    print(f"{title:<34}{len(cases):>6} cases, {100 * share:5.1f} % within 3 % of the best, "
          f"{sum(regrets) / len(regrets):.3f} in the mean, {max(regrets):.2f} at worst")
    return sorted(zip(regrets, cases), key=lambda pair: -pair[0])


def print_errors(cases, constants):
    ratios = {}
    for case in cases:
        for one, us, predicted in zip(case.candidates, case.us, case.predicted(constants)):
            ratios.setdefault(one["family"], []).append(us / predicted)
    print(f"\n{'measured/predicted':<20}{'kernels':>8}" + "".join(f"{q:>8}" for q in ("10 %", "median", "90 %")))
    for family, values in sorted(ratios.items()):
        print(f"{family:<20}{len(values):>8}" + "".join(f"{quantile(values, q):8.2f}" for q in (0.1, 0.5, 0.9)))


def write_times(cases, path):
    """Writes the file of measured times that tests/plan/choices_test.cpp uses, one case in each line."""
    lines = [json.dumps({**case.record,
                         "us": {one["choice"]: round(us, 2) for one, us in zip(case.candidates, case.us)}})
             for case in cases]
    Path(path).write_text("[\n" + ",\n".join(lines) + "\n]\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measured", nargs="+", help="JSON of tmajit-movement --model")
    parser.add_argument("--library", help="libtmajit_movement.so [$TMAJIT_MOVEMENT_LIBRARY, or the build's]")
    parser.add_argument("--header", default=HEADER, type=Path, help="the header with the constants")
    parser.add_argument("--held-out", default=0.3, type=float, help="part of the cases that is held out [0.3]")
    parser.add_argument("--seed", default=1, type=int, help="seed of the choice of held-out cases [1]")
    parser.add_argument("--fix", default="", metavar="NAMES", help="constants that do not change, separated by commas: those "
                        "that these measurements do not depend on")
    parser.add_argument("--write", action="store_true", help="write the constants fitted to all cases to the header")
    parser.add_argument("--keep", metavar="FILE", help="write the measured times to this file of the tests")
    options = parser.parse_args()

    text = options.header.read_text()
    start = {name: float(value) for name, value, _ in CONSTANT.findall(text)}
    start = {name: value for name, value in start.items() if name not in FIXED}
    cases = load(options.measured, Library(find(options.library)))
    fixed = [name for name in options.fix.split(",") if name]
    if unknown := set(fixed) - set(start):
        sys.exit(f"fit.py: --fix: there is no constant {', '.join(sorted(unknown))}; the header has {', '.join(start)}")
    if options.keep:
        write_times(cases, options.keep)
    order = sorted(cases, key=lambda case: case.label)
    random.Random(options.seed).shuffle(order)
    cut = round(options.held_out * len(order))
    held_out, fitted = order[:cut], order[cut:]

    judge("constants of the header", cases, start)
    if fitted and held_out:
        constants = fit(fitted, start, fixed)
        judge("fitted constants, fitted cases", fitted, constants)
        judge("fitted constants, held-out cases", held_out, constants)
    constants = fit(cases, start, fixed)
    worst = judge("fitted to all", cases, constants)
    print_errors(cases, constants)
    print("\nThe worst choices:")
    for regret, case in worst[:10]:
        predicted = case.predicted(constants)
        chosen = case.chosen(predicted)
        best = min(range(len(predicted)), key=lambda i: case.us[i])
        print(f"{regret:6.3f}  {case.label}")
        for name, i in (("chosen", chosen), ("best", best)):
            print(f"          {name:<7}{case.candidates[i]['choice']:<60}{predicted[i]:9.1f} predicted"
                  f"{case.us[i]:9.1f} measured")
    print()
    for name, value in constants.items():
        print(f"    .{name} = {value:.4g},")
    if options.write:
        options.header.write_text(CONSTANT.sub(
            lambda m: f"  double {m[1]} = {constants[m[1]]:.4g};{m[3]}///<" if m[1] in constants else m[0], text))
        print(f"\nwritten to {options.header}")


if __name__ == "__main__":
    main()
