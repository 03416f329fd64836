#!/usr/bin/env python3
"""Compares the C interface with abi.txt, which lists what earlier programs were compiled against.

    abi.py --source DIR --cc CC --cxx CXX --library FILE [--write]

The list has a line for each struct with its size, each member with its type, offset and size, each constant with its value,
and each function with its declaration and the version of its symbol. The headers are compiled as C99 and as C++17 without
warnings, and both must give the same list. Functions of the headers and of the library must be the same.

If the interface has lost a line of abi.txt, programs break; only the size of a struct may grow. A line that
abi.txt lacks is an addition: --write adds it, unless a line was lost. Exits with 1 if the lists differ.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

C_FLAGS = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-x", "c"]
CXX_FLAGS = ["-std=c++17", "-pedantic", "-Wall", "-Wextra", "-Werror", "-x", "c++"]


def headers(source: pathlib.Path) -> str:
    """The text of all headers without comments."""
    text = "\n".join(header.read_text(encoding="utf-8") for header in sorted((source / "include/tmajit/c").glob("*.h")))
    return re.sub(r"//.*", "", text)


def constants(text: str) -> list[str]:
    """The names of enumerators, and of macros that are numbers."""
    enumerators = [name for body in re.findall(r"enum \{(.*?)\};", text, re.DOTALL) for name in re.findall(r"(TMAJIT_\w+)\s*=", body)]
    return enumerators + re.findall(r"^#define (TMAJIT_\w+) +\d", text, re.MULTILINE)


def declarations(text: str) -> str:
    """Text without preprocessor directives and `extern "C"`."""
    text = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)
    return re.sub(r'extern "C" \{', "", text)


def one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip().replace("( ", "(")


def members(body: str) -> list[tuple[str, str]]:
    """[(declaration, name)] of a struct's members."""
    found = []
    for part in body.split(";"):
        declaration = one_line(part)
        if not declaration:
            continue
        pointer = re.search(r"\(\*(\w+)\)", declaration)
        for name in [pointer[1]] if pointer else re.findall(r"(\w+)(?:\[\w+\])?$", declaration):
            found.append((declaration, name))
    return found


class Interface:
    def __init__(self, source: pathlib.Path):
        self.source = source
        text = headers(source)
        self.constants = constants(text)
        text = declarations(text)
        self.structs = [(name, members(body)) for name, body in re.findall(r"typedef struct (\w+) \{(.*?)\} \1;", text, re.DOTALL)]
        self.functions = {}
        for declaration in re.findall(r"TMAJIT_C_API\s+(.*?);", text, re.DOTALL):
            line = one_line(declaration)
            self.functions[re.search(r"(\w+)\(", line)[1]] = line
        if min(len(self.structs), len(self.constants), len(self.functions)) < 20:
            raise SystemExit("abi.py no longer understands the headers: it finds fewer than 20 structs, constants or functions")

    def program(self) -> str:
        """A program, valid as C and as C++, that prints the lines of structs, members and constants."""
        lines = ["#include <tmajit/c.h>", "#include <stddef.h>", "#include <stdio.h>", "int main(void) {"]
        for name, struct_members in self.structs:
            lines.append(f'  printf("struct {name}: %zu bytes\\n", sizeof({name}));')
            for declaration, member in struct_members:
                offset_and_size = f"offsetof({name}, {member}), sizeof((({name}*)0)->{member})"
                lines.append(f'  printf("member {name}.{member}: {declaration}, at %zu, %zu bytes\\n", {offset_and_size});')
        lines += [f'  printf("constant {name}: %lld\\n", (long long){name});' for name in self.constants]
        return "\n".join([*lines, "  return 0;", "}", ""])

    def measured(self, compiler: list[str], folder: pathlib.Path) -> list[str]:
        program = folder / "program"
        command = [*compiler, f"-I{self.source / 'include'}", "-o", str(program), "-"]
        done = subprocess.run(command, input=self.program(), text=True, capture_output=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)}:\n{done.stderr}")
        return subprocess.run([str(program)], text=True, capture_output=True, check=True).stdout.splitlines()


def exported(library: str) -> dict[str, str]:
    """{function: version of its symbol}."""
    listing = subprocess.run(["nm", "-D", "--defined-only", "--with-symbol-versions", library], text=True, capture_output=True, check=True).stdout
    return dict(re.findall(r" T (\w+)@@(\S+)$", listing, re.MULTILINE))


def changes(before: list[str], now: list[str]) -> tuple[list[str], list[str]]:
    """(lost lines, new lines). The line of a struct that has grown is new; its old line is not lost."""
    sizes = {match[1]: int(match[2]) for line in now if (match := re.match(r"struct (\w+): (\d+) bytes$", line))}

    def has_grown(line: str) -> bool:
        match = re.match(r"struct (\w+): (\d+) bytes$", line)
        return match is not None and sizes.get(match[1], 0) > int(match[2])

    lost = [line for line in before if line not in set(now) and not has_grown(line)]
    return lost, [line for line in now if line not in set(before)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=pathlib.Path, required=True, help="the repository")
    parser.add_argument("--cc", required=True, help="the C compiler")
    parser.add_argument("--cxx", required=True, help="the C++ compiler")
    parser.add_argument("--library", required=True, help="libtmajit_c.so")
    parser.add_argument("--write", action="store_true", help="add new lines to abi.txt")
    arguments = parser.parse_args()
    interface = Interface(arguments.source)
    with tempfile.TemporaryDirectory() as folder:
        now = interface.measured([arguments.cc, *C_FLAGS], pathlib.Path(folder))
        in_cxx = interface.measured([arguments.cxx, *CXX_FLAGS], pathlib.Path(folder))
    wrong = [f"C++17 has another line than C99: {line}" for line in sorted(set(now) ^ set(in_cxx))]
    versions = exported(arguments.library)
    wrong += [f"{name}() is declared, but not exported" for name in sorted(interface.functions.keys() - versions.keys())]
    wrong += [f"{name}() is exported, but not declared" for name in sorted(versions.keys() - interface.functions.keys())]
    now += [f"function {versions[name]}: {line}" for name, line in sorted(interface.functions.items()) if name in versions]

    path = pathlib.Path(__file__).with_name("abi.txt")
    lost, new = changes(path.read_text(encoding="utf-8").splitlines() if path.exists() else [], now)
    wrong += [f"lost, which breaks programs: {line}" for line in lost]
    if arguments.write and not wrong:
        path.write_text("\n".join(now) + "\n", encoding="utf-8")
        new = []
    wrong += [f"new, which abi.py --write adds: {line}" for line in new]
    print("\n".join(wrong) or f"{len(now)} lines are those of abi.txt")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
