"""Makes a case's PTX, lints it, runs it on the simulated device, and compares the results."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import resource
import subprocess
import tempfile
import threading
import time

import numpy

from case import Case, CannotMake, Known, Program, Tools

# Limits of time and memory for lint and runs, which must end in a user's CI.
LINT_SECONDS, LINT_BYTES = 30, 2 << 30
RUN_SECONDS, RUN_BYTES = 300, 4 << 30
DTYPES = {"int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64"}


@dataclasses.dataclass
class Row:
    """A row of the table."""

    name: str
    lines: int = 0  # lines of PTX
    entries: int = 0
    parsed: str = "-"
    findings: int = 0  # findings of rules that are not in Case.known
    known: int = 0  # findings of rules in Case.known
    lint_seconds: float = 0.0
    lint_mib: float = 0.0
    # "right"; "wrong"; "reports": the device reported errors; "named": the device reported the kernel's real mistakes
    # (Case.mistakes); "open": the device lacks a feature (Case.missing); "no longer open": it has this feature by now;
    # "-": nothing was run
    run: str = "-"
    run_seconds: float = 0.0
    notes: list[str] = dataclasses.field(default_factory=list)

    @property
    def good(self) -> bool:
        return self.parsed == "yes" and self.findings == 0 and self.run in ("right", "named", "open", "-")


def _limited(command: list, seconds: int, size: int, folder: pathlib.Path, environment: dict[str, str] = {}):
    """Runs a command for at most `seconds` with at most `size` bytes of memory. Returns exit code (None for a timeout),
    standard output, standard error, seconds, and the largest resident size in MiB."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (size, size))

    start = time.monotonic()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(
            [str(each) for each in command],
            stdout=out,
            stderr=err,
            preexec_fn=limit,
            cwd=folder,
            env={**os.environ, **environment},
        )
        timer = threading.Timer(seconds, process.kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        taken = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        code = None if taken >= seconds and process.returncode < 0 else process.returncode
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read())
    if code is None:
        texts[1] = f"took over {seconds} s"
    return code, texts[0], texts[1], taken, usage.ru_maxrss / 1024


def _lint(case: Case, ptx: pathlib.Path, tools: Tools, row: Row) -> None:
    command = [tools.jitc, "lint", ptx, "--json"]
    code, out, err, row.lint_seconds, row.lint_mib = _limited(command, LINT_SECONDS, LINT_BYTES, ptx.parent)
    try:
        result = json.loads(out)
    except ValueError:
        row.parsed = "no"
        row.notes.append(f"lint ended with {code}: {err.strip()[-200:]}")
        return
    row.entries = len(result.get("kernels", []))
    findings = result.get("findings", [])
    unknown = [each for each in findings if each["rule"] in ("syntax", "name")]
    row.parsed = "no" if unknown else "yes"
    for finding in findings:
        if finding["rule"] in case.known:
            row.known += 1
            continue
        row.findings += 1
        if row.findings <= 3:
            row.notes.append(f"{finding['rule']} at line {finding.get('ptx_line', 0)}: {finding['found']}"[:240])
    if result.get("unfinished"):
        row.notes.append(f"{len(result['unfinished'])} checks unfinished")


def write_launch_description(case: Case, ptx: pathlib.Path, folder: pathlib.Path):
    """Writes the launch description and the files that it reads. Returns the launch and the description's path."""
    launch = case.launch()
    description = json.loads(json.dumps(launch.description))
    if (folder / "shared_bytes").exists():
        description["shared_bytes"] = int((folder / "shared_bytes").read_text())
    if (folder / "threads").exists():
        description["block"] = int((folder / "threads").read_text())
    for name, array in launch.inputs.items():
        numpy.save(folder / f"{name}.npy", array)
        description["buffers"][name]["in"] = f"{name}.npy"
    for name, array in launch.expected.items():
        buffer = description["buffers"][name]
        buffer["out"] = f"{name}.out.npy"
        if name not in launch.inputs:
            dtype = DTYPES.get(array.dtype.name, array.dtype.name.replace("uint", "u").replace("float", "f"))
            buffer.update({"dtype": dtype, "shape": list(array.shape)})
    path = folder / "launch.json"
    path.write_text(json.dumps(description, indent=1))
    return launch, path


