"""The Python benchmark on the simulated device, with contestants that are right, wrong and broken."""

import io
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
import types
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

import paths  # noqa: F401
import peer_comparison
import peers
from peer_comparison import contest, earlier, run, warm
from peer_comparison.library import NAME, Library, TmajitError, find

SIZES = {"u8": 1, "bf16": 2, "f32": 4, "i32": 4, "f64": 8, "e4m3": 1}


class Array:
    """An array in the simulated device's memory."""

    def __init__(self, session, address, description):
        self.session, self.address = session, address
        self.shape, self.size = description["shape"], SIZES[description["type"]]
        self.count = self.size
        for extent in self.shape:
            self.count *= extent

    def read(self):
        """A dictionary from each element's index to its bytes."""
        data = self.session.read(self.address, self.count)
        indices = itertools.product(*map(range, self.shape))
        return {index: data[n * self.size:(n + 1) * self.size] for n, index in enumerate(indices)}

    def write(self, elements):
        self.session.write(self.address, b"".join(elements[i] for i in itertools.product(*map(range, self.shape))))


class SimMachine:
    """Replaces PyTorch: simulated memory, checks of permutations and slices, and times by the host's clock."""

    has_graphs = False
    stream = 0

    def __init__(self, session):
        self.session = session

    def fits(self, case):
        return case["group"] != "size"

    def reserve(self, cases):
        size = lambda key: max(case[key] for case in cases)
        self._source = self.session.allocate(size("source_bytes"))
        self._destination = self.session.allocate(size("destination_bytes"))

    def addresses(self):
        return self._destination, self._source

    def arrays(self, case):
        return ([Array(self.session, self._source + a["offset"], a) for a in case["sources"]],
                [Array(self.session, self._destination + a["offset"], a) for a in case["destinations"]])

    def fill(self, case, seed):
        words = (i * 2654435761 * seed >> 7 & 0xFF for i in range(case["source_bytes"]))
        self.session.write(self._source, bytes(words))

    def poison_destinations(self, case):
        self.session.write(self._destination, b"\xa5" * case["destination_bytes"])

    def reference(self, case, sources):
        source = sources[0].read()
        if case["operation"] == "permute":
            return [{tuple(i[a] for a in case["arguments"]["axes"]): value for i, value in source.items()}]
        starts = [part[0] for part in case["arguments"]["slices"]]
        steps = [part[2] for part in case["arguments"]["slices"]]
        shape = case["destinations"][0]["shape"]
        return [{i: source[tuple(s + n * t for s, n, t in zip(starts, i, steps))]
                 for i in itertools.product(*map(range, shape))}]

    def differs(self, case, results, reference, tolerance):
        return None if results[0].read() == reference[0] else "it is wrong"

    def reset_l2(self):
        pass

    def time(self, work):
        start = time.perf_counter()
        work()
        microseconds = 1e6 * (time.perf_counter() - start)
        return lambda: microseconds

    def synchronize(self):
        pass

    def require_alive(self):
        pass

    def release_cached_memory(self):
        pass


def right(machine):
    def make(case, sources, destinations):
        return contest.Entry("eager", lambda: destinations[0].write(machine.reference(case, sources)[0]),
                             lambda: destinations)

    return make


def wrong(case, sources, destinations):
    return contest.Entry("compile", lambda: None, lambda: destinations)


def broken(case, sources, destinations):
    raise MemoryError("not today")


def not_applicable(case, sources, destinations):
    raise contest.NotApplicable("no such function")


