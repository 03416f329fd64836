"""A kernel from which mutants and correct variants are made: its PTX, its launch, and the findings of lint and of runs."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import re
import subprocess
from typing import Callable, Optional

import edits

MODES = ("late", "early", "random")
SEEDS = (1, 2, 3, 4, 5)
# Limit of warp instructions per CTA. The longest correct kernel takes a few thousand.
LIMIT = 1_000_000


class CannotMake(Exception):
    """The PTX could not be made. The text is the reason."""


@dataclasses.dataclass(frozen=True)
class Tools:
    jitc: pathlib.Path
    work: pathlib.Path
    _idle: list[subprocess.Popen] = dataclasses.field(default_factory=list)  # processes that wait for a task

    @property
    def mutant_runs(self) -> pathlib.Path:
        return self.jitc.with_name("mutant_runs")

    def call(self, command: list, folder: pathlib.Path) -> tuple[int, str, str]:
        command = [str(each) for each in [self.jitc, *command]]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout, done.stderr

    def answer(self, *words: object) -> list | str:
        """The answer of mutant_runs to a task, or the text of an error; runs.cpp documents both. Later tasks use the same processes."""
        try:
            runs = self._idle.pop()
        except IndexError:
            runs = subprocess.Popen([self.mutant_runs], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        print(*words, sep="\t", file=runs.stdin, flush=True)
        answer = runs.stdout.readline()
        if not answer:
            return f"mutant_runs ended with exit status {runs.wait()}"
        self._idle.append(runs)
        return json.loads(answer) if answer.startswith("[") else answer.strip()

    def close(self) -> None:
        """Ends the processes."""
        for runs in self._idle:
            runs.communicate()


@dataclasses.dataclass(frozen=True)
class Kernel:
    """A kernel with its launch description. `source` is CUDA C++ or PTX. Without it, `make` writes the PTX into a folder and
    returns its path and the description."""

    name: str
    group: str  # "own", "style" (written here in the style of other projects), "cuda", "triton", "cutlass", "public"
    description: dict = dataclasses.field(default_factory=dict)
    source: Optional[pathlib.Path] = None
    make: Optional[Callable[[pathlib.Path], tuple[pathlib.Path, dict]]] = None
    allowed: tuple[str, ...] = ()  # rules that this kernel is known to break
    program: Optional[object] = None  # the Program of tests/foreign that launches the kernel, if it is part of one


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The rules of lint's first finding and of the run's first report ("-" if there is none), and their texts."""

    lint: str
    run: str
    texts: str


