"""Edits of a kernel's text, each written in one line. They make a mutant or a correct variant.

An edit is one or more steps separated by " && ":

    drop TEXT               removes the lines that contain TEXT
    twice TEXT              doubles these lines
    swap TEXT => OTHER      replaces TEXT by OTHER, once in each of these lines
    add K N TEXT            replaces the K-th 32-bit register of these lines, counted from 0, by a register that holds N more
    before TEXT => LINE     inserts LINE before each of these lines
    after TEXT => LINE      inserts LINE after each of these lines

" @N" at the end of a step selects only the N-th of these lines, counted from 0; -1 is the last. Steps change the entry's PTX.
Steps that begin with "cu:" change the CUDA source, and "launch KEY JSON" changes the launch description.
"""

from __future__ import annotations

import dataclasses
import json
import re


class EditError(Exception):
    """An edit that cannot be parsed, or that changes nothing."""


@dataclasses.dataclass(frozen=True)
class Step:
    where: str  # "ptx", "cu" or "launch"
    verb: str
    text: str  # the text that lines must contain; of a launch: the key, with dots between nested keys
    other: str = ""  # the second operand: OTHER, LINE, "K N", or the JSON value of a launch
    nth: int | None = None  # selects one of the lines; None: all

    def apply(self, text: str) -> str:
        lines = text.split("\n")
        matches = [at for at, line in enumerate(lines) if self.text in line]
        if not matches:
            raise EditError(f"no line has {self.text!r}")
        if self.nth is not None:
            try:
                matches = [matches[self.nth]]
            except IndexError:
                raise EditError(f"{len(matches)} lines have {self.text!r}, which is too few for @{self.nth}") from None
        for at in matches:
            lines[at] = self._changed(lines[at])
        return "\n".join(lines)

    def _changed(self, line: str) -> str:
        if self.verb == "drop":
            return ""
        if self.verb == "twice":
            return f"{line}\n{line}"
        if self.verb == "swap":
            return line.replace(self.text, self.other, 1)
        if self.verb == "before":
            return f"{self.other}\n{line}"
        if self.verb == "after":
            return f"{line}\n{self.other}"
        return _with_changed_register(line, *self.other.split())


def _with_changed_register(line: str, which: str, amount: str) -> str:
    """The line with its register number `which` replaced by a register that holds `amount` more."""
    registers = list(re.finditer(r"%r\d+", line))
    if int(which) >= len(registers):
        raise EditError(f"no register {which} in {line.strip()!r}")
    register = registers[int(which)]
    changed = line[: register.start()] + "%changed" + line[register.end() :]
    return f"{{\n.reg .b32 %changed;\nadd.s32 %changed, {register.group()}, {amount};\n{changed}\n}}"


def parse(text: str) -> list[Step]:
    return [_step(each.strip()) for each in text.split(" && ")]


def _step(text: str) -> Step:
    if text.startswith("launch "):
        _, key, value = text.split(" ", 2)
        return Step("launch", "set", key, value)
    where, rest = ("cu", text[3:].strip()) if text.startswith("cu:") else ("ptx", text)
    nth = None
    if at := re.search(r" @(-?\d+)$", rest):
        nth, rest = int(at.group(1)), rest[: at.start()]
    verb, _, rest = rest.partition(" ")
    if verb in ("drop", "twice"):
        return Step(where, verb, rest, nth=nth)
    if verb in ("swap", "before", "after"):
        first, arrow, second = rest.partition(" =>")
        if not arrow:
            raise EditError(f"no '=>' in {text!r}")
        return Step(where, verb, first, second.strip(), nth)
    if verb == "add":
        which, amount, needle = rest.split(" ", 2)
        return Step(where, verb, needle, f"{which} {amount}", nth)
    raise EditError(f"no such edit: {text!r}")


def edit_source(steps: list[Step], source: str) -> str:
    for step in steps:
        if step.where == "cu":
            source = step.apply(source)
    return source


def edit_launch(steps: list[Step], description: dict) -> dict:
    description = json.loads(json.dumps(description))
    for step in steps:
        if step.where == "launch":
            *path, last = step.text.split(".")
            inner = description
            for key in path:
                inner = inner[int(key) if key.isdigit() else key]
            inner[int(last) if last.isdigit() else last] = json.loads(step.other)
    return description


def _start(ptx: str, entry: str) -> re.Match[str] | None:
    """The entry with this name, or the first entry whose mangled name contains a function or class of this name."""
    name = re.escape(entry)
    mangled = rf"\w*?(?<!\d){len(entry)}{name}\w*"
    return next(filter(None, (re.search(rf"\.entry\s+{each}\s*\(", ptx) for each in (name, mangled))), None)


def has_entry(ptx: str, name: str) -> bool:
    """Whether an entry has this name, plain or mangled."""
    return _start(ptx, name) is not None


def edit_ptx(steps: list[Step], ptx: str, entry: str) -> str:
    """Applies the steps to the text of the entry only. Runs of spaces and tabs in it become single spaces first."""
    ptx_steps = [step for step in steps if step.where == "ptx"]
    if not ptx_steps:
        return ptx
    start = _start(ptx, entry)
    if start is None:
        raise EditError(f"no entry {entry}")
    # The entry ends before the next entry or function. A "}" at the start of a line may belong to inline PTX.
    next_function = re.compile(r"^\s*(?:\.visible\s+|\.weak\s+)*\.(?:entry|func)\b", re.MULTILINE).search(ptx, start.end())
    end = ptx.rfind("\n}", start.start(), next_function.start() if next_function else len(ptx))
    body = re.sub(r"[ \t]+", " ", ptx[start.start() : end])
    for step in ptx_steps:
        body = step.apply(body)
    return ptx[: start.start()] + body + ptx[end:]
