"""Mutants of a kernel in a whole program of another project. The program is linked with tmajit::cudart_sim and runs with the
mutant's PTX in place of its own. The first report of its launches is the result of the run."""

from __future__ import annotations

import os
import pathlib
import subprocess

from kernel import Bench, Kernel, Tools

SECONDS = 300


class ProgramBench(Bench):
    """Runs `program`, a Program of tests/foreign, with the last of its lists of arguments. The executable `program` is in the
    folder of the PTX."""

    def __init__(self, kernel: Kernel, tools: Tools, program):
        super().__init__(kernel, tools)
        self._program = program

    def run(self, ptx: pathlib.Path, launch: pathlib.Path, mode: str, seed: int) -> tuple[str, str]:
        from run_case import unknown_reports

        reports = ptx.with_suffix(f".{mode}.{seed}.json")
        reports.write_text("")
        environment = {"TMAJIT_PTX": ptx, "TMAJIT_REPORTS": reports, "TMAJIT_SIM_MODE": mode, "TMAJIT_SIM_SEED": seed}
        arguments, times = self._program.runs[-1]
        try:
            done = subprocess.run(
                [str(ptx.parent / "program"), *arguments.split()],
                cwd=ptx.parent,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                env={**os.environ, **{name: str(value) for name, value in environment.items()}},
            )
        except subprocess.TimeoutExpired:
            return "no end", f"after {SECONDS} s"
        found = unknown_reports(reports, self._program.known)
        if found:
            return found[0][0], "; ".join(words for _, words in found[:3])[:600]
        if done.returncode != 0 or done.stdout.count(self._program.right) != times:
            return "wrong", (done.stdout + done.stderr).strip()[-300:]
        return "-", ""
