#!/usr/bin/env python3
"""Tests the table: every mutant must be reported first by the rules in its row, and no correct variant may be reported.

A mutant is linted and run in the simulated device's default mode; the first finding and the first report are compared with its
row. Correct variants and unchanged kernels are linted and run in all modes with five seeds. The exit code is 0 if everything
agrees with the table.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import fnmatch
import os
import pathlib
import sys
import tempfile

import kernels
import table
from edits import EditError
from kernel import MODES, SEEDS, Bench, CannotMake, Tools
from program import ProgramBench

BEGIN, END = "<!-- mutants: begin -->\n", "<!-- mutants: end -->\n"


def _mutant(row: table.Row, bench: Bench) -> list[str]:
    ptx, launch = bench.variant(row.edit, f"line_{row.line}")
    outcome = bench.outcome(ptx, launch)
    if (outcome.lint, outcome.run) == (row.lint, row.run):
        return _runs_without_words(row, ptx, launch, bench) if row.words else []
    return [f"lint says {outcome.lint}, not {row.lint}; the run says {outcome.run}, not {row.run}\n{outcome.texts}"]


def _runs_without_words(row: table.Row, ptx: pathlib.Path, launch: pathlib.Path, bench: Bench) -> list[str]:
    """The runs whose first report does not contain the row's words."""
    problems = []
    for mode in MODES:
        for seed in SEEDS:
            rule, reports = bench.reports(ptx, launch, mode, seed)
            found = reports[0]["found"] if reports and isinstance(reports, list) else reports
            if row.words not in found:
                problems.append(f"mode {mode}, seed {seed}: {rule} says {found}, without {row.words!r}")
    return problems[:3]


def _correct(edit: str, name: str, bench: Bench) -> list[str]:
    ptx, launch = bench.variant(edit, name)
    rule, words = bench.lint(ptx, launch)
    problems = [] if rule == "-" else [f"lint says {rule}: {words}"]
    for mode in MODES:
        for seed in SEEDS:
            rule, words = bench.run(ptx, launch, mode, seed)
            if rule != "-":
                problems.append(f"mode {mode}, seed {seed}: {rule}: {words}")
    return problems[:3]


def _check(row: table.Row | None, name: str, bench: Bench) -> list[str]:
    try:
        if row is None:
            return _correct("", "unchanged", bench)
        return _correct(row.edit, f"line_{row.line}", bench) if row.correct else _mutant(row, bench)
    except (EditError, CannotMake) as error:
        return [str(error)]


def _figures(walks: list, pool: concurrent.futures.Executor) -> list[str]:
    """Prints statistics of the first reports of runs in all modes and seeds. Returns the requirements that are not met."""

    def rules(walk) -> collections.Counter:
        row, bench = walk[1:]
        ptx, launch = bench.variant(row.edit, f"line_{row.line}")
        return collections.Counter(bench.run(ptx, launch, mode, seed)[0] for mode in MODES for seed in SEEDS)

    walks = [walk for walk in walks if walk[1]]
    results = list(zip((row for _, row, _ in walks), pool.map(rules, walks)))
    false_reports = sum(sum(found.values()) - found["-"] for row, found in results if row.correct)
    mutants = [(row, found) for row, found in results if not row.correct]
    runs = sum(sum(found.values()) for _, found in mutants)
    named = runs - sum(found["-"] for _, found in mutants)
    first = sum(found[rule] for row, found in mutants for rule in row.causes)
    never = [row.place for row, found in mutants if found["-"] == sum(found.values()) and row.run != "-"]
    for row, found in mutants:
        if other := {rule: count for rule, count in found.items() if rule not in row.causes}:
            print(f"{row.place}: {row.kernel}: {row.kind}: first reports that do not name the cause: {other}")
    print(f"{len(results) - len(mutants)} correct variants, {false_reports} false reports; {len(mutants)} mistakes, {len(never)} never reported; ", end="")
    print(f"of their {runs} runs {named} report a mistake and {first} report the cause first ({100 * first / max(runs, 1):.1f} %)")
    problems = [f"{false_reports} false reports"] if false_reports else []
    problems += [f"{place}: no run reports the mistake" for place in never]
    return problems + (["fewer than 95 % of the runs report the cause first"] if first < 0.95 * runs else [])