def _difference(got: numpy.ndarray, want: numpy.ndarray, tolerance: float) -> str:
    """Describes how `got` differs from `want`. Empty if they agree."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"has {got.dtype}{list(got.shape)}, not {want.dtype}{list(want.shape)}"
    if tolerance == 0.0:
        wrong = ~((got == want) | ((got != got) & (want != want)))
    else:
        largest = numpy.abs(want.astype(numpy.float64)).max()
        wrong = ~(numpy.abs(got.astype(numpy.float64) - want.astype(numpy.float64)) <= tolerance * largest)
    if not wrong.any():
        return ""
    at = tuple(int(each[0]) for each in numpy.nonzero(wrong))
    return f"{int(wrong.sum())} of {wrong.size} are wrong, first [{','.join(map(str, at))}]: {got[at]}, not {want[at]}"


def _run(case: Case, ptx: pathlib.Path, tools: Tools, row: Row) -> None:
    folder = ptx.parent
    launch, description = write_launch_description(case, ptx, folder)
    command = [tools.jitc, "run", "--ptx", ptx, "--launch", description, "--json"]
    if case.known:
        command += ["--allow", ",".join(case.known)]
    code, out, err, row.run_seconds, _ = _limited(command, RUN_SECONDS, RUN_BYTES, folder)
    if code != 0:
        row.run = "reports"
        try:
            result = json.loads(out)
            reports = result.get("run", {}).get("simulation", {}).get("reports", [])
            if reports and {each["rule"] for each in reports} <= case.mistakes.keys():
                row.run = "named"
                row.notes += [f"{rule}: {why}" for rule, why in case.mistakes.items()]
                return
            words = [f"{each['rule']} at line {each.get('ptx_line', 0)}: {each.get('found', '')}" for each in reports[:3]]
            row.notes += [each[:240] for each in words or [str(result.get("error", code))[:240]]]
        except ValueError:
            row.notes.append(f"jitc run ended with {code}: {err.strip()[-200:]}")
        return
    wrong = []
    for name, want in launch.expected.items():
        words = _difference(numpy.load(folder / f"{name}.out.npy"), want, launch.tolerance)
        if words:
            wrong.append(f"{name}: {words}")
    row.run = "wrong" if wrong else "right"
    row.notes += wrong


def unknown_reports(file: pathlib.Path, known: tuple[Known, ...]) -> list[tuple[str, str]]:
    """The rule and the text of each report in the file that is not one of `known`."""
    unknown = []
    for line in file.read_text().splitlines():
        report = json.loads(line)
        rule = report["rule"]
        if not any(rule == each.rule and each.kernel in report["kernel"] for each in known):
            unknown.append((rule, f"{rule} at line {report['ptx_line']}: {report['found']}"))
    return unknown


def _run_program(program: Program, mistakes: dict[str, str], ptx: pathlib.Path, row: Row) -> None:
    reports = ptx.parent / "reports.json"
    # As many host threads as cores (0): the order of the reports does not matter here.
    environment = {"TMAJIT_PTX": str(ptx), "TMAJIT_REPORTS": str(reports), "TMAJIT_SIM_THREADS": "0"}
    row.run = "right"
    for arguments, times in program.runs:
        reports.write_text("")
        command = [ptx.parent / "program", *arguments.split()]
        code, out, err, seconds, _ = _limited(command, RUN_SECONDS, RUN_BYTES, ptx.parent, environment)
        row.run_seconds += seconds
        unknown = unknown_reports(reports, program.known)
        if unknown and {rule for rule, _ in unknown} <= mistakes.keys():
            row.run = "named"
            row.notes += [f"{rule}: {why}" for rule, why in mistakes.items()]
            return
        row.notes += [f"{arguments}: {words}"[:240] for _, words in unknown[:3]]
        printed = out.count(program.right)
        if code != 0 or printed != times:
            last = " ".join((out + err).split())[-200:]
            row.notes.append(f"{arguments}: exit code {code}; printed '{program.right}' {printed} times, not {times}: {last}")
            row.run = "wrong"
        elif unknown and row.run == "right":
            row.run = "reports"


def run_case(case: Case, tools: Tools, folder: pathlib.Path) -> Row:
    folder.mkdir(parents=True, exist_ok=True)
    row = Row(case.name)
    try:
        ptx = case.make(tools, folder)
    except CannotMake as reason:
        row.notes.append(f"not made: {reason}")
        return row
    row.lines = ptx.read_text(errors="replace").count("\n")
    _lint(case, ptx, tools, row)
    if case.launch is not None and row.parsed == "yes":
        _run(case, ptx, tools, row)
        if case.missing:
            row.notes = [f"missing: {case.missing}"]
            row.run = "no longer open" if row.run == "right" else "open"
    if case.program is not None and row.parsed == "yes":
        _run_program(case.program, case.mistakes, ptx, row)
    return row
