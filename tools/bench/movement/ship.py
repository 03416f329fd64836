#!/usr/bin/env python3
"""Writes measured choices of kernels into the library: src/plan/choices/<chip>.cpp.

    tmajit-movement --ship h100.json --random 100 --seed 1    # on the GPU
    ship.py h100.json                                         # anywhere; then build again

Each FILE has the format of `jitc tune --export`. Choices of the same chip and shape replace those of an earlier FILE and
those that are shipped now; --anew drops the latter.
"""
import argparse
import json
import re
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[3] / "src/plan/choices"
# {chip: name of its file and of the array in it}. src/plan/shipped_choices.cpp has the same list.
CHIPS = {"NVIDIA H100 80GB HBM3": "h100", "NVIDIA H200": "h200"}


def numbers(values):
    """An initialiser without zeros at its end."""
    values = list(values)
    while values and values[-1] == 0:
        values.pop()
    return "{" + ", ".join(str(value) for value in values) + "}"


def line(choice):
    """A choice as a line of the array."""
    shape, kernel = choice["class"], dict(choice["choice"])
    family = kernel.pop("family")
    rows = [numbers(value if isinstance(value, list) else [value]) for value in kernel.values()]
    rows = ", ".join("{0}" if row == "{}" else row for row in rows)
    return (f'    {{{{"{shape["family"]}", {shape["element_bytes"]}, {shape["rank"]}, {str(shape["staggered"]).lower()}, '
            f'{numbers(shape["order"])}, {shape["sources"]}, {numbers(shape["access"])}, {numbers(shape["extents"])}, '
            f'{shape["length"]}}}, {{"{family}", {{{rows}}}}}, {choice["microseconds"]:g}}},')


def padded(values, count):
    return tuple(values) + (0, ) * (count - len(values))


def sort_key(choice):
    """The order of ShapeClass."""
    shape = choice["class"]
    return (shape["family"], shape["element_bytes"], shape["rank"], shape["staggered"], padded(shape["order"], 8),
            shape["sources"], padded(shape["access"], 8), padded(shape["extents"], 8), shape["length"])


def source(name, chip, lines):
    """The text of a chip's file, whose array has these lines."""
    return "\n".join([
        f"// Choices measured on an {chip}. Written by tools/bench/movement/ship.py.", '#include "plan/shipped_choices.hpp"', "",
        "TMAJIT_BEGIN", "namespace {", "",
        "// The members of ShapeClass in order, the fastest kernel's family and its numbers, and its microseconds.",
        "// clang-format off", f"constexpr ShippedChoice {name}[] = {{", *lines, "};", "// clang-format on",
        f"static_assert(std::ranges::is_sorted({name}, {{}}, &ShippedChoice::shape_class));", "", "}  // namespace", "",
        f"std::span<const ShippedChoice> {name}_choices() noexcept {{", f"  return {name};", "}", "", "TMAJIT_END", ""])


def shipped(text):
    """{sort key: line} of a file that source() wrote."""
    def values(list_text):
        return [int(one) for one in list_text.split(",") if one.strip()]

    pattern = re.compile(r'^    \{\{"(\w+)", (\d+), (\d+), (true|false), \{(.*?)\}, (\d+), \{(.*?)\}, \{(.*?)\}, (\d+)\},')
    found = {}
    for one in text.splitlines():
        if match := pattern.match(one):
            family, size, rank, staggered, order, sources, access, extents, length = match.groups()
            found[(family, int(size), int(rank), staggered == "true", padded(values(order), 8), int(sources),
                   padded(values(access), 8), padded(values(extents), 8), int(length))] = one
    return found


def main(arguments):
    parser = argparse.ArgumentParser(prog="ship.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--anew", action="store_true", help="drop the choices that are shipped now")
    parser.add_argument("--folder", type=Path, default=FOLDER, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    by_chip = {}
    for path in options.files:
        for choice in json.loads(Path(path).read_text())["choices"]:
            if choice["chip"] not in CHIPS:
                sys.exit(f"ship.py: {path} has a choice for {choice['chip']}; legal are {', '.join(CHIPS)}")
            by_chip.setdefault(choice["chip"], {})[sort_key(choice)] = choice
    for chip, choices in by_chip.items():
        name = CHIPS[chip]
        path = options.folder / f"{name}.cpp"
        lines = {} if options.anew or not path.exists() else shipped(path.read_text())
        lines |= {key: line(choice) for key, choice in choices.items()}
        path.write_text(source(name, chip, [lines[key] for key in sorted(lines)]))
        print(f"{path.name}: {len(lines)} choices, {len(choices)} of them from the given files")


if __name__ == "__main__":
    main(sys.argv[1:])
