"""The run of the Python side, on the simulated device: contestants that are right, wrong and broken."""

import io
import itertools
import json
import os
import subprocess
import tempfile
import time
import types
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import paths  # noqa: F401
import peers
from beside import contest, run
from beside.library import NAME, Library, TmajitError, find

SIZES = {"u8": 1, "bf16": 2, "f32": 4, "i32": 4, "f64": 8, "e4m3": 1}


class Array:
    """An array in the simulated device's memory."""

    def __init__(self, session, address, told):
        self.session, self.address = session, address
        self.shape, self.size = told["shape"], SIZES[told["type"]]
        self.count = self.size
        for extent in self.shape:
            self.count *= extent

    def read(self):
        """{index: bytes of the element}."""
        data = self.session.read(self.address, self.count)
        indices = itertools.product(*map(range, self.shape))
        return {index: data[n * self.size:(n + 1) * self.size] for n, index in enumerate(indices)}

    def write(self, elements):
        self.session.write(self.address, b"".join(elements[i] for i in itertools.product(*map(range, self.shape))))


class SimMachine:
    """Stands in for PyTorch: memory and checks of permutations and slices, the host's clock."""

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

    def forget(self, case):
        self.session.write(self._destination, b"\xa5" * case["destination_bytes"])

    def reference(self, case, sources):
        source = sources[0].read()
        if case["operation"] == "permute":
            return [{tuple(i[a] for a in case["axes"]): value for i, value in source.items()}]
        starts = [part[0] for part in case["slices"]]
        steps = [part[2] for part in case["slices"]]
        shape = case["destinations"][0]["shape"]
        return [{i: source[tuple(s + n * t for s, n, t in zip(starts, i, steps))]
                 for i in itertools.product(*map(range, shape))}]

    def differs(self, case, results, reference, tolerance):
        return None if results[0].read() == reference[0] else "it is wrong"

    def space(self):
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

    def relax(self):
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


def elsewhere(case, sources, destinations):
    raise contest.NotApplicable("has none")


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
        makers = {"eager": right(machine), "compile": wrong, "jax": broken, "cupy": elsewhere}
        report = {"results": []}
        options = types.SimpleNamespace(limit=limit, seed=3, rounds=2)
        chosen = run.select(self.cases, only, False)
        self.assertTrue(chosen)
        run.run(self.session, machine, chosen, makers, options, report, lambda result: None)
        return report

    def test_contestants_do_not_disturb_each_other(self):
        report = self.measure(["peers: (16384,16384)->(1,0) ", "slice: [101:12101,67:12067] f32"])
        self.assertEqual(len(report["results"]), 5)
        for result in report["results"]:
            if result["types"] == "f64":  # measured without peers
                self.assertEqual(sorted(result["microseconds"]), ["driver", "tmajit"])
                continue
            self.assertEqual(sorted(result["microseconds"]), ["driver", "eager", "tmajit"])
            self.assertEqual(result["errors"], {"compile": "ValueError: it is wrong",
                                                "jax": "MemoryError: not today"})
            self.assertEqual(result["skipped"], {"cupy": "has none"})
            self.assertEqual(len(result["microseconds"]["tmajit"]["samples"]), 2)
            self.assertTrue(result["notes"]["tmajit"]["steps"])

    def test_the_limit_leaves_cases_out(self):
        report = self.measure(["peers: "], limit=1e-9)
        self.assertEqual(report["results"], [])
        self.assertEqual(report["left_out"], 40)

    def test_what_does_not_fit_is_said(self):
        result = self.measure(["size: 64 MiB copy f32"])["results"][0]
        self.assertIn("all", result["skipped"])

    def test_a_wrong_result_of_ours_is_an_error(self):
        machine = SimMachine(self.session)
        machine.differs = lambda *_: "element 0 is wrong"
        index, case = run.select(self.cases, ["peers: (16384,16384)->(1,0) u8"], False)[0]
        machine.reserve([case])
        result = run.measure_case(self.session, machine, index, case, [], 1, 1)
        self.assertEqual(result["errors"], {"tmajit": "ValueError: element 0 is wrong"})
        self.assertTrue(peers.failed({"results": [result]}))


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
        # Every second element of a row: whole sectors are read for half of what is in them.
        steps = cases["slice: [100:12100,64:12064:2] f32"]
        self.assertEqual(steps["bytes"], 2 * 12000 * 6000 * 4)
        self.assertEqual(steps["sector_bytes"], 12000 * (12000 + 6000) * 4)
        cast = cases["cast: 2.5a bf16->e4m3"]
        self.assertEqual(cast["bytes"], (1 << 30) + (1 << 29))

    def test_errors_are_told(self):
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

    def test_list(self):
        status, out, _ = self.call("--list", "--only", "peers: ")
        self.assertEqual((status, len(out.splitlines())), (0, 40))

    def test_wrong_usage(self):
        self.assertEqual(self.call("--peers", "numpy")[0], 2)
        self.assertEqual(self.call("--rounds", "0")[0], 2)

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
            self.assertIn("of the best peer (triton)", self.call("--from", str(earlier))[1])
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

    def test_a_library_that_is_not_there(self):
        with self.assertRaises(TmajitError):
            peers.main(["--list", "--library", os.path.join(os.sep, "nowhere", NAME)])


if __name__ == "__main__":
    unittest.main()
