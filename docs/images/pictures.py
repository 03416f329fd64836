#!/usr/bin/env python3
"""Draws the pictures of tmajit's structure in docs/images, from its sources:

    rooms.svg  which room may include which: MAY_INCLUDE of each tmajit_add_room() in src/CMakeLists.txt, by library
    road.svg   the stages of a kernel: the first table of docs/architecture.md, with the rooms that define its functions
    pipeline.svg  the stages of a pipeline over time: the protocol of examples/tutorial/roles.cu, with assumed durations

    pictures.py --write    writes them
    pictures.py --check    exits with 1 if a file differs from what would be drawn now (a test)

The other pictures have commands of their own: `jitc layout -o` (docs/layout.md) and `peers.py --svg` (docs/movement.md).
"""

import argparse
import itertools
import pathlib
import re
import sys
from xml.sax.saxutils import escape

ROOT = pathlib.Path(__file__).resolve().parents[2]
SANS = '-apple-system, "Segoe UI", Helvetica, Arial, sans-serif'
MONO = "Menlo, Consolas, monospace"
STYLE = f"""<style>
  text {{ font: 12px {SANS}; fill: #3d444d }}
  .mono {{ font-family: {MONO} }} .room {{ font: 12px {MONO}; fill: #1f77d0 }} .middle {{ text-anchor: middle }}
  .name {{ font: 600 15px {MONO} }}
  .box {{ fill: #f6f8fa; stroke: #98a1ab }} .stripe {{ fill: #f6f8fa }} .line {{ stroke: #98a1ab; stroke-width: 1.5; fill: none }}
  .load {{ fill: #cfe3f7; stroke: #98a1ab }}
  .compute {{ fill: #f7c58b; stroke: #98a1ab }} .store {{ fill: #b7e1c0; stroke: #98a1ab }}
  .head {{ fill: #98a1ab }} .own {{ fill: #98a1ab }} .may {{ fill: #1f77d0 }}
  @media (prefers-color-scheme: dark) {{
    text {{ fill: #d1d7e0 }} .room {{ fill: #6cb6ff }} .box {{ fill: #212830; stroke: #656c76 }}
    .stripe {{ fill: #212830 }}
    .load {{ fill: #1f4a75 }} .compute {{ fill: #8a5a1c }} .store {{ fill: #23643a }} .may {{ fill: #6cb6ff }} .own {{ fill: #656c76 }}
  }}
</style>"""


def svg(width: int, height: int, title: str, lines: list[str]) -> str:
    begin = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">'
    return "\n".join([begin, f"<title>{escape(title)}</title>", STYLE, *lines, "</svg>"]) + "\n"


def text(x: float, y: float, words: str, kind: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}"' + (f' class="{kind}"' if kind else "") + f">{escape(words)}</text>"


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def rooms() -> tuple[dict[str, set[str]], dict[str, list[str]]]:
    """{room: rooms that it may include}, {library: its rooms}, as in src/CMakeLists.txt."""
    may, libraries = {}, {}
    for call in re.findall(r"^ *tmajit_add_room\(([^)]*)\)", re.sub(r"#.*", "", read("src/CMakeLists.txt")), re.MULTILINE):
        name, _, library, *words = call.split()
        after = words[words.index("MAY_INCLUDE") + 1 :] if "MAY_INCLUDE" in words else []
        may[name] = set(itertools.takewhile(lambda word: not word.isupper(), after))
        if name not in libraries.setdefault(library, []):  # a room may have one call for each case
            libraries[library].append(name)
    return may, libraries


def in_order(names: list[str], may: dict[str, set[str]]) -> list[str]:
    """The rooms in an order in which each follows the rooms that it may include."""
    done: list[str] = []
    while len(done) < len(names):
        next_room = [n for n in names if n not in done and may[n] & set(names) <= set(done)][:1]
        if not next_room:
            sys.exit(f"pictures.py: the rooms {', '.join(sorted(set(names) - set(done)))} include each other in a cycle")
        done += next_room
    return done


def draw_rooms() -> str:
    may, libraries = rooms()
    groups = [(name if name == "jitc" else f"lib{name}", in_order(names, may)) for name, names in libraries.items()]
    order = [name for _, names in groups for name in names]
    left_edge, top, step = 250, 118, 22
    width, height = left_edge + step * len(order) + 40, top + step * len(order) + 44
    lines = [text(20, 24, "A row's room may include the rooms with a dot; every room may include include/tmajit.")]
    for i, name in enumerate(order):
        y, x = top + step * i, left_edge + step * i + step / 2
        if i % 2 == 0:
            lines.append(f'<rect class="stripe" x="130" y="{y}" width="{width - 170}" height="{step}"/>')
        lines.append(text(140, y + 15, name, "room"))
        lines.append(f'<text class="room" transform="translate({x + 4:g} {top - 8}) rotate(-60)">{name}</text>')
    for i, name in enumerate(order):
        y = top + step * i + step / 2
        lines.append(f'<rect class="own" x="{left_edge + step * i + 8}" y="{y - 3:g}" width="6" height="6"/>')
        for j, other in enumerate(order):
            if other in may[name]:
                lines.append(f'<circle class="may" cx="{left_edge + step * j + step / 2:g}" cy="{y:g}" r="5"/>')
    first = 0
    for library, names in groups:
        y = top + step * first
        lines.append(text(20, y + 15, library))
        if first:
            lines.append(f'<path class="line" d="M20 {y} H{width - 40}"/>')
        first += len(names)
    return svg(width, height - 24, "Which room of src may include which", lines)