def _check_counts() -> list[str]:
    """Checks the required minimum numbers of rows in the table, and that no row occurs twice."""
    rows = table.rows()
    mutants = [row for row in rows if not row.correct]
    public = [row for row in rows if row.group == "public"]
    counts = {  # found, and at least required
        "mutants": (len(mutants), 160),
        "kinds of mistakes": (len({row.kind for row in mutants}), 40),
        "mutants in kernels not written for tmajit": (sum(row.group != "own" for row in mutants), 80),
        "mutants in kernels of other projects and compilers": (sum(row.group not in ("own", "style") for row in mutants), 80),
        "mutants in kernels of public projects": (sum(not row.correct for row in public), 60),
        "correct variants": (len(rows) - len(mutants), 60),
        "correct variants of kernels of public projects": (sum(row.correct for row in public), 40),
        "kernels": (len({row.kernel for row in rows}), 20),
    }
    print(", ".join(f"{count} {what}" for what, (count, _) in counts.items()))
    twice = [row for row in rows if sum((row.kernel, row.edit) == (each.kernel, each.edit) for each in rows) > 1]
    return [f"{count} {what}, not {least}" for what, (count, least) in counts.items() if count < least] + [
        f"{row.place}: this edit of {row.kernel} occurs twice" for row in twice
    ]


def _check_document(document: pathlib.Path, write: bool) -> list[str]:
    """Compares the table of mistakes in a document with table.markdown(), or writes it there."""
    shown = table.markdown()
    text = document.read_text()
    head, _, rest = text.partition(BEGIN)
    inner, _, tail = rest.partition(END)
    if write:
        document.write_text(head + BEGIN + shown + END + tail)
    elif inner != shown:
        return [f"{document}: the table of mistakes differs from tests/mutants/table; walk.py --write updates it"]
    return []


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jitc", type=pathlib.Path, help="the jitc to test; without it only the table itself is checked")
    parser.add_argument("--work", type=pathlib.Path, help="keep PTX and launch files in this folder [a temporary one]")
    parser.add_argument("--site", type=pathlib.Path, help="folder of unpacked wheels, for kernels of foreign headers")
    parser.add_argument("--nvcc", type=pathlib.Path, help="nvcc, for the groups that need it")
    parser.add_argument("--headers", type=pathlib.Path, action="append", default=[], help="a folder of CCCL's headers")
    parser.add_argument("--group", action="append", choices=kernels.GROUPS, help="only kernels of these groups")
    parser.add_argument("--only", action="append", help="only kernels whose names match, such as 'libcudacxx.*'")
    parser.add_argument("--figures", action="store_true", help="only print statistics of the first reports in all modes and seeds")
    parser.add_argument("--document", type=pathlib.Path, help="a document with a table of the kinds of mistakes")
    parser.add_argument("--write", action="store_true", help="write the table into the document")
    return parser.parse_args()


def _walk(options: argparse.Namespace, work: pathlib.Path) -> list[str]:
    """Tests the rows of the selected kernels, with files in `work`. Returns a line for each difference from the table."""
    problems = []
    tools = Tools(options.jitc.resolve(), work)
    if not tools.mutant_runs.exists():
        return [f"{tools.mutant_runs} is not built; ./tools/test.sh builds it"]
    walks = []
    for kernel in kernels.kernels(options):
        if options.only and not any(fnmatch.fnmatch(kernel.name, each) for each in options.only):
            continue
        bench = Bench(kernel, tools) if kernel.program is None else ProgramBench(kernel, tools, kernel.program)
        try:
            bench.base()
        except (CannotMake, kernels.foreign_error()) as error:
            problems.append(f"{kernel.name}: {error}")
            continue
        walks.append((kernel.name, None, bench))
        walks += [(kernel.name, row, bench) for row in table.rows() if row.kernel == kernel.name]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        if options.figures:
            problems += _figures(walks, pool)
            walks = []
        for (name, row, _), found in zip(walks, pool.map(lambda each: _check(each[1], each[0], each[2]), walks)):
            place = f"{name}: {row.place}: {row.kind}: {row.edit}" if row else f"{name}: unchanged"
            problems += [f"{place}: {each}" for each in found]
    tools.close()
    walked = [row for _, row, _ in walks if row]
    right = sum(row.correct for row in walked)
    if not options.figures:
        print(f"{len(walks) - len(walked)} kernels, {len(walked) - right} mutants, {right} correct variants were tested")
    return problems


def main() -> int:
    options = _options()
    problems = _check_counts()
    if options.document:
        problems += _check_document(options.document, options.write)
    if options.jitc:
        with tempfile.TemporaryDirectory() as temporary:
            problems += _walk(options, options.work or pathlib.Path(temporary))
    for each in problems:
        print(each, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
