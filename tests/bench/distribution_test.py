"""Statistics of random cases: the distribution of ratios, the worst cases, targets and the chart."""

import json
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import paths  # noqa: F401
import run_test
from peer_comparison import distribution, distribution_chart, results, table, targets
from peer_comparison.library import find
from report_test import case, measured


def random_report(ratios, group="random permutation", types="f32", copy=0.95, operation="permute", **more):
    """A report with one case for each ratio of tmajit's speed to the best peer's. The best peer takes 20 us."""
    results = [case(f"{group}: case {n} {types}", operation=operation,
                    microseconds=measured(tmajit=20 / ratio, driver=20 / ratio * copy, jax=20.0, compile=25.0))
               for n, ratio in enumerate(ratios)]
    return {"device": {"name": "Hopper"}, "versions": {"tmajit": "0"}, "peers": ["compile", "jax"], "rounds": 7,
            "seed": 3, "random": len(ratios), "absent": {}, "results": results, **more}


class Statistics(unittest.TestCase):
    def test_percentiles_of_a_hundred_ratios(self):
        row = distribution.statistics([n / 100 for n in range(200, 99, -1)])
        self.assertEqual((row["cases"], row["least"]), (101, 1.0))
        self.assertAlmostEqual(row["percent_1"], 1.01)
        self.assertAlmostEqual(row["percent_10"], 1.1)
        self.assertAlmostEqual(row["median"], 1.5)

    def test_shares_of_ratios_below_the_limits(self):
        row = distribution.statistics([0.5, 0.95, 0.97, 2.0])
        self.assertEqual((row["below_0.97"], row["below_0.90"]), (0.5, 0.25))

    def test_permutations_have_a_row_for_each_type_and_casts_a_single_row(self):
        report = random_report([1.0, 2.0])
        report["results"] += random_report([4.0], types="u8")["results"]
        report["results"] += random_report([1.5], "random cast", "u8->f32", operation="cast")["results"]
        report["results"] += random_report([3.0], "random cast", "f32->u8", operation="cast")["results"]
        rows = {(row["group"], row["types"]): row for row in distribution.of(report)["best"]}
        self.assertEqual({key: row["cases"] for key, row in rows.items()},
                         {("random permutation", "f32"): 2, ("random permutation", "u8"): 1,
                          ("random permutation", "all"): 3, ("random cast", "any"): 2})
        self.assertAlmostEqual(rows["random permutation", "all"]["geometric_mean"], 2.0)

    def test_the_worst_come_first_with_their_peer_and_kernels(self):
        report = random_report([1 + n / 10 for n in range(20)])
        report["results"][7]["microseconds"]["tmajit"] = measured(tmajit=40.0)["tmajit"]
        report["results"][7]["notes"] = {"tmajit": {"steps": [{"kernel": "rows", "choice": "rows 1x4096"}]}}
        found = distribution.worst(report)
        self.assertEqual(len(found), distribution.WORST)
        self.assertEqual(found[0], {"label": "random permutation: case 7 f32", "ratio": 0.5, "peer": "jax",
                                    "kernels": "rows 1x4096"})

    def test_the_printed_summary_has_means_worst_cases_and_missed_targets(self):
        text = table.whole(random_report([0.8, 1.2]))
        for part in ("Ours to the best peer", "Ours to the driver's copy", "50.0 %", "Least ratios to the best peer",
                     "0.800 jax", "missed: random permutations, least of the best peer: 0.800"):
            self.assertIn(part, text)
        self.assertNotIn("table of peers", text)

    def test_cases_without_times_do_not_count(self):
        report = random_report([1.2, 1.3])
        report["results"][0] = case("random permutation: x f32", operation="permute", errors={"all": "no"})
        self.assertEqual(distribution.of(report)["best"][0]["cases"], 1)
        report["results"] = report["results"][:1]
        self.assertEqual(distribution.of(report), {"best": [], "driver": [], "worst": []})
        self.assertIn("not measured: random permutations relative to the best peer", table.whole(report))


