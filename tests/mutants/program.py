"""A kernel within a whole program of another project: the program is linked with tmajit::cudart_sim and runs with a variant of its
PTX, and what the launches report first is what a run says."""

from __future__ import annotations

import os
import pathlib
import subprocess

from kernel import Bench, Kernel, Tools

SECONDS = 300


class ProgramBench(Bench):
    """`program` is a Program of tests/foreign; its last arguments are run. Beside the PTX lies the program itself."""

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
