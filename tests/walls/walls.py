#!/usr/bin/env python3
"""Compares the table of rooms, the folders of sources, in docs/architecture.md with the includes of the sources.

The table's rows are | `folder/`, … | what it holds | folders it may include |. For each quoted or <tmajit/…> include of a
folder in the table, its own folder or one in the last column must hold the file. A room's own folders may have a table
below it, with rows | `folder/`, … | what it holds | folders its headers may include | folders its sources may include, too |,
in which a name without a slash is a folder of the same room. It also checks that:

    * the folders' may-include relation has no cycle; for folders of a room this holds for their headers,
    * in a room with a table of folders, each file is in a folder with a row, and each row names exactly what is included,
    * MAY_INCLUDE of each room in src/CMakeLists.txt is equal to the table's row,
    * a family includes no other family,
    * in src/operations only the references and the cases include src/reference,
    * public headers include only public headers,
    * nothing that is shipped includes or compiles a file of tests/.

Prints each breach as file:line: message. Exits with 1 if there is one, with 2 if the table cannot be read.
"""

import argparse
import collections
import dataclasses
import itertools
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#include\s+(?:"([^"]+)"|<(tmajit(?:_params)?/[^>]+)>)')
# Folders that families share; every other folder of src/families is a family.
SHARED_BY_FAMILIES = {"shared", "tiles"}
SOURCES = {".cpp", ".hpp", ".cu", ".cuh"}


@dataclasses.dataclass(frozen=True)
class Room:
    folder: str  # from the repository's root: "src/spec"
    line: int  # of its row in the document
    may_include: frozenset[str]  # folders, as in the table
    sources: frozenset[str] = frozenset()  # folders that only .cpp files may include
    parent: str | None = None  # the room whose folder it is


def rooms_of(document: str) -> dict[str, Room]:
    """The table's rows by folder. Raises ValueError if a row names a folder that has no row."""
    rooms: dict[str, Room] = {}
    for number, line in enumerate(document.splitlines(), 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) not in (3, 4) or not re.match(r"^`[a-z_/]+/`", cells[0]):
            continue
        for folder in re.findall(r"`([^`]+)/`", cells[0]):
            parent = folder.rpartition("/")[0] if len(cells) == 4 else None
            may, *sources = (frozenset(name.rstrip("/") if "/" in name else f"{parent}/{name}"
                                       for name in re.findall(r"`([^`]+)`", cell)) for cell in cells[2:])
            rooms[folder] = Room(folder, number, may, *sources, parent=parent)
    if not rooms:
        raise ValueError("there is no table of rooms")
    for room in rooms.values():
        for name in (room.may_include | room.sources) - rooms.keys():
            raise ValueError(f"line {room.line}: {room.folder} may include {name}, which has no row")
        if room.parent is not None:
            for name in room.may_include | room.sources:
                if rooms[name].parent != room.parent and name not in rooms[room.parent].may_include:
                    raise ValueError(f"line {room.line}: {room.folder} may include {name}, {room.parent} may not")
    return rooms


def cycle(rooms: dict[str, Room]) -> list[str]:
    """Folders that may include each other in a cycle, the first one repeated at the end; empty if none."""
    done: set[str] = set()

    def walk(folder: str, path: list[str]) -> list[str]:
        if folder in path:
            return path[path.index(folder):] + [folder]
        if folder in done:
            return []
        for name in sorted(rooms[folder].may_include):
            if found := walk(name, path + [folder]):
                return found
        done.add(folder)
        return []

    for folder in rooms:
        if found := walk(folder, []):
            return found
    return []


def home_of(folder: pathlib.PurePosixPath, rooms: dict[str, Room]) -> str | None:
    """The innermost folder of the table that holds `folder`."""
    for candidate in [folder, *folder.parents]:
        if str(candidate) in rooms:
            return str(candidate)
    return None


