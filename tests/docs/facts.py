#!/usr/bin/env python3
"""Compares lists and numbers in the documentation with the code.

    facts.py --source DIR --bin DIR

Prints each difference, and exits with 1 if there is any.
"""

import argparse
import json
import pathlib
import re
import shlex
import subprocess
import sys


def read(path: pathlib.Path) -> str:
    return path.read_text(encoding="utf-8")


def names_in_ticks(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def section(text: str, first: str, end: str) -> str:
    """The text from `first` to the next `end`. Raises ValueError if either is missing, so that a moved text is noticed."""
    begin = text.index(first)
    return text[begin : text.index(end, begin + len(first))]


def differences(what: str, documented: set[str], real: set[str]) -> list[str]:
    wrong = [f"{what}: `{name}` is documented but does not exist" for name in sorted(documented - real)]
    return wrong + [f"{what}: `{name}` is not documented" for name in sorted(real - documented)]


class Facts:
    def __init__(self, source: pathlib.Path, programs: pathlib.Path):
        self.source = source
        self.programs_folder = programs
        self.readme = read(source / "README.md")
        self.command_line = read(source / "docs/jitc.md")

    def jitc(self, *words: str) -> str:
        done = subprocess.run([str(self.programs_folder / "jitc"), *words], capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    def nvrtc_version(self) -> list[str]:
        """Every text that names the minimum version of CUDA or NVRTC names the version that the code requires."""
        found = re.search(r"oldest\{(\d+), (\d+)\}", read(self.source / "src/compile/nvrtc.cpp"))
        least = f"{found[1]}.{found[2]}"
        files = [self.source / "README.md", *sorted((self.source / "docs").rglob("*.md"))]
        files += [self.source / name for name in ("cmake/Dependencies.cmake", "tools/lib/cuda.sh")]
        wrong = []
        count = 0
        for path in files:
            for match in re.finditer(r"(?:CUDA|NVRTC|toolkit|version)[\s(]+(\d+\.\d+)\s+or\s+later", read(path)):
                count += 1
                if match[1] != least:
                    wrong.append(f"{path.name}: \"{match.group()}\", but the code asks for {least}")
        return wrong if count >= 4 else [f"only {count} texts name the minimum version of CUDA: the pattern no longer matches them"]

    def version(self) -> list[str]:
        """Every text that names tmajit's version agrees with version.hpp, and CHANGELOG.md begins with that version."""
        header = read(self.source / "include/tmajit/version.hpp")
        parts = [re.search(rf"TMAJIT_VERSION_{part} (\d+)$", header, re.MULTILINE)[1] for part in ("MAJOR", "MINOR", "PATCH")]
        minor, whole = ".".join(parts[:2]), ".".join(parts)
        pattern = re.compile(r"find_package\(tmajit (\d+\.\d+)|libtmajit\w*\.so\.(\d+\.\d+)|"
                             r"\bv(\d+_\d+)\b|\"tmajit\": \"(\d+\.\d+)\.\d+\"")
        files = [self.source / "README.md", self.source / "include/tmajit/version.hpp", self.source / "include/tmajit/tuning.hpp"]
        files += sorted((self.source / "docs").rglob("*.md"))
        found = [(path.name, next(filter(None, match.groups())).replace("_", ".")) for path in files for match in pattern.finditer(read(path))]
        wrong = [f"{name}: names version {named}; version.hpp has {minor}" for name, named in found if named != minor]
        if len(found) < 6:
            wrong.append(f"only {len(found)} texts name the version: the pattern no longer matches them")
        newest = re.search(r"^## \[(\d[^]]*)\]", read(self.source / "CHANGELOG.md"), re.MULTILINE)[1]
        return wrong if newest == whole else [*wrong, f"CHANGELOG.md: the newest version is {newest}; version.hpp has {whole}"]

    def operations(self) -> list[str]:
        # rowwise.md has the recipes, which are the operations with named sources.
        real = {one["name"] for one in json.loads(self.jitc("operations", "--json")) if "sources" not in one}
        text = section(self.command_line, "The operations are", "A planner chooses")
        return differences("jitc.md, operations", set(names_in_ticks(text)), real)

    def commands(self) -> list[str]:
        help_text = self.jitc("--help")
        listed = section(help_text, "\nCommands:\n", "\n\n")
        real = set(re.findall(r"^  ([a-z-]+)", listed, re.MULTILINE))
        table = section(self.command_line, "| command | |", "\n\n")
        documented = {name for row in table.splitlines()[2:] for ticked in names_in_ticks(row.split("|")[1])
                      for name in ticked.split()[:1] if re.fullmatch("[a-z][a-z-]*", name)}
        documented -= {"ls", "verify", "trim", "clear"}  # arguments of `jitc cache`
        return differences("jitc.md, commands", documented, real)

    def families(self) -> list[str]:
        listing = read(self.source / "src/families/list.cpp")
        real = set(re.findall(r"(\w+)_family\(\)", listing))
        table = section(read(self.source / "docs/architecture.md"), "| family | what its kernels do", "\n\n")
        rows = [row.split("|") for row in table.splitlines()[2:]]
        documented = {names_in_ticks(row[1])[0] for row in rows}
        wrong = differences("architecture.md, families", documented, real)
        tiles = {names_in_ticks(row[1])[0] for row in rows if "caller" in row[4]}
        said = self.jitc("validate", "permute", "--axes", "1,0", "--shape", "4x4", "--box", "4x4")
        allowed = set(re.findall(r"\w+", said[said.index("tiles of your choice are for") + 28 :].splitlines()[0]))
        allowed -= {"and", "or"}
        wrong += differences("architecture.md, families with tiles of the caller's choice", tiles, allowed)
        limits = section(self.readme, "The kernel families are", "take a tile of the caller's choice")
        ticked = set(names_in_ticks(limits))
        return wrong + differences("README, families with tiles of the caller's choice", ticked, allowed)

    def environment(self) -> list[str]:
        real: set[str] = set()
        for room in ("src", "tools/jitc"):
            for path in (self.source / room).rglob("*.cpp"):
                text = read(path)
                if "getenv" not in text:
                    continue
                real |= set(re.findall(r'(?:getenv|environment)\("([A-Z_]+)"\)', text))
                real |= set(re.findall(r'"(CUDA_[A-Z]+)"', text))
        table = section(read(self.source / "docs/environment.md"), "| variable | meaning |", "\n\n")
        documented = {name for row in table.splitlines()[2:] for name in names_in_ticks(row.split("|")[1])}
        return differences("environment.md", documented, real)

    def programs(self) -> list[str]:
        """programs.md lists the functions that libtmajit_cudart.so exports and the environment variables that it reads."""
        library = self.programs_folder / "libtmajit_cudart.so"
        if not library.exists():
            return []
        room = self.source / "src/cudart"
        text = read(self.source / "docs/programs.md")

        def bare(names) -> set[str]:
            return {name if name.startswith("cuda") else re.sub(r"_v\d$", "", name) for name in names}

        def listed(part: str) -> set[str]:
            return set(names_in_ticks(section(text, f"<!-- {part}: begin -->", f"<!-- {part}: end -->")))

        symbols = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
        exported = set(re.findall(r" T (cu\w+)$", symbols, re.MULTILINE))
        missing = set(re.findall(r"TMAJIT_MISSING\((\w+)\)", read(room / "missing.inc")))
        wrong = differences("programs.md, functions", listed("functions"), bare(exported - missing))
        wrong += differences("programs.md, missing functions", listed("missing"), bare(missing))
        variables = {name for path in room.glob("*.cpp") for name in re.findall(r'"(TMAJIT_[A-Z_]+)"', read(path))}
        table = section(text, "| variable | meaning |", "\n\n")
        documented = {name for row in table.splitlines()[2:] for name in names_in_ticks(row.split("|")[1])}
        return wrong + differences("programs.md, variables", documented, variables)

    def speeds(self) -> list[str]:
        """README's table of permutations has the chart's numbers for tmajit and the best peer, and the peer's name."""
        texts = re.findall(r"<text[^>]*>([^<]*)", read(self.source / "docs/images/movement.svg"))
        cases = [text for text in texts if "→" in text]
        chart: dict[str, tuple[str, str]] = {}
        for element in ("f32", "bf16", "u8"):
            at = texts.index(element) + 1
            for number, case in enumerate(cases):
                ours, peer = texts[at + 2 * number], texts[at + 2 * number + 1]
                chart[f"{element} {case}".replace(" ", "")] = (ours.split(" ")[0], peer)
        table = section(self.readme, "| | tmajit | `cuMemcpyDtoD` | best peer |", "\n\n").splitlines()[2:]
        wrong = []
        for row in table:
            case, ours, _, peer, *others = [cell.strip() for cell in row.strip("|").split("|")]
            speed, name = peer.removesuffix(")").split(" (")
            shown = chart[case.replace(" ", "")]
            if (ours, f"{speed} {name.lower()}") != shown:
                wrong.append(f"README, {case}: {ours} and {peer}, but the chart shows {shown[0]} and {shown[1]}")
            if max(map(int, others)) > int(speed):
                wrong.append(f"README, {case}: another contestant is faster than the best peer")
        return wrong if len(table) > 3 else ["README: the table of permutations has no rows"]

    def links(self) -> list[str]:
        """Every link between pages leads to an existing file and heading; docs/README.md lists every page."""
        pages = [path for path in sorted(self.source.rglob("*.md")) if "build" not in path.relative_to(self.source).parts]
        wrong = []
        for page in pages:
            text = re.sub(r"^```.*?^```", "", read(page), flags=re.MULTILINE | re.DOTALL)
            for target in re.findall(r"\]\(([^)\s]+)\)", text):
                if re.match(r"[a-z]+:", target):
                    continue
                name, _, heading = target.partition("#")
                file = (page.parent / name).resolve() if name else page
                if not file.exists():
                    wrong.append(f"{page.name}: the link {target} leads nowhere")
                elif heading and heading not in headings(read(file)):
                    wrong.append(f"{page.name}: {target}: there is no such heading")
        index = read(self.source / "docs/README.md")
        real = {path.name for path in (self.source / "docs").glob("*.md")} - {"README.md"}
        wrong += differences("docs/README.md", set(re.findall(r"\]\((\w+\.md)\)", index)), real)
        navigation = set(re.findall(r"docs/(\w+\.md)$", read(self.source / "docs/site/mkdocs.yml"), re.MULTILINE)) - {"README.md"}
        return wrong + differences("docs/site/mkdocs.yml", navigation, real)

    def recipes(self) -> list[str]:
        """The commands of recipes.md, which tools/bench/recipes.sh measures, are legal."""
        commands = [shlex.split(line) for line in re.findall(r"^`jitc run (.*)`$", read(self.source / "docs/recipes.md"), re.MULTILINE)]
        wrong = [f"recipes.md: {' '.join(words)}: {said}" for words in commands if not (said := self.jitc("validate", *words)).startswith("legal")]
        return wrong if len(commands) > 5 else [*wrong, f"recipes.md has only {len(commands)} commands"]


def headings(text: str) -> set[str]:
    """The anchors that code hosts derive from a page's headings."""
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    options = parser.parse_args()
    facts = Facts(options.source, options.bin)
    wrong: list[str] = []
    for check in (facts.nvrtc_version, facts.version, facts.operations, facts.commands, facts.families, facts.environment, facts.programs, facts.speeds,
                  facts.links, facts.recipes):
        wrong += check()
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