def definition_room(function: str) -> str:
    """The room of src whose sources define a function: `plan_kernels`, `Kernel::prepare`."""
    pattern = re.compile(rf"^[A-Za-z].*[ &]{function}\(", re.MULTILINE)
    found = {path.relative_to(ROOT / "src").parts[0] for path in (ROOT / "src").rglob("*.cpp") if pattern.search(path.read_text(encoding="utf-8"))}
    if len(found) != 1:
        raise SystemExit(f"docs/architecture.md: {function}() is defined in {', '.join(sorted(found)) or 'no room'}")
    return found.pop()


def draw_road() -> str:
    page = read("docs/architecture.md")
    table = page[page.index("| stage | type |") :].split("\n\n")[0].splitlines()[2:]
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in table]
    wide, gap, tall = 196, 28, 128
    lines = []
    for i, (stage, kind, functions, needs) in enumerate(rows):
        x = 20 + i * (wide + gap)
        middle = x + wide / 2
        names = re.findall(r"`([\w:]+)\(\)`", functions)
        homes = sorted({definition_room(name) for name in names})
        needed = needs.replace("`", "")
        lines.append(f'<rect class="box" x="{x}" y="20" width="{wide}" height="{tall}" rx="8"/>')
        lines.append(text(middle, 48, kind.strip("`"), "name middle"))
        lines.append(text(middle, 70, stage, "middle"))
        for k, name in enumerate(names):
            lines.append(text(middle, 98 + 18 * k, f"{name}()", "mono middle"))
        lines.append(text(middle, 168, "src/" + ", src/".join(homes), "room middle"))
        words, row = needed.split(), ""
        wrapped = []
        for word in words:
            if len(row) + len(word) > 28:
                wrapped.append(row)
                row = ""
            row = f"{row} {word}".strip()
        for k, part in enumerate([*wrapped, row]):
            lines.append(text(middle, 190 + 16 * k, ("needs " if k == 0 else "") + part, "middle"))
        if i + 1 < len(rows):
            y = 20 + tall / 2
            lines.append(f'<path class="line" d="M{x + wide + 4} {y:g} h12"/>')
            lines.append(f'<path class="head" d="M{x + wide + 15} {y - 5:g} l8 5 l-8 5 z"/>')
    return svg(40 + len(rows) * wide + (len(rows) - 1) * gap, 226, "The stages of a kernel, with the rooms that make each", lines)


# Assumed durations. The copy engine begins a load every APART; a tile is computed as soon as it is loaded.
STAGES, TILES, LOAD, APART, COMPUTE, STORE = 4, 10, 5, 2, 2, 1


def pipeline_times() -> list[dict[str, int]]:
    """When each tile of roles.cu is requested, loaded, computed, read by its store, and its stage released."""
    tiles: list[dict[str, int]] = []
    for n in range(TILES):
        free = tiles[n - STAGES]["released"] if n >= STAGES else 0
        requested = max(free, tiles[-1]["requested"] + APART if tiles else 0)
        computing = max(requested + LOAD, tiles[-1]["computed"] if tiles else 0)
        computed = computing + COMPUTE
        # wait_group_read<1>: a stage is released when the next tile's store is issued.
        tiles.append({"requested": requested, "loaded": requested + LOAD, "computing": computing, "computed": computed, "read": computed + STORE})
        if n:
            tiles[-2]["released"] = max(tiles[-2]["read"], computed)
    tiles[-1]["released"] = tiles[-1]["read"]
    return tiles


def draw_pipeline() -> str:
    tiles = pipeline_times()
    left, unit, tall, step = 150, 24, 22, 34
    width = left + unit * tiles[-1]["released"] + 20
    rows = ["producer thread", *(f"stage {s}" for s in range(STAGES)), "consumer warps"]
    lines = []

    def bar(row: int, begin: int, end: int, kind: str, words: str) -> None:
        x, y = left + unit * begin, 20 + step * row
        lines.append(f'<rect class="{kind}" x="{x}" y="{y}" width="{unit * (end - begin)}" height="{tall}"/>')
        lines.append(text(x + unit * (end - begin) / 2, y + 15, words, "middle"))

    for row, name in enumerate(rows):
        lines.append(text(20, 35 + step * row, name))
    for n, tile in enumerate(tiles):
        bar(0, tile["requested"], tile["requested"] + 1, "box", str(n))
        stage = 1 + n % STAGES
        bar(stage, tile["requested"], tile["loaded"], "load", f"load {n}")
        bar(stage, tile["computing"], tile["computed"], "compute", f"tile {n}")
        bar(stage, tile["computed"], tile["read"], "store", "")
        if tile["released"] > tile["read"]:
            bar(stage, tile["read"], tile["released"], "box", "")
        bar(len(rows) - 1, tile["computing"], tile["computed"], "compute", str(n))
    y = 40 + step * len(rows)
    x = 20
    for kind, words in (("load", "the copy engine loads"), ("compute", "warps compute"), ("store", "the store reads"), ("box", "not yet released")):
        lines.append(f'<rect class="{kind}" x="{x}" y="{y - 12}" width="14" height="14"/>')
        lines.append(text(x + 20, y, words))
        x += 40 + 6 * len(words)
    return svg(max(width, x), y + 16, f"{STAGES} stages of a pipeline over time, {TILES} tiles", lines)


PICTURES = {"rooms.svg": draw_rooms, "road.svg": draw_road, "pipeline.svg": draw_pipeline}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--write", action="store_true")
    how.add_argument("--check", action="store_true")
    options = parser.parse_args()
    wrong = 0
    for name, draw in PICTURES.items():
        path = ROOT / "docs/images" / name
        drawn = draw()
        if options.write:
            path.write_text(drawn, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != drawn:
            wrong += 1
            print(f"docs/images/{name} is out of date: run docs/images/pictures.py --write")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
