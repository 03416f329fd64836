"""The report as text."""

from . import distribution, targets
from . import results

LABEL_WIDTH = 50


def _number(value, form):
    return format(value, form) if value is not None else "-"


def _width(name):
    """The width of a contestant's column."""
    return max(9, len(name) + 1)


def peers_of(report):
    """The peers that a report has a column for."""
    return [name for name in results.PEERS if name in report["peers"]]


def header(report):
    names = [results.OURS, results.DRIVER, *peers_of(report)]
    columns = "".join(f"{name:>{_width(name)}}" for name in names)
    return f"{'GB/s read plus written, medians':<{LABEL_WIDTH}}{columns}{'/driver':>9}{'/best':>7}{'us':>10}  kernels"


def row(report, result):
    """The lines of one case: two if sectors have more bytes than the elements."""
    names = [results.OURS, results.DRIVER, *peers_of(report)]
    cells = "".join(f"{_number(results.bandwidth(result, name), '.0f'):>{_width(name)}}" for name in names)
    text = (f"{result['label']:<{LABEL_WIDTH}}{cells}{_number(results.ratio_to_driver(result), '.3f'):>9}"
            f"{_number(results.ratio_to_best_peer(result), '.2f'):>7}"
            f"{_number(results.microseconds(result, results.OURS), '.2f'):>10}  {results.choices(result)}").rstrip()
    ours = results.microseconds(result, results.OURS)
    if ours and result["sector_bytes"] != result["bytes"]:
        text += f"\n{'  counted in 32-byte sectors':<{LABEL_WIDTH}}{result['sector_bytes'] / ours * 1e-3:>9.0f}"
    return text


def planning(report):
    jit = report["jit"]
    lines = [f"Planning; the first plan of the process took {jit['first_ms']:.1f} ms",
             f"{'':<{LABEL_WIDTH}}{'cold, ms':>9}{'hot, us':>9}{'choosing, us':>14}"]
    for plan in jit["plans"]:
        lines.append(f"{plan['label']:<{LABEL_WIDTH}}{plan['cold_ms']:>9.1f}{plan['hot_us']:>9.2f}"
                     f"{plan['choosing_us']:>14.2f}")
    return "\n".join(lines)


def means(report):
    """Geometric means over the table of peers and over odd extents."""
    lines = [f"{'Geometric means of ours':<{LABEL_WIDTH}}{'rows':>6}{'/driver':>9}{'/best':>7}"]
    sets = [(f"table of peers {t}", results.table_rows(report, t)) for t in ("f32", "bf16", "u8", "f64")]
    sets += [(f"odd extents {t}", results.odd_rows(report, t)) for t in ("f32", "bf16", "u8")]
    for name, rows in sets:
        driver = [v for v in map(results.ratio_to_driver, rows) if v]
        best = [v for v in map(results.ratio_to_best_peer, rows) if v]
        if driver:
            lines.append(f"{name:<{LABEL_WIDTH}}{len(driver):>6}{results.geometric_mean(driver):>9.3f}"
                         f"{_number(results.geometric_mean(best), '.2f'):>7}")
    return "\n".join(lines) if len(lines) > 1 else ""


def _reasons(report, key, what):
    """A line for each contestant and reason of `key`, with the number of cases."""
    cases = {}
    for result in report["results"]:
        for name, why in result.get(key, {}).items():
            cases.setdefault((name, why), []).append(result["label"])
    return [f"{name} {what}: {labels[0]}" + (f" and {len(labels) - 1} more" if labels[1:] else "") + f": {why}"
            for (name, why), labels in cases.items()]


def verdict(report):
    """Targets met and missed, cases not measured, and failures of contestants."""
    found, unknown = targets.of(report)
    missed = [target for target in found if not target["met"]]
    lines = [f"{len(found) - len(missed)} of {len(found)} targets met"]
    for target in missed:
        lines.append(f"  missed: {target['what']}: {target['got']:.3f}, should be "
                     f"{'at least' if target['at_least'] else 'at most'} {target['need']:g}")
    if unknown:
        shown = "; ".join(unknown[:6]) + (f"; and {len(unknown) - 6} more" if len(unknown) > 6 else "")
        lines.append(f"  not measured: {shown}")
    for name, why in report.get("absent", {}).items():
        lines.append(f"no {name}: {why}")
    lines += _reasons(report, "errors", "failed") + _reasons(report, "skipped", "not measured")
    if report.get("left_out"):
        lines.append(f"{report['left_out']} cases left out: {report['why_left_out']}")
    return "\n".join(lines)


def summary(report):
    """The summary of all cases: means or distribution, then the verdict."""
    overview = distribution.text(report) if distribution.is_random(report) else means(report)
    return "\n\n".join(part for part in (overview, verdict(report)) if part)


def setting(report):
    """The device, versions and settings of the run."""
    versions = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    return f"{report['device']['name']}, {versions}, {report['rounds']} rounds, seed {report['seed']}"


def whole(report):
    """The whole report: setting, planning times, a row for each case, and the summary."""
    parts = [setting(report)]
    if report.get("jit"):
        parts.append(planning(report))
    parts.append("\n".join([header(report), *(row(report, result) for result in report["results"])]))
    parts.append(summary(report))
    return "\n\n".join(part for part in parts if part)
