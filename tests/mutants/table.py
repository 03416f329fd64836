"""Reads table/, the table of mutants and correct variants: the kernel, the edit, and the rules that must report it.

Each group of kernels has a file, with lines of these forms:

    [KERNEL]                                      a kernel of kernels.py, to which the lines below apply
    KIND | EDIT | RULE OF LINT | RULE OF THE RUN  a mistake, with the rules of lint's first finding and of the run's first
                                                  report, "-" for none. "(random)" after the latter: only a run in mode random
                                                  reports it. ", RULE" adds a rule that names the cause in other modes and seeds
    KIND | EDIT | … | … | WORDS                   the same; also, the first report in every mode with every seed contains WORDS
    correct | HOW | EDIT                          a correct variant: no finding, and no report in any mode with any seed

edits.py documents the edits.
"""

from __future__ import annotations

import dataclasses
import functools
import pathlib
import re

FOLDER = pathlib.Path(__file__).with_name("table")
CORRECT = "correct"


@dataclasses.dataclass(frozen=True)
class Row:
    group: str  # group of kernels, which is the file's name
    line: int
    kernel: str
    kind: str  # kind of mistake, or "correct"
    edit: str
    lint: str = "-"  # the rule of lint's first finding; "-" if it finds nothing
    run: str = "-"  # the rule of the simulated device's first report
    also: tuple[str, ...] = ()  # other rules that name the cause
    words: str = ""  # text in the first report of every run; empty: only runs in the default mode are checked
    remark: str = ""  # for a correct variant: how it differs from the kernel

    @property
    def correct(self) -> bool:
        return self.kind == CORRECT

    @property
    def causes(self) -> set[str]:
        """The rules that name the cause, in any mode."""
        return {self.run.removesuffix(" (random)"), self.lint, *self.also} - {"-"}

    @property
    def place(self) -> str:
        return f"{self.group}.txt:{self.line}"


def _rows(path: pathlib.Path) -> list[Row]:
    result: list[Row] = []
    kernel = ""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if heading := re.fullmatch(r"\[([\w.]+)\]", line):
            kernel = heading.group(1)
            continue
        cells = [cell.strip() for cell in line.split(" | ")]
        if cells[0] == CORRECT and len(cells) == 3:
            result.append(Row(path.stem, number, kernel, cells[0], cells[2], remark=cells[1]))
        elif cells[0] != CORRECT and len(cells) in (4, 5) and cells[2:4] != ["-", "-"]:
            run, *also = cells[3].split(", ")
            result.append(Row(path.stem, number, kernel, *cells[:3], run, tuple(also), *cells[4:]))
        else:
            raise ValueError(f"{path.name}:{number}: a row is KIND | EDIT | RULE OF LINT | RULE OF THE RUN, or correct | HOW | EDIT")
    return result


@functools.cache
def rows() -> tuple[Row, ...]:
    """All rows of the table. Raises ValueError for a malformed line."""
    return tuple(row for path in sorted(FOLDER.glob("*.txt")) for row in _rows(path))


def markdown() -> str:
    """The table in docs/check.md: for each kind of mistake, the number of mutants in kernels of each origin, and the rules
    that report it first."""
    mutants = [row for row in rows() if not row.correct]
    columns = {"in tmajit's kernels": ("own",), "in the style of other projects": ("style",), "in other projects' kernels": ("cuda", "triton", "cutlass", "public")}
    lines = ["| mistake | " + " | ".join(columns) + " | reported first by |", "| --- |" + " ---: |" * len(columns) + " --- |"]
    for kind in sorted({row.kind for row in mutants}):
        rows_of_kind = [row for row in mutants if row.kind == kind]
        counts = [sum(row.group in groups for row in rows_of_kind) for groups in columns.values()]
        rules = sorted({rule for row in rows_of_kind for rule in (row.lint, row.run) if rule != "-"})
        lines.append(f"| {kind} | {' | '.join(map(str, counts))} | {', '.join(f'`{rule}`' for rule in rules)} |")
    return "\n".join(lines) + "\n"