class Bench:
    """Makes the PTX of a kernel's variants, and lints and runs them. Compiles the unchanged kernel only once."""

    def __init__(self, kernel: Kernel, tools: Tools):
        self._kernel, self._tools = kernel, tools
        self._folder = (tools.work / kernel.name).resolve()
        self._folder.mkdir(parents=True, exist_ok=True)
        self._base: Optional[tuple[str, dict]] = None
        self._mangled: Optional[str] = None

    def base(self) -> tuple[str, dict]:
        """The PTX and launch description of the unchanged kernel."""
        if self._base is None:
            if self._kernel.make is not None:
                path, description = self._kernel.make(self._folder)
                self._base = path.read_text(), description
            elif self._kernel.source.suffix == ".ptx":
                self._base = self._kernel.source.read_text(), self._kernel.description
            else:
                self._base = self._compiled(self._kernel.source.read_text(), self._kernel.description, "base"), self._kernel.description
        return self._base

    def variant(self, edit: str, name: str) -> tuple[pathlib.Path, pathlib.Path]:
        """The files of a variant: its PTX and its launch description. Raises EditError or CannotMake."""
        steps = edits.parse(edit) if edit else []
        description = edits.edit_launch(steps, self._kernel.description if self._base is None else self._base[1])
        compiles = self._kernel.source is not None and self._kernel.source.suffix != ".ptx"
        changes_source = any(step.where == "cu" or step.text.startswith("constants") for step in steps)
        if changes_source and compiles:
            ptx = self._compiled(edits.edit_source(steps, self._kernel.source.read_text()), description, name)
        else:
            if any(step.where == "cu" for step in steps):
                raise edits.EditError("this kernel has no source")
            ptx, base_description = self.base()
            description = edits.edit_launch(steps, base_description)
        ptx = edits.edit_ptx(steps, ptx, self._entry(ptx, description["entry"]))
        path, launch = self._folder / f"{name}.ptx", self._folder / f"{name}.json"
        path.write_text(ptx)
        # The PTX is compiled, so its launch needs no constants and include folders.
        launch.write_text(json.dumps({key: value for key, value in description.items() if key not in ("constants", "include")}))
        return path, launch

    def _entry(self, ptx: str, name: str) -> str:
        """The entry's name in the PTX. `name` may be a part of the demangled name, as in a launch description."""
        stem = re.sub(r"<.*", "", name)
        if edits.has_entry(ptx, stem):
            return stem
        if self._mangled is None:
            path = self._folder / "entry.ptx"
            path.write_text(ptx)
            _, out, errors = self._tools.call(["lint", path, "--entry", name, "--json"], self._folder)
            try:
                (self._mangled,) = json.loads(out)["kernels"]
            except ValueError:
                raise CannotMake(f"{name} is no entry: {errors.strip()[-200:]}") from None
        return self._mangled

    def _compiled(self, source: str, description: dict, name: str) -> str:
        """The PTX of a CUDA source; `name` names the files. Raises CannotMake."""
        file, launch = self._folder / f"{name}.cu", self._folder / f"{name}.compile.json"
        file.write_text(source)
        include = [*description.get("include", []), str(self._kernel.source.parent)]
        launch.write_text(json.dumps({**description, "include": include}))
        path = self._folder / f"{name}.made.ptx"
        error = self._tools.answer(file, launch, path)
        if isinstance(error, str):
            raise CannotMake(error[-600:])
        return path.read_text()

    def outcome(self, ptx: pathlib.Path, launch: pathlib.Path) -> Outcome:
        """Lint's first finding, and the first report of a run in the default mode or else in mode random."""
        lint, found = self.lint(ptx, launch)
        run, reported = self.run(ptx, launch, "late", 1)
        if run == "-":
            run, reported = self.run(ptx, launch, "random", 1)
            run += "" if run == "-" else " (random)"
        return Outcome(lint, run, f"lint: {found}\nrun: {reported}")

    def lint(self, ptx: pathlib.Path, launch: pathlib.Path) -> tuple[str, str]:
        command = ["lint", ptx, "--json"]
        description, text = json.loads(launch.read_text()), ptx.read_text()
        # A plain number as --map would mean the parameter of that number in every entry.
        name = "" if text.count(".entry") == 1 else f"{self._entry(text, description['entry'])}_param_"
        for place, facts in _maps(description):
            command += ["--map", f"{name}{place}={facts}"]
        if self._kernel.allowed:
            command += ["--allow", ",".join(self._kernel.allowed)]
        code, out, errors = self._tools.call(command, self._folder)
        if code not in (0, 1):
            return f"exit code {code}", errors.strip()
        findings = json.loads(out)["findings"]
        return (findings[0]["rule"], _words(findings)) if findings else ("-", "")

    def run(self, ptx: pathlib.Path, launch: pathlib.Path, mode: str, seed: int) -> tuple[str, str]:
        """The rule of the first report ("-" if there is none) and the texts of the first three."""
        rule, reports = self.reports(ptx, launch, mode, seed)
        return rule, _words(reports) if isinstance(reports, list) else reports

    def reports(self, ptx: pathlib.Path, launch: pathlib.Path, mode: str, seed: int) -> tuple[str, list | str]:
        """The rule of the first report ("-" if there is none) and all reports; or "error" and its text."""
        reports = self._tools.answer(ptx, launch, ",".join(self._kernel.allowed), LIMIT, mode, seed)
        if isinstance(reports, str):
            return "error", reports[-400:]
        return reports[0]["rule"] if reports else "-", reports


def _words(findings: list) -> str:
    return "; ".join(f"{each['rule']}, line {each['ptx_line']}: {each['found']}" for each in findings[:3])[:600]


def _maps(description: dict):
    """For each tensor map, the parts of lint's option --map: the parameter's number and offset, and the map's facts."""
    for number, parameter in enumerate(description["parameters"]):
        fields = parameter.get("struct", [parameter])
        for field in fields:
            if "tensor_map" not in field or "pixel_box" in field["tensor_map"]:
                continue
            box, buffer = field["tensor_map"], description["buffers"][field["tensor_map"]["buffer"]]
            if not all(isinstance(extent, int) for extent in box["box"]) or "dtype" not in {**buffer, **box}:
                continue
            place = f"{number}+{field['at']}" if field is not parameter else str(number)
            facts = f"{box.get('dtype', buffer.get('dtype'))}:{'x'.join(map(str, box['box']))}"
            yield place, facts + (f":{box['swizzle']}" if "swizzle" in box else "")
