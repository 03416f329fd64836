"""Draws tmajit's bandwidth beside that of other libraries, its peers, as an SVG.

Bars show tmajit, the fastest peer and PyTorch eager; a line shows the driver's copy.
"""

from xml.sax.saxutils import escape

from . import results

TYPES = ("f32", "bf16", "u8")
LABEL_WIDTH, PANEL_WIDTH, PANEL_GAP, VALUE_WIDTH = 205, 150, 22, 62
TOP, BAR, ROW = 66, 8, 36
FULL_SCALE = 5000.0  # GB/s

# Colours for a light background. The media query replaces those that are illegible on a dark one.
STYLE = """
  text { font: 11px -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #3d444d }
  .title { font-size: 14px; font-weight: 600 }
  .small { font-size: 10px }
  .ours { fill: #1f77d0 } .best { fill: #d9822b } .eager { fill: #98a1ab }
  .strong { font-weight: 600 }
  .axis { stroke: #98a1ab; stroke-width: 1 }
  .driver { stroke: #2da44e; stroke-width: 1.5; stroke-dasharray: 4 3 }
  @media (prefers-color-scheme: dark) {
    text { fill: #c9d1d9 } .ours { fill: #4f9cf0 } .best { fill: #e09b4f } .eager { fill: #6e7681 }
  }
"""


def element(name, text="", **attributes):
    """An SVG element. Numbers have one decimal; `_` in the names of attributes becomes `-`."""
    attribute_text = "".join(f' {key.replace("_", "-")}="{value:.1f}"' if isinstance(value, float) else
                   f' {key.replace("_", "-")}="{escape(str(value))}"' for key, value in attributes.items())
    return f"<{name}{attribute_text}>{escape(text)}</{name}>"


def _text(x, y, text, kind="", anchor="start"):
    return element("text", text, x=float(x), y=float(y), text_anchor=anchor, **{"class": kind})


def _bar(x, y, gbps, kind):
    width = min(gbps / FULL_SCALE, 1) * PANEL_WIDTH
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{BAR}" rx="1.5" class="{kind}"/>'


def _row(x, y, result):
    """The bars of one case, with numbers for tmajit and the best peer."""
    parts = []
    best = results.best_peer(result)
    bars = [("ours", results.bandwidth(result, results.OURS)),
            ("best", results.bandwidth(result, best[0]) if best else None),
            ("eager", results.bandwidth(result, "eager"))]
    for number, (kind, gbps) in enumerate(bars):
        if gbps:
            parts.append(_bar(x, y + number * (BAR + 1), gbps, kind))
    ours, ratio = bars[0][1], results.ratio_to_best_peer(result)
    if ours:
        note = f"{ours:.0f}" + (f" · {ratio:.2f}×" if ratio else "")
        parts.append(_text(x + PANEL_WIDTH + 4, y + BAR, note, "small strong"))
    if best:
        parts.append(_text(x + PANEL_WIDTH + 4, y + 2 * BAR + 4, f"{bars[1][1]:.0f} {best[0]}", "small"))
    return parts


def svg(report):
    """The chart of a report's table of peers. Raises ValueError if it has none."""
    panels = [(t, results.table_rows(report, t)) for t in TYPES]
    panels = [(t, rows) for t, rows in panels if any(results.microseconds(row, results.OURS) for row in rows)]
    if not panels:
        raise ValueError("the report has no row of the table of peers, which the chart shows")
    names = list(dict.fromkeys(row["name"] for _, rows in panels for row in rows))
    step = PANEL_WIDTH + VALUE_WIDTH + PANEL_GAP
    width = LABEL_WIDTH + len(panels) * step
    bottom = TOP + len(names) * ROW
    height = bottom + 30
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
             f'viewBox="0 0 {width} {height}" role="img">',
             "<title>Permutations: tmajit beside other libraries</title>",
             f"<style>{STYLE}</style>",
             _text(10, 20, f"Permutations on one {report['device']['name']}, GB/s read plus written", "title")]
    x = 10
    for kind, legend in (("ours", "tmajit, GB/s · ratio to the best peer"), ("best", "best peer"),
                         ("eager", "PyTorch eager")):
        parts.append(f'<rect x="{x}" y="31" width="10" height="10" rx="1.5" class="{kind}"/>')
        parts.append(_text(x + 15, 40, legend))
        x += 30 + 6.2 * len(legend)
    parts.append(f'<line x1="{x}" y1="36" x2="{x + 18}" y2="36" class="driver"/>')
    parts.append(_text(x + 23, 40, "cuMemcpyDtoDAsync"))
    for row_number, name in enumerate(names):
        parts.append(_text(LABEL_WIDTH - 10, TOP + row_number * ROW + 17, name.replace("->", " → "), "small",
                           "end"))
    for panel, (type_name, rows) in enumerate(panels):
        x = LABEL_WIDTH + panel * step
        parts.append(_text(x, TOP - 8, type_name, "strong"))
        parts.append(f'<line x1="{x}" y1="{TOP}" x2="{x}" y2="{bottom}" class="axis"/>')
        for result in rows:
            parts += _row(x, TOP + names.index(result["name"]) * ROW + 4, result)
        copies = [value for value in (results.bandwidth(row, results.DRIVER) for row in rows) if value]
        if copies:
            middle = sorted(copies)[len(copies) // 2]
            at = x + middle / FULL_SCALE * PANEL_WIDTH
            parts.append(f'<line x1="{at:.1f}" y1="{TOP}" x2="{at:.1f}" y2="{bottom}" class="driver"/>')
            parts.append(_text(at, bottom + 13, f"{middle:.0f}", "small", "middle"))
    versions = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    parts.append(_text(10, height - 5, versions, "small"))
    parts.append("</svg>")
    return "\n".join(parts) + "\n"
