"""The table of mutants and of correct variants, table/: which kernel, what is changed, which rule names it.

A file for each group of kernels, of lines

    [KERNEL]                                      one of kernels.py
    KIND | EDIT | RULE OF LINT | RULE OF THE RUN  a mistake; what lint says first of it, and what a run reports first, "-" for
                                                  nothing; "(random)" where that takes another mode than the default;
                                                  ", RULE" for each that names the cause in another mode or by another seed
    KIND | EDIT | … | … | WORDS                   the same, and in every mode with every seed the first report has WORDS in it:
                                                  what names the cause
    correct | IN OTHER WORDS | EDIT               says the same: no finding, and no report in any mode with any seed

edits.py says what edits there are.
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
    group: str  # of kernels, and the file's name
    line: int
    kernel: str
    kind: str  # of mistake, or "correct"
    edit: str
    lint: str = "-"  # the rule of lint's first finding; "-" if it finds nothing
    run: str = "-"  # of the first report of the simulated device
    also: tuple[str, ...] = ()  # rules that name the cause as well
    words: str = ""  # that name the cause in the first report of every run; empty: only the default run is looked at
    remark: str = ""  # of a correct variant: what it does in another way

    @property
    def correct(self) -> bool:
        return self.kind == CORRECT

    @property
    def causes(self) -> set[str]:
        """The rules that name the cause, for a run in any mode."""
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
            raise ValueError(f"{path.name}:{number}: a row is KIND | EDIT | RULE OF LINT | RULE OF THE RUN, or correct | WHAT | EDIT")
    return result


@functools.cache
def rows() -> tuple[Row, ...]:
    """Raises ValueError where a line is not a row."""
    return tuple(row for path in sorted(FOLDER.glob("*.txt")) for row in _rows(path))


def markdown() -> str:
    """What docs/check.md shows: a line for each kind, how often in kernels of whom, what names it first."""
    mutants = [row for row in rows() if not row.correct]
    columns = {"kernels of ours": ("own",), "in the way of others": ("style",), "of others": ("cuda", "triton", "cutlass", "public")}
    lines = ["| mistake | " + " | ".join(columns) + " | named first by |", "| --- |" + " ---: |" * len(columns) + " --- |"]
    for kind in sorted({row.kind for row in mutants}):
        those = [row for row in mutants if row.kind == kind]
        counts = [sum(row.group in groups for row in those) for groups in columns.values()]
        rules = sorted({rule for row in those for rule in (row.lint, row.run) if rule != "-"})
        lines.append(f"| {kind} | {' | '.join(map(str, counts))} | {', '.join(f'`{rule}`' for rule in rules)} |")
    return "\n".join(lines) + "\n"
