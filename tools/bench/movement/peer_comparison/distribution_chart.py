"""The distribution of random cases as an SVG: sorted ratios to the best peer and to the driver's copy, a line for each type."""

import math

from . import distribution
from .chart import STYLE, element

LEFT, TOP, WIDTH, HEIGHT, GAP = 50, 70, 420, 260, 60
COLOURS = {"f32": "#1f77d0", "bf16": "#d9822b", "u8": "#2da44e", "e4m3": "#a45ad0", "f64": "#98a1ab"}
# (measure, title, ratios at the marks of its logarithmic axis). Ratios beyond the axis are drawn at its ends.
PANELS = (("best", "to the best peer", (0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8)),
          ("driver", "to the driver's copy", (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1)))


def _type_of(result):
    return result["types"].split("->")[0]


def _lines(report, measure):
    """{type: its ratios, sorted}."""
    found = {}
    for result in report["results"]:
        ratio = distribution.MEASURES[measure](result)
        if ratio:
            found.setdefault(_type_of(result), []).append(ratio)
    return {name: sorted(found[name]) for name in COLOURS if name in found}


def _panel(x, measure, title, marks, report):
    lines = _lines(report, measure)
    low, high = math.log(marks[0]), math.log(marks[-1])

    def height(ratio):
        return TOP + HEIGHT * (1 - (min(max(math.log(ratio), low), high) - low) / (high - low))

    parts = [element("text", f"Ours {title}", x=x, y=TOP - 12, **{"class": "strong"})]
    for mark in marks:
        parts.append(element("line", x1=x, x2=x + WIDTH, y1=height(mark), y2=height(mark), stroke="#98a1ab",
                             stroke_width=1.5 if mark == 1 else 0.4))
        parts.append(element("text", f"{mark:g}", x=x - 6, y=height(mark) + 4, text_anchor="end", **{"class": "small"}))
    for share in (0, 25, 50, 75, 100):
        parts.append(element("text", f"{share} %", x=x + WIDTH * share / 100, y=TOP + HEIGHT + 16, text_anchor="middle",
                             **{"class": "small"}))
    for number, (name, ratios) in enumerate(lines.items()):
        points = [(x + WIDTH * (i / max(1, len(ratios) - 1)), height(ratio)) for i, ratio in enumerate(ratios)]
        parts.append(element("polyline", points=" ".join(f"{a:.1f},{b:.1f}" for a, b in points), fill="none",
                             stroke=COLOURS[name], stroke_width=2))
        parts.append(element("text", f"{name} ({len(ratios)})", x=x + 10 + 75 * number, y=TOP + HEIGHT + 34,
                             style=f"fill:{COLOURS[name]}", **{"class": "small strong"}))
    return parts


def svg(report):
    """The chart of a report of random cases. Raises ValueError if none of them was measured."""
    panels = [panel for panel in PANELS if _lines(report, panel[0])]
    if not panels:
        raise ValueError("the report has no random case that was measured, which the chart shows")
    width = LEFT + len(panels) * (WIDTH + GAP)
    height = TOP + HEIGHT + 70
    title = f"Random cases on one {report['device']['name']}: share of cases up to a ratio, seed {report['seed']}"
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
             f'viewBox="0 0 {width} {height}" role="img">',
             "<title>Random cases: tmajit beside other libraries</title>", f"<style>{STYLE}</style>",
             element("text", title, x=10, y=20, **{"class": "title"})]
    for number, panel in enumerate(panels):
        parts += _panel(LEFT + number * (WIDTH + GAP), *panel, report)
    versions = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    parts += [element("text", versions, x=10, y=height - 8, **{"class": "small"}), "</svg>"]
    return "\n".join(parts) + "\n"
