"""The contests of the benchmarks in tools/bench: which peers are timed, and the distributions of the times."""

import contextlib
import io
import sys
import types
import unittest
from unittest import mock

import paths  # noqa: F401
import peer_times


def timed(times):
    """A module device_time for which a call takes the time that it returns from `times`."""
    module = types.ModuleType("device_time")
    module.device_us = lambda call: times[call()]
    return module


class ContestTest(unittest.TestCase):
    def measure(self, calls, times, ours="ours", peers=("a", "b")):
        """The contest after one case, whose results are right unless they are "wrong", and what it printed."""
        contest, printed = peer_times.Contest(list(peers)), io.StringIO()
        check = lambda result: "it is wrong" if result == "wrong" else None
        with mock.patch.dict(sys.modules, device_time=timed(times)), mock.patch.object(
            peer_times, "copy_us", lambda count: count / 10
        ), contextlib.redirect_stdout(printed):
            contest.measure("kind", "case", 80, lambda: ours, calls, check)
        return contest, printed.getvalue()

    def test_times_are_divided_by_ours(self):
        contest, printed = self.measure(
            {"a": lambda: lambda: "a", "b": lambda: lambda: "b"}, {"ours": 10.0, "a": 20.0, "b": 12.0})
        self.assertEqual(contest.ratios, {"kind": [{"copy": 0.8, "a": 2.0, "b": 1.2, "best peer": 1.2}]})
        self.assertEqual(printed, "kind: case: tmajit 10.0, 80 %; a 20.0, 40 %; b 12.0, 67 %\n")

    def test_a_wrong_peer_is_not_timed_and_ends_the_program(self):
        contest, printed = self.measure({"a": lambda: lambda: "wrong"}, {"ours": 10.0})
        self.assertEqual(contest.ratios, {"kind": [{"copy": 0.8}]})
        self.assertIn("a, kind: case: it is wrong", printed)
        with contextlib.redirect_stdout(io.StringIO()), self.assertRaisesRegex(SystemExit, "1 cases, first a, kind"):
            contest.finish()

    def test_a_result_that_cannot_be_checked_is_wrong(self):
        contest = peer_times.Contest(["a"])
        with mock.patch.dict(sys.modules, device_time=timed({("ours", 2): 10.0})), mock.patch.object(
            peer_times, "copy_us", lambda count: 1.0
        ), contextlib.redirect_stdout(io.StringIO()):
            contest.measure("kind", "case", 80, lambda: ("ours", 2), {"a": lambda: lambda: ("too few",)},
                            lambda results: None if len(list(zip(results, (1, 2), strict=True))) == 2 else "")
        self.assertIn("a, kind: case: ValueError", contest.errors[0])

    def test_a_refusal_is_reported(self):
        def refuse():
            raise peer_times.NotApplicableError("no such kernel")

        contest, _ = self.measure({"a": refuse, "b": lambda: lambda: "b"}, {"ours": 10.0, "b": 5.0})
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            contest.finish()
        self.assertIn("a refused 1 cases or has no kernel for them, first kind: case: NotApplicableError: no",
                      printed.getvalue())
        self.assertIn("kind, best peer: 1 cases, least 0.50", printed.getvalue())

    def test_a_wrong_result_of_ours_ends_the_program(self):
        with self.assertRaisesRegex(SystemExit, "kind: case: tmajit is wrong: it is wrong"):
            self.measure({}, {}, ours="wrong")

    def test_missing_peers_are_named(self):
        printed = io.StringIO()
        with mock.patch.dict(peer_times.MODULES, {"none": ("no_module_of_this_name",), "some": ("json",)}):
            with contextlib.redirect_stdout(printed):
                self.assertEqual(peer_times.found(["none", "some"]), ["some"])
        self.assertIn("none is not measured: ModuleNotFoundError", printed.getvalue())

    def test_distribution(self):
        text = peer_times.distribution([1.0] * 9 + [0.5, 2.0])
        self.assertEqual(text, "11 cases, least 0.50, tenth 1.00, median 1.00, ninetieth 1.00, greatest 2.00, "
                               "mean 1.00, at least 0.97 in 90 %")


if __name__ == "__main__":
    unittest.main()
