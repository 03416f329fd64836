"""The table of mutants and of correct variants, table.txt: which kernel, what is changed, which rule names it."""

from __future__ import annotations

import dataclasses
import pathlib
import re

PATH = pathlib.Path(__file__).with_name("table.txt")
CORRECT = "correct"


@dataclasses.dataclass(frozen=True)
class Row:
    line: int
    kernel: str
    kind: str  # of mistake, or "correct"
    edit: str
    lint: str = "-"  # the rule of lint's first finding; "-" if it finds nothing
    run: str = "-"  # of the first report of the simulated device
    remark: str = ""  # of a correct variant: what it does in another way

    @property
    def correct(self) -> bool:
        return self.kind == CORRECT


def rows(text: str | None = None) -> list[Row]:
    """Raises ValueError where a line is not a row."""
    result: list[Row] = []
    kernel = ""
    for number, line in enumerate((text or PATH.read_text()).splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if heading := re.fullmatch(r"\[([\w.]+)\]", line):
            kernel = heading.group(1)
            continue
        cells = [cell.strip() for cell in line.split(" | ")]
        if cells[0] == CORRECT and len(cells) == 3:
            result.append(Row(number, kernel, cells[0], cells[2], remark=cells[1]))
        elif cells[0] != CORRECT and len(cells) == 4 and cells[2:] != ["-", "-"]:
            result.append(Row(number, kernel, *cells))
        else:
            raise ValueError(f"table.txt:{number}: a row is KIND | EDIT | RULE OF LINT | RULE OF THE RUN, or correct | WHAT | EDIT")
    return result


def markdown(mutants: list[Row], own: set[str]) -> str:
    """What docs/check.md shows: a line for each kind, how often in kernels of tmajit and of others, what names it first."""
    lines = ["| mistake | kernels of ours | of others | named first by |", "| --- | ---: | ---: | --- |"]
    for kind in sorted({row.kind for row in mutants}):
        those = [row for row in mutants if row.kind == kind]
        ours = sum(row.kernel in own for row in those)
        rules = sorted({rule for row in those for rule in (row.lint, row.run) if rule != "-"})
        lines.append(f"| {kind} | {ours} | {len(those) - ours} | {', '.join(f'`{rule}`' for rule in rules)} |")
    return "\n".join(lines) + "\n"