class Targets(unittest.TestCase):
    def missed(self, report):
        return [target["what"] for target in targets.of(report)[0] if not target["met"]]

    def test_all_met(self):
        self.assertEqual(self.missed(random_report([1.2] * 100)), [])
        self.assertEqual(self.missed(random_report([1.2] * 98 + [0.95, 1.3], group="random pad")), [])

    def test_one_in_a_hundred_may_be_slower_but_not_by_much(self):
        self.assertEqual(self.missed(random_report([1.2] * 99 + [0.91])), [])
        self.assertEqual(self.missed(random_report([1.2] * 98 + [0.91] * 2)),
                         ["random permutations, share of 0.97 of the best peer"])
        self.assertEqual(self.missed(random_report([1.2] * 99 + [0.89])),
                         ["random permutations, least of the best peer"])

    def test_some_types_have_a_target_for_their_mean(self):
        self.assertEqual(self.missed(random_report([1.2] * 9, types="u8")),
                         ["random permutations u8, geometric mean of the best peer"])
        self.assertEqual(self.missed(random_report([1.2] * 9, types="bf16", copy=0.8)),
                         ["random permutations bf16, geometric mean of the driver's copy"])
        self.assertEqual(self.missed(random_report([1.2] * 9, types="u8", copy=0.5, group="random flip")), [])

    def test_views_have_their_own_targets(self):
        self.assertEqual(self.missed(random_report([1.2] * 96 + [0.5] * 4, group="random map")),
                         ["random views, share of 0.97 of the best peer"])
        self.assertEqual(self.missed(random_report([1.0] * 10, group="random map")),
                         ["random views, geometric mean of the best peer"])

    def test_scans_and_reductions_have_their_own_targets(self):
        self.assertEqual(self.missed(random_report([1.2] * 8 + [0.99] * 2, group="random scan")),
                         ["random scans, share of 1 of the best peer"])
        self.assertEqual(self.missed(random_report([1.2] * 9 + [0.99], group="random scan")), [])
        self.assertEqual(self.missed(random_report([1.0] * 10, group="random reduction")),
                         ["random reductions, geometric mean of the best peer"])


class Chart(unittest.TestCase):
    def test_the_chart_has_a_line_for_each_type_and_measure(self):
        report = random_report([0.4, 1.0, 9.0])
        report["results"] += random_report([2.0, 1.5], types="u8->f32")["results"]
        picture = ElementTree.fromstring(distribution_chart.svg(report))
        lines = [node for node in picture.iter() if node.tag.endswith("polyline")]
        self.assertEqual([len(line.get("points").split()) for line in lines], [3, 2, 3, 2])
        heights = [float(point.split(",")[1]) for point in lines[0].get("points").split()]
        self.assertEqual(heights, sorted(heights, reverse=True))
        self.assertTrue(all(distribution_chart.TOP <= y <= distribution_chart.TOP + distribution_chart.HEIGHT
                            for y in heights))

    def test_nothing_measured(self):
        with self.assertRaises(ValueError):
            distribution_chart.svg(random_report([]))


class Shown(unittest.TestCase):
    def test_the_cpp_program_computes_the_same_statistics(self):
        program = Path(find()).with_name("tmajit-movement")
        for which, groups in ((["--random", "4", "--random-views"], 6), (["--random", "4"], 1),
                              (["--casts", "--only", "->u8"], 1)):
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "a.json"
                subprocess.run([program, "--device", "sim", "--tiny", *which, "--rounds", "1", "--json", file],
                               check=True, stdout=subprocess.DEVNULL)
                report = json.loads(file.read_text())
            from_cpp, from_python = ({(row.pop("group"), row.pop("types")): row for row in rows}
                            for rows in (report["distribution"]["driver"], distribution.of(report)["driver"]))
            self.assertEqual(len({group for group, _ in from_python}), groups)
            self.assertEqual(from_cpp.keys(), from_python.keys())
            for key, row in from_python.items():
                self.assertEqual(from_cpp[key].keys(), row.keys())
                for name in row:
                    self.assertAlmostEqual(from_cpp[key][name], row[name], places=12)
            lowest = sorted(report["results"], key=results.ratio_to_driver)[:distribution.WORST]
            self.assertEqual([row["label"] for row in report["distribution"]["worst"]],
                             [result["label"] for result in lowest])

    def test_statistics_are_computed_from_an_earlier_report(self):
        with tempfile.TemporaryDirectory() as folder:
            earlier, later, picture = (Path(folder) / name for name in ("a.json", "b.json", "a.svg"))
            earlier.write_text(json.dumps(random_report([1.3] * 20)))
            call = run_test.CommandLine.call.__get__(self)
            status, out, _ = call("--from", str(earlier), "--json", str(later), "--svg", str(picture), "--targets")
            self.assertEqual(status, 0)
            self.assertIn("Ours to the best peer", out)
            self.assertEqual(json.loads(later.read_text())["distribution"]["best"][0]["cases"], 20)
            self.assertIn("<polyline", picture.read_text())


if __name__ == "__main__":
    unittest.main()
