"""fit.py: it finds the constants that made-up measurements were made by, and notices arithmetic that is not the
library's."""
import contextlib
import io
import json
import math
import random
import sys
import tempfile
import unittest
from pathlib import Path

import paths  # noqa: F401  (finds fit.py)
import fit

SETTING = {"name": "made up", "gbps": 4000, "sm_count": 132}


def constants():
    return {name: float(value) for name, value in fit.CONSTANT.findall(fit.HEADER.read_text())}


def candidate(rng, number, moved, true):
    waves = rng.uniform(0.5, 40)
    ctas = math.ceil(waves * 132 * 4)
    side = {"bytes": moved / 2, "beside": rng.uniform(0, 0.5) * moved, "runs": moved / 2 / rng.choice([64, 128, 256])}
    work = {name: 0.0 for name in ("load", "word", "permute", "block", "vector", "shift", "end", "flat_load", "flat_word",
                                   "flat_line", "flat_entry", "linear_word", "linear_digit", "linear_element", "linear_line", "image_unit", "chunk", "element", "image_chunk", "thread")}
    work["load"] = rng.uniform(0, 20) * moved
    work["thread"] = 256.0 * ctas
    prediction = {"read": side, "written": dict(side, beside=0), "work": work, "ctas": ctas, "waves": waves,
                  "uneven": math.ceil(ctas / 132) * 132 / ctas, "warps": 32, "rounds": rng.randint(1, 3),
                  "passes": rng.randint(0, 16), "in_flight": rng.choice([16384, 65536, 131072]), "by_engine": False}
    prediction["us"] = fit.predict(constants(), prediction, SETTING)
    return {"choice": f"kernel {number}", "family": "transpose", "common": True, "usual": number == 0,
            "prediction": prediction, "us": fit.predict(true, prediction, SETTING)}


def document(true, seed=1):
    rng = random.Random(seed)
    results = []
    for n in range(30):
        moved = 2.0**rng.uniform(24, 30)
        results.append({"label": f"case {n}", "type": "f32", "shape": [n + 2, 64], "axes": [1, 0],
                        "candidates": [candidate(rng, k, moved, true) for k in range(8)]})
    return {"chip": SETTING, "results": results}


class Fit(unittest.TestCase):
    def run_fit(self, content, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            header = Path(folder) / "cost_constants.hpp"
            header.write_text(fit.HEADER.read_text())
            measured = Path(folder) / "measured.json"
            measured.write_text(json.dumps(content))
            kept = Path(folder) / "kept.json"
            output = io.StringIO()
            before = sys.argv
            sys.argv = ["fit.py", str(measured), "--header", str(header), "--keep", str(kept), *arguments]
            try:
                with contextlib.redirect_stdout(output):
                    fit.main()
            finally:
                sys.argv = before
            found = {name: float(value) for name, value in fit.CONSTANT.findall(header.read_text())}
            return found, output.getvalue(), json.loads(kept.read_text())

    def test_finds_the_constants_behind_measurements(self):
        true = dict(constants())
        for name, times in (("of_peak", 0.8), ("latency_us", 1.6), ("load", 1.5), ("written_run", 2.5)):
            true[name] *= times
        found, output, kept = self.run_fit(document(true), "--write")
        for name in ("of_peak", "load"):
            self.assertLess(abs(math.log(found[name] / true[name])), 0.1, name)
        self.assertIn("100.0 % within 3 %", output)
        self.assertEqual(len(kept), 30)
        self.assertEqual(kept[3]["shape"], [5, 64])
        self.assertEqual(len(kept[3]["us"]), 8)

    def test_leaves_the_header_alone_unless_told(self):
        found, _, _ = self.run_fit(document({name: 1.3 * value for name, value in constants().items()}))
        self.assertEqual(found, constants())

    def test_other_arithmetic_is_noticed(self):
        content = document(constants())
        content["results"][7]["candidates"][2]["prediction"]["us"] *= 1.001
        with self.assertRaisesRegex(SystemExit, "arithmetic and the library's differ"):
            self.run_fit(content)

    def test_nothing_measured(self):
        content = document(constants())
        for result in content["results"]:
            for one in result["candidates"]:
                one["us"] = None
        with self.assertRaisesRegex(SystemExit, "no case of these files was measured"):
            self.run_fit(content)


if __name__ == "__main__":
    unittest.main()
