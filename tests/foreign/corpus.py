#!/usr/bin/env python3
"""Lints and runs kernels that current compilers and libraries generate for sm_90a, and prints a table of them.

tools/foreign.sh fetches the compilers and libraries and calls this program. The exit code is 0 if every kernel was
parsed, had no unknown finding and gave the right results; 1 if not; 2 for wrong usage.
"""

from __future__ import annotations

import argparse
import fnmatch
import pathlib
import sys

import cuda_cases
import cute_cases
import cutlass_programs
import numba_cases
import public_cases
import samples_programs
import serving_programs
import triton_cases
import triton_language_cases
from case import Tools
from run_case import Row, run_case

HEADINGS = ("kernel", "PTX lines", "entries", "parsed", "findings", "known", "lint s", "MiB", "run", "run s")


def _cells(row: Row) -> tuple[str, ...]:
    if row.parsed == "-":
        return (row.name, "-", "-", "not made", "-", "-", "-", "-", "-", "-")
    return (
        row.name,
        str(row.lines),
        str(row.entries),
        row.parsed,
        str(row.findings),
        str(row.known),
        f"{row.lint_seconds:.2f}",
        f"{row.lint_mib:.0f}",
        row.run,
        f"{row.run_seconds:.2f}" if row.run != "-" else "-",
    )


def _markdown(rows: list[Row]) -> str:
    lines = ["| " + " | ".join(HEADINGS) + " |", "| --- " + "| ---: " * (len(HEADINGS) - 1) + "|"]
    lines += ["| " + " | ".join((f"`{cells[0]}`", *cells[1:])) + " |" for cells in map(_cells, rows)]
    return "\n".join(lines) + "\n"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jitc", type=pathlib.Path, required=True, help="the jitc to test")
    parser.add_argument("--site", type=pathlib.Path, required=True, help="folder of unpacked wheels")
    parser.add_argument("--nvcc", type=pathlib.Path, help="without nvcc the kernels with host code are not made")
    parser.add_argument("--headers", type=pathlib.Path, action="append", default=[], help="a folder of CCCL's or CUDA's headers")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="folder for PTX, launch files and arrays")
    parser.add_argument("--group", action="append", choices=("cuda", "triton", "cutlass", "serving", "samples", "numba", "newer_triton", "public"), help="only these groups")
    parser.add_argument("--only", action="append", help="only kernels whose names match, such as 'cuda.cub_*'")
    parser.add_argument("--list", action="store_true", help="only print the kernels' names")
    parser.add_argument("--markdown", type=pathlib.Path, help="also write the table to this file")
    return parser.parse_args()


def main() -> int:
    options = _options()
    everything = [*cuda_cases.cases(), *triton_cases.cases(), *triton_language_cases.cases(), *cute_cases.cases(), *cutlass_programs.cases()]
    everything += [*serving_programs.cases(), *samples_programs.cases(), *numba_cases.cases(), *public_cases.cases()]
    chosen = [
        case
        for case in everything
        if (not options.group or case.group in options.group)
        and (not options.only or any(fnmatch.fnmatch(case.name, each) for each in options.only))
    ]
    if not chosen:
        print("no kernel has such a name; --list shows them", file=sys.stderr)
        return 2
    if options.list:
        print("\n".join(case.name for case in chosen))
        return 0
    tools = Tools(options.jitc.resolve(), options.site.resolve(), options.nvcc, tuple(options.headers))
    rows = []
    width = max(len(case.name) for case in chosen)
    print(f"{HEADINGS[0]:<{width}}" + "".join(f"{each:>10}" for each in HEADINGS[1:]))
    for case in chosen:
        row = run_case(case, tools, (options.work / case.name).resolve())
        rows.append(row)
        cells = _cells(row)
        print(f"{cells[0]:<{width}}" + "".join(f"{each:>10}" for each in cells[1:]), flush=True)
        for note in row.notes:
            print(f"  {note}", flush=True)
    if options.markdown:
        options.markdown.write_text(_markdown(rows))
    bad = [row for row in rows if not row.good]
    still_open = sum(row.run == "open" for row in rows)
    print(f"{len(rows) - len(bad) - still_open} of {len(rows)} kernels are parsed, clean and right, {still_open} known to be open")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
