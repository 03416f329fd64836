"""fit.py recovers the cost model's constants from times that the model itself predicted with changed constants."""
import contextlib
import io
import json
import math
import sys
import tempfile
import unittest
from pathlib import Path

import paths  # noqa: F401  (finds fit.py)
import fit
from peer_comparison.library import Library, find

CHIP = {"name": "made up", "gbps": 4000, "sm_count": 132}
SEED, RANDOM = 11, 8  # random permutations of each type


def constants():
    found = {name: float(value) for name, value, _ in fit.CONSTANT.findall(fit.HEADER.read_text())}
    return {name: value for name, value in found.items() if name not in fit.FIXED}


class Fit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.library = Library(find())
        cls.session = cls.library.open("sim", SEED, random=RANDOM)
        cls.cases = cls.library.cases(SEED, random=RANDOM)

    @classmethod
    def tearDownClass(cls):
        cls.session.close()

    def document(self, true):
        """A report in which each candidate takes the time that the model predicts with the constants `true`."""
        results = [{"label": case["label"], "type": "f32", "shape": [n + 2, 64], "axes": [1, 0],
                    "candidates": self.session.predict(n, CHIP, true)} for n, case in enumerate(self.cases)]
        return {"chip": CHIP, "seed": SEED, "random": RANDOM, "views": False, "results": results}

    def run_fit(self, content, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            header = Path(folder) / "chip.hpp"
            header.write_text(fit.HEADER.read_text())
            measured = Path(folder) / "measured.json"
            measured.write_text(json.dumps(content))
            records = Path(folder) / "kept.json"
            output = io.StringIO()
            before = sys.argv
            sys.argv = ["fit.py", str(measured), "--header", str(header), "--keep", str(records), *arguments]
            try:
                with contextlib.redirect_stdout(output):
                    fit.main()
            finally:
                sys.argv = before
            found = {name: float(value) for name, value, _ in fit.CONSTANT.findall(header.read_text())}
            return found, output.getvalue(), json.loads(records.read_text())

    def test_recovers_the_constants_that_the_times_were_made_with(self):
        true = constants()
        for name, times in (("peak_fraction", 0.8), ("latency_us", 1.6), ("line", 1.5), ("written_piece_cached", 2.5)):
            true[name] *= times
        found, output, records = self.run_fit(self.document(true), "--write")
        for name in ("peak_fraction", "line"):
            self.assertLess(abs(math.log(found[name] / true[name])), 0.1, name)
        self.assertIn("100.0 % within 3 %", output)
        self.assertEqual(len(records), len(self.cases))
        self.assertEqual(records[3]["shape"], [5, 64])
        self.assertGreater(len(records[3]["us"]), 1)

    def test_changes_the_header_only_with_write(self):
        found, _, _ = self.run_fit(self.document({name: 1.3 * value for name, value in constants().items()}))
        self.assertEqual({**found, **constants()}, found)

    def test_an_unknown_constant_is_refused(self):
        with self.assertRaisesRegex(Exception, 'no cost is called "of_peek"'):
            self.session.predict(0, CHIP, {"of_peek": 1})

    def test_a_report_without_measurements_is_refused(self):
        content = self.document(constants())
        for result in content["results"]:
            for one in result["candidates"]:
                one["us"] = None
        with self.assertRaisesRegex(SystemExit, "no case of these files was measured"):
            self.run_fit(content)


if __name__ == "__main__":
    unittest.main()