class Run(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.library = Library(find())
        cls.session = cls.library.open("sim", 1, True)
        cls.cases = cls.library.cases(1, True)

    @classmethod
    def tearDownClass(cls):
        cls.session.close()

    def measure(self, only, limit=None):
        machine = SimMachine(self.session)
        makers = {"eager": right(machine), "compile": wrong, "jax": broken, "cupy": not_applicable}
        report = {"results": []}
        options = types.SimpleNamespace(limit=limit, seed=3, rounds=2, start=time.monotonic())
        chosen = run.select(self.cases, only, False)
        self.assertTrue(chosen)
        run.run(self.session, machine, chosen, makers, options, report, lambda result: None)
        return report

    def test_a_wrong_or_broken_contestant_does_not_stop_the_others(self):
        report = self.measure(["peers: (16384,16384)->(1,0) ", "slice: [101:12101,67:12067] f32"])
        self.assertEqual(len(report["results"]), 5)
        for result in report["results"]:
            if result["types"] == "f64":  # measured without peers
                self.assertEqual(sorted(result["microseconds"]), ["driver", "tmajit"])
                continue
            self.assertEqual(sorted(result["microseconds"]), ["driver", "eager", "tmajit"])
            self.assertEqual(result["errors"], {"compile": "ValueError: it is wrong",
                                                "jax": "MemoryError: not today"})
            self.assertEqual(result["skipped"], {"cupy": "no such function"})
            self.assertEqual(len(result["microseconds"]["tmajit"]["samples"]), 2)
            self.assertTrue(result["notes"]["tmajit"]["steps"])

    def test_tmajit_is_timed_by_the_host_beside_a_peer_that_times_itself(self):
        machine = SimMachine(self.session)

        def by_host(case, sources, destinations):
            entry = right(machine)(case, sources, destinations)
            return contest.Entry("jax", entry.run, entry.results, sample=lambda: 5.0)

        index, case = run.select(self.cases, ["peers: (16384,16384)->(1,0) u8"], False)[0]
        machine.reserve([case])
        with mock.patch.object(contest, "HOST_SAMPLE_SECONDS", 0):
            result = run.measure_case(self.session, machine, index, case, [("jax", by_host)], 1, 2)
        self.assertEqual(sorted(result["microseconds"]), ["driver", "jax", "tmajit", "tmajit by host"])
        self.assertEqual(result["by_host"], ["jax", "tmajit by host"])
        self.assertEqual(result["errors"], {})

    def test_tmajit_with_trials_is_a_contestant_of_its_own(self):
        machine = SimMachine(self.session)
        options = types.SimpleNamespace(limit=None, seed=3, rounds=2, start=time.monotonic())
        report = {"results": []}
        chosen = run.select(self.cases, ["peers: (16384,16384)->(1,0) u8"], False)
        trying = self.library.open("sim", 1, True, improve=True)  # its device is another one here, with other memory
        trying.close()
        run.run(self.session, machine, chosen, {"eager": right(machine)}, options, report, lambda result: None, self.session)
        result = report["results"][0]
        self.assertEqual(sorted(result["microseconds"]), ["driver", "eager", "tmajit", "tmajit improved"])
        self.assertEqual(result["errors"], {})

    def test_cases_beyond_the_time_limit_are_left_out(self):
        report = self.measure(["peers: "], limit=1e-9)
        self.assertEqual(report["results"], [])
        self.assertEqual(report["left_out"], 40)

    def test_a_case_that_does_not_fit_into_memory_is_skipped(self):
        result = self.measure(["size: 64 MiB copy f32"])["results"][0]
        self.assertIn("all", result["skipped"])

    def test_a_case_without_a_reference_is_skipped(self):
        machine = SimMachine(self.session)
        machine.reference = lambda case, sources: not_applicable(case, sources, None)
        index, case = run.select(self.cases, ["peers: (16384,16384)->(1,0) u8"], False)[0]
        machine.reserve([case])
        result = run.measure_case(self.session, machine, index, case, [], 1, 1)
        self.assertEqual(result["skipped"], {"all": "no such function"})
        self.assertFalse(peers.failed({"results": [result]}))

    def test_a_wrong_result_of_tmajit_is_an_error(self):
        machine = SimMachine(self.session)
        machine.differs = lambda *_: "element 0 is wrong"
        index, case = run.select(self.cases, ["peers: (16384,16384)->(1,0) u8"], False)[0]
        machine.reserve([case])
        result = run.measure_case(self.session, machine, index, case, [], 1, 1)
        self.assertEqual(result["errors"], {"tmajit": "ValueError: element 0 is wrong"})
        self.assertTrue(peers.failed({"results": [result]}))


class Rounds(unittest.TestCase):
    """Rounds of contestants with given times."""

    class Machine:
        has_graphs = False

        def time(self, work):
            return work

        def reset_l2(self):
            pass

        synchronize = require_alive = reset_l2

    def race(self, rounds, **microseconds):
        entries = [contest.Entry(name, lambda value=value: value, list) for name, value in microseconds.items()]
        return contest.race(self.Machine(), entries, 1 << 30, rounds, ("tmajit", "driver"))

    def test_a_much_slower_peer_stops_after_two_rounds(self):
        timed = self.race(7, tmajit=10.0, driver=9.0, eager=37.0, jax=35.0)
        counts = {name: len(summary["samples"]) for name, summary in timed["microseconds"].items()}
        self.assertEqual(counts, {"tmajit": 7, "driver": 7, "eager": 2, "jax": 7})
        self.assertEqual(timed["stopped"], {"eager": 2})

    def test_tmajit_gets_every_round_however_slow_it_is(self):
        timed = self.race(5, tmajit=100.0, driver=9.0, eager=10.0)
        self.assertEqual(len(timed["microseconds"]["tmajit"]["samples"]), 5)
        self.assertEqual(timed["stopped"], {})

    def test_no_peer_stops_in_a_run_of_two_rounds(self):
        self.assertEqual(self.race(2, tmajit=1.0, eager=9.0)["stopped"], {})


class Ahead(unittest.TestCase):
    case = {"source_bytes": 1 << 30, "destination_bytes": 1 << 30, "peers": "all"}

    def test_the_number_of_processes_depends_on_processors_and_memory(self):
        many = [self.case] * 100
        self.assertEqual(warm.processes_for(many, 1 << 50, cpus=16), 14)
        self.assertEqual(warm.processes_for(many, 1 << 50, cpus=8), 6)
        self.assertEqual(warm.processes_for(many, 30 << 30, cpus=16), 4)
        self.assertEqual(warm.processes_for(many[:3], 1 << 50, cpus=16), 0)

    def test_only_peers_that_compile_have_cases_to_compile(self):
        chosen = [(0, self.case), (1, {**self.case, "peers": "eager"})]
        self.assertEqual(warm.cases_to_compile(chosen, ["eager", "triton"]), [self.case])
        self.assertEqual(warm.cases_to_compile(chosen, ["eager", "cutensor"]), [])

    def test_patience_ends_before_the_limit(self):
        self.assertEqual(warm.patience(600, 10, limit=100), 50)
        self.assertLess(warm.patience(20, 10), warm.patience(600, 10))


class Earlier(unittest.TestCase):
    chosen = [(n, {"label": str(n)}) for n in range(7)]

    def test_parts_are_disjoint_and_cover_all_cases(self):
        parts = [earlier.part_of(self.chosen, number, 3) for number in (1, 2, 3)]
        self.assertEqual(sorted(sum(parts, []), key=lambda pair: pair[0]), self.chosen)

    def test_a_resumed_run_measures_only_missing_and_failed_cases(self):
        old = {"seed": 1, "results": [{"label": "0"}, {"label": "3", "errors": {"jax": "no"}},
                                      {"label": "5", "errors": {"all": "no"}}]}
        self.assertEqual([index for index, _ in earlier.missing(self.chosen, old)], [1, 2, 4, 5, 6])
        self.assertEqual(earlier.missing(self.chosen, None), self.chosen)
        report = {"seed": 1, "results": []}
        earlier.continue_run(old, report)
        self.assertEqual([result["label"] for result in report["results"]], ["0", "3"])

    def test_a_run_cannot_resume_with_another_seed(self):
        with self.assertRaisesRegex(ValueError, "another seed"):
            earlier.continue_run({"seed": 2, "results": []}, {"seed": 1, "results": []})


class Cases(unittest.TestCase):
    def setUp(self):
        self.library = Library(find())

    def test_labels_are_unique(self):
        labels = [case["label"] for case in self.library.cases(1)]
        self.assertEqual(len(labels), len(set(labels)))

    def test_the_table_of_peers_is_whole(self):
        rows = [case for case in self.library.cases(1) if case["group"] == "peers"]
        for type_name in ("f32", "bf16", "u8", "f64"):
            self.assertEqual(sum(case["types"] == type_name for case in rows), 10)

    def test_random_permutations_follow_the_seed(self):
        names = lambda seed: [c["name"] for c in self.library.cases(seed) if c["group"] == "random"]
        self.assertEqual(names(7), names(7))
        self.assertNotEqual(names(7), names(8))

    def test_bytes(self):
        cases = {case["label"]: case for case in self.library.cases(1)}
        transpose = cases["peers: (16384,16384)->(1,0) f32"]
        self.assertEqual(transpose["bytes"], 2 << 30)
        self.assertEqual(transpose["sector_bytes"], transpose["bytes"])
        # Every second element of a row: whole sectors are read, though only half of their bytes are used.
        steps = cases["slice: [100:12100,64:12064:2] f32"]
        self.assertEqual(steps["bytes"], 2 * 12000 * 6000 * 4)
        self.assertEqual(steps["sector_bytes"], 12000 * (12000 + 6000) * 4)
        cast = cases["cast: 2.5a bf16->e4m3"]
        self.assertEqual(cast["bytes"], (1 << 30) + (1 << 29))

    def test_errors_of_the_library_have_code_and_message(self):
        with self.assertRaises(TmajitError) as caught:
            self.library.open("toaster")
        self.assertEqual(caught.exception.code, "invalid_argument")
        self.assertIn("toaster", str(caught.exception))


class CommandLine(unittest.TestCase):
    def call(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            try:
                status = peers.main(list(arguments))
            except SystemExit as end:
                status = end.code
        return status, out.getvalue(), err.getvalue()

    def test_list_prints_the_chosen_cases(self):
        status, out, _ = self.call("--list", "--only", "peers: ")
        self.assertEqual((status, len(out.splitlines())), (0, 40))

    def test_wrong_usage(self):
        self.assertEqual(self.call("--peers", "numpy")[0], 2)
        self.assertEqual(self.call("--rounds", "0")[0], 2)
        self.assertEqual(self.call("--resume")[0], 2)
        self.assertEqual(self.call("--random-views")[0], 2)
        for part in ("0/3", "4/3", "1", "a/b"):
            self.assertEqual(self.call("--part", part)[0], 2)

    def test_random_cases_in_parts(self):
        lists = [self.call("--list", "--random", "5", *part)[1].splitlines()
                 for part in ([], ["--part", "1/2"], ["--part", "2/2"])]
        self.assertEqual((len(lists[0]), len(lists[1])), (15, 8))
        self.assertEqual(sorted(lists[0]), sorted(lists[1] + lists[2]))
        self.assertEqual(peers.parse(["--random", "5"]).rounds, 7)
        self.assertEqual(len(self.call("--list", "--random", "5", "--random-views")[1].splitlines()), 30)

    def test_earlier_results(self):
        from report_test import table_of
        with tempfile.TemporaryDirectory() as folder:
            earlier, picture = Path(folder) / "a.json", Path(folder) / "a.svg"
            earlier.write_text(json.dumps(table_of(1.01)))
            status, out, _ = self.call("--from", str(earlier), "--svg", str(picture), "--targets")
            self.assertEqual(status, 1)
            self.assertIn("missed", out)
            self.assertTrue(picture.read_text().startswith("<svg"))

    def test_earlier_results_of_some_peers(self):
        from report_test import table_of
        with tempfile.TemporaryDirectory() as folder:
            earlier = Path(folder) / "a.json"
            report = table_of(1.01)
            for row in report["results"]:
                row["microseconds"]["triton"] = {**row["microseconds"]["tmajit"], "median": 1e-3}
            earlier.write_text(json.dumps(report))
            self.assertIn("relative to the best peer (triton)", self.call("--from", str(earlier))[1])
            self.assertNotIn("triton", self.call("--from", str(earlier), "--peers", "eager,compile,jax")[1])

    def test_results_of_the_program(self):
        program = Path(find()).with_name("tmajit-movement")
        with tempfile.TemporaryDirectory() as folder:
            results = Path(folder) / "a.json"
            subprocess.run([program, "--device", "sim", "--tiny", "--rounds", "1", "--only", "->(1,0) u8",
                            "--json", results], check=True, stdout=subprocess.DEVNULL)
            status, out, _ = self.call("--from", str(results))
            self.assertEqual(status, 0)
            self.assertIn("peers: (16384,16384)->(1,0) u8", out)
            self.assertIn("simulated Hopper", out)

    def test_a_missing_library_is_an_error(self):
        with self.assertRaises(TmajitError):
            peers.main(["--list", "--library", os.path.join(os.sep, "nowhere", NAME)])


class Measured(unittest.TestCase):
    """peers.py from its arguments to its files, with a simulated device in place of PyTorch."""

    def run_peers(self, *arguments):
        library = Library(find())
        session = library.open("sim", 1, True, 3)
        stand_in = types.ModuleType("peer_comparison.torch_machine")
        stand_in.why_not, stand_in.ordinal, stand_in.free_bytes = lambda: None, lambda: 0, lambda: 1 << 40
        stand_in.TorchMachine = lambda: SimMachine(session)
        few_cases = mock.Mock(cases=lambda seed, **_: library.cases(seed, True, 3), open=lambda *_, **__: session)
        makers = ({"eager": right(SimMachine(session))}, {"PyTorch": "0"}, {"jax": "none here"})
        with mock.patch.dict(sys.modules, {"peer_comparison.torch_machine": stand_in}), \
                mock.patch.object(peer_comparison, "torch_machine", stand_in, create=True), \
                mock.patch.object(peers, "Library", lambda path: few_cases), \
                mock.patch.object(peers, "load_peers", lambda names: makers):
            status, out, err = CommandLine.call(self, "--random", "3", "--rounds", "1", "--warm", "0", *arguments)
        session.close()
        return status, out, err

    def test_a_run_can_be_done_in_parts_and_resumed(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "a.json"
            read_report = lambda: json.loads(file.read_text())
            status, out, _ = self.run_peers("--part", "1/2", "--resume", "--json", str(file))
            self.assertEqual((status, len(read_report()["results"])), (0, 5))
            self.assertIn("no jax: none here", out)
            first = read_report()["results"]
            status, out, _ = self.run_peers("--resume", "--json", str(file), "--svg", str(Path(folder) / "a.svg"))
            self.assertEqual((status, len(read_report()["results"])), (0, 9))
            self.assertEqual(read_report()["results"][:5], first)
            self.assertEqual(read_report()["distribution"]["best"][-1]["cases"], 9)
            self.assertEqual(sorted(read_report()["results"][8]["microseconds"]), ["driver", "eager", "tmajit"])
            with self.assertRaisesRegex(TmajitError, "another seed"):
                self.run_peers("--resume", "--json", str(file), "--seed", "2")
            self.assertEqual(len(read_report()["results"]), 9)


if __name__ == "__main__":
    unittest.main()