class Tree:
    """A repository's files, and the folders of the files that they include."""

    def __init__(self, root: pathlib.Path, rooms: dict[str, Room]):
        self.root = root
        self.rooms = rooms
        self.used = collections.defaultdict(set)  # rooms that files of a folder include, by (folder, kind of file)
        # Headers of templates are included by name alone, as "tmajit/<name>".
        self.templates = {path.name: path.relative_to(root).parent.as_posix()
                          for path in sorted((root / "templates").rglob("*.cuh"))}

    def target(self, source: pathlib.Path, quoted: str | None, angled: str | None) -> str | None:
        """The folder of an included file, relative to the root; None if the file is not in the repository."""
        if angled is not None:
            folder, name = angled.split("/", 1)
            return "templates/params" if folder == "tmajit_params" else "include/tmajit"
        name = pathlib.PurePosixPath(quoted)
        if name.parts[0] == "tmajit":
            return self.templates.get(name.name)
        for base in (source.parent, self.root / "src", self.root / "tools", self.root / "tests"):
            if (base / name).is_file():
                return (base / name).resolve().relative_to(self.root.resolve()).parent.as_posix()
        # Folders of the same program may include each other.
        own = home_of(self.relative(source).parent, self.rooms)
        for path in sorted((self.root / own).rglob(name.name)):
            if path.as_posix().endswith(f"/{name}"):
                return path.relative_to(self.root).parent.as_posix()
        return None

    def breaches(self):
        for folder, room in self.rooms.items():
            if not (self.root / folder).is_dir():
                yield f"docs/architecture.md:{room.line}: there is no folder {folder}"
                continue
            for path in sorted((self.root / folder).rglob("*")):
                if path.suffix in SOURCES and home_of(self.relative(path).parent, self.rooms) == folder:
                    if any(other.parent == folder for other in self.rooms.values()):
                        yield f"{self.relative(path)}:1: it is in none of the folders of {folder} that have a row"
                    yield from self.breaches_of_file(path, room)
            for kind, names in (("headers", room.may_include), ("sources", room.sources)):
                for name in sorted(names - self.used[folder, kind]) if room.parent else []:
                    yield f"docs/architecture.md:{room.line}: the {kind} of {folder} do not include {name}"
        for top in ("src", "tools"):
            for path in sorted((self.root / top).rglob("CMakeLists.txt")):
                yield from self.breaches_of_build(path)

    def relative(self, path: pathlib.Path) -> pathlib.PurePosixPath:
        return pathlib.PurePosixPath(path.relative_to(self.root).as_posix())

    def breaches_of_file(self, path: pathlib.Path, room: Room):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if match is None:
                continue
            if path.suffix in {".cpp", ".hpp"} and (match.group(1) or "").startswith("tmajit/"):
                continue  # a line of a kernel's text; host code includes these files in angle brackets
            what = match.group(1) or match.group(2)
            place = f"{self.relative(path)}:{number}"
            target = self.target(path, match.group(1), match.group(2))
            if target is None:
                yield f"{place}: {what} is no file of this repository"
                continue
            home = home_of(pathlib.PurePosixPath(target), self.rooms)
            kind = "headers" if path.suffix == ".hpp" else "sources"
            self.used[room.folder, kind].add(home)
            may_include = room.may_include | (room.sources if kind == "sources" else set())
            if room.folder == "src/operations" and re.search("reference|case", path.stem):
                may_include = may_include | {"src/reference"}  # not part of the library
            if home != room.folder and home not in may_include:
                allowed = ", ".join(sorted(may_include)) or "no other"
                yield f"{place}: {room.folder} includes {what} of {home or target}; it may include {allowed}"
            yield from self.breaches_of_family(path, target, place)

    def breaches_of_family(self, path: pathlib.Path, target: str, place: str):
        own = self.relative(path).parts
        other = pathlib.PurePosixPath(target).parts
        if own[:2] != ("src", "families") or other[:2] != ("src", "families") or len(own) < 4 or len(other) < 3:
            return
        if other[2] != own[2] and other[2] not in SHARED_BY_FAMILIES:
            yield f"{place}: the family {own[2]} includes the family {other[2]}"

    def breaches_of_build(self, path: pathlib.Path):
        folder = self.relative(path).parent
        text = re.sub(r"#.*", "", path.read_text())
        if re.search(r"\btests/|\.\./tests\b", text):
            yield f"{self.relative(path)}:1: {folder} is shipped, and compiles files of tests/"
        for call in re.findall(r"tmajit_add_room\(([^)]*)\)", text):
            name, *words = call.split()
            yield from self.of_room(f"src/{name}", words)

    def of_room(self, folder: str, words: list[str]):
        """Compares the words of tmajit_add_room() after the room's name with the table's row."""
        if folder not in self.rooms:
            yield f"src/CMakeLists.txt:1: {folder} has no row in the table"
            return
        after = words[words.index("MAY_INCLUDE") + 1:] if "MAY_INCLUDE" in words else []
        built = {f"src/{name}" for name in itertools.takewhile(lambda word: not word.isupper(), after)}
        table = {name for name in self.rooms[folder].may_include if name.startswith("src/")}
        for name in sorted(built - table):
            yield f"src/CMakeLists.txt:1: the build lets {folder} include {name}; the table does not"
        for name in sorted(table - built):
            yield f"src/CMakeLists.txt:1: the table lets {folder} include {name}; the build does not"


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("root", type=pathlib.Path, help="the repository")
    root = arguments.parse_args().root
    try:
        rooms = rooms_of((root / "docs/architecture.md").read_text())
    except (OSError, ValueError) as error:
        print(f"docs/architecture.md: {error}", file=sys.stderr)
        return 2
    found = list(Tree(root, rooms).breaches())
    if folders := cycle(rooms):
        found.append(f"docs/architecture.md:1: folders include each other: {' -> '.join(folders)}")
    for breach in found:
        print(breach)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
