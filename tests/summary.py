"""Summarises ctest's results (--output-junit) by room, the part of a test's name before ": ". Labels, which CMake 3.25
does not write there, are read from the list of tests (--show-only=json-v1) in RESULTS.json beside RESULTS.xml.

The last line is "N passed, N failed, N skipped". Exits with 1 if a test failed or none passed; a missing file of
results counts as a failure.
"""

import argparse
import collections
import dataclasses
import json
import pathlib
import re
import sys
import xml.etree.ElementTree as xml

# Where a test's output gives the reason for a skip: Catch2's SKIP() prints it, or a program or script prints a line.
REASONS = (
    re.compile(r"SKIPPED:\s*\n(?:explicitly with message:\s*\n)?\s*(\S.*)"),
    re.compile(r"^\s*SKIP(?:PED)?: *(\S.*)", re.MULTILINE),
)


@dataclasses.dataclass
class Test:
    run: str  # the preset of the build
    name: str
    state: str  # passed, failed or skipped
    labels: list[str]
    output: str
    seconds: float

    @property
    def room(self) -> str:
        return re.split(r": |\.", self.name, maxsplit=1)[0]

    @property
    def needs_gpu(self) -> bool:
        if any(label.startswith("gpu") for label in self.labels):
            return True
        return self.state == "skipped" and "GPU" in self.skip_reason()

    def skip_reason(self) -> str:
        for reason in REASONS:
            if match := reason.search(self.output):
                return match.group(1).strip()
        lines = [line.strip() for line in self.output.splitlines() if line.strip()]
        return lines[-1] if lines else "no reason given"


def state_of(case: xml.Element) -> str:
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    if case.find("skipped") is not None:
        # ctest also marks tests as skipped that it could not start, or whose fixture failed.
        message = case.find("skipped").get("message", "")
        return "skipped" if "SKIP" in message.upper() or "disabled" in message.lower() else "failed"
    return "passed" if case.get("status", "run") == "run" else "failed"


def read_labels(path: pathlib.Path) -> dict[str, list[str]]:
    if not path.exists():
        return {}
    tests = json.loads(path.read_text(encoding="utf-8"))["tests"]
    properties = ((test["name"], test.get("properties", [])) for test in tests)
    return {name: [v for p in values if p["name"] == "LABELS" for v in p["value"]] for name, values in properties}


def read(path: pathlib.Path) -> list[Test]:
    labels = read_labels(path.with_suffix(".json"))

    def test_of(case: xml.Element) -> Test:
        return Test(
            run=path.parent.name,
            name=case.get("name", "?"),
            state=state_of(case),
            labels=labels.get(case.get("name", "?"), []),
            output=case.findtext("system-out") or "",
            seconds=float(case.get("time") or 0),
        )

    return [test_of(case) for case in xml.parse(path).getroot().iter("testcase")]


def print_rooms(tests: list[Test]) -> None:
    rooms: dict[tuple[str, str], list[Test]] = collections.defaultdict(list)
    for test in tests:
        rooms[test.run, test.room].append(test)
    print(f"  {'build':<10}{'room':<14}{'passed':>8}{'failed':>8}{'skipped':>9}{'seconds':>9}")
    for (run, room), members in rooms.items():
        counts = collections.Counter(test.state for test in members)
        seconds = sum(test.seconds for test in members)
        print(
            f"  {run:<10}{room:<14}{counts['passed']:>8}{counts['failed']:>8}{counts['skipped']:>9}{seconds:>9.1f}"
        )


def print_skips(tests: list[Test]) -> None:
    for title, wanted in (("tests that need a Hopper GPU", True), ("other tests", False)):
        group = [test for test in tests if test.needs_gpu == wanted]
        reasons = collections.Counter(test.skip_reason() for test in group if test.state == "skipped")
        if wanted or reasons:
            print(f"  {title}: {sum(reasons.values())} of {len(group)} skipped")
        for reason, count in reasons.most_common():
            print(f"    {count} x {reason}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--failed", action="append", default=[], help="name of a failed step other than tests")
    parser.add_argument("--require-gpu", action="store_true", help="count skipped GPU tests as failed")
    parser.add_argument("results", type=pathlib.Path, nargs="+")
    arguments = parser.parse_args()

    tests = [test for path in arguments.results if path.exists() for test in read(path)]
    print_rooms(tests)
    print_skips(tests)
    failed = [f"{test.name} ({test.run})" for test in tests if test.state == "failed"]
    if arguments.require_gpu:
        failed += [f"{test.name} (skipped)" for test in tests if test.needs_gpu and test.state == "skipped"]
    failed += [f"no results: {path}" for path in arguments.results if not path.exists()] + arguments.failed
    for what in failed:
        print(f"  FAILED {what}")

    counts = collections.Counter(test.state for test in tests)
    skipped = 0 if arguments.require_gpu else counts["skipped"]
    print(f"\n{counts['passed']} passed, {len(failed)} failed, {skipped} skipped")
    return 1 if failed or counts["passed"] == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
