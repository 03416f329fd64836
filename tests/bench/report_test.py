"""The benchmark's summary of its numbers: ratios, means, targets, table and chart."""

import math
import unittest
import xml.etree.ElementTree as ElementTree

import paths  # noqa: F401
from peer_comparison import chart, contest, nest, results, table, targets


def measured(**medians):
    return {name: contest.summary([value]) for name, value in medians.items()}


def case(label="peers: (2,3)->(1,0) f32", moved=8000, **more):
    group, rest = label.split(": ")
    name, types = rest.rsplit(" ", 1)
    return {"label": label, "group": group, "name": name, "types": types, "bytes": moved,
            "sector_bytes": moved, "odd": False, "peers": "all", **more}


def table_of(ratio, types=("f32",), rows=targets.TABLE_ROWS):
    """A report in which tmajit is `ratio` times as fast as the best peer in every row of the table of peers."""
    return {
        "device": {"name": "Hopper"}, "versions": {"tmajit": "0"}, "peers": ["eager", "compile"],
        "rounds": 1, "seed": 1, "absent": {},
        "results": [
            case(f"peers: ({row},1)->(1,0) {t}",
                 microseconds=measured(tmajit=2.0, driver=1.9, eager=20.0, compile=2.0 * ratio))
            for t in types for row in range(rows)
        ],
    }


class Ratios(unittest.TestCase):
    def test_quantiles_are_interpolated_between_measurements(self):
        summary = contest.summary([4.0, 1.0, 2.0, 3.0])
        self.assertEqual(summary["median"], 2.5)
        self.assertEqual((summary["min"], summary["max"]), (1.0, 4.0))
        self.assertAlmostEqual(summary["spread"], 1.5 / 2.5)

    def test_bandwidth_counts_bytes_for_tmajit_and_sectors_for_the_driver(self):
        result = case(moved=6000, microseconds=measured(tmajit=2.0, driver=1.0))
        result["sector_bytes"] = 8000
        self.assertEqual(results.bandwidth(result, "tmajit"), 3.0)
        self.assertEqual(results.bandwidth(result, "driver"), 8.0)
        self.assertIsNone(results.bandwidth(result, "jax"))
        self.assertEqual(results.ratio_to_driver(result), 0.5)

    def test_the_best_peer_is_the_fastest_without_tmajit_and_the_driver(self):
        result = case(microseconds=measured(tmajit=2.0, driver=1.0, eager=9.0, jax=3.0))
        self.assertEqual(results.best_peer(result), ("jax", 3.0))
        self.assertEqual(results.ratio_to_best_peer(result), 1.5)
        self.assertIsNone(results.ratio_to_best_peer(case(microseconds=measured(tmajit=2.0, driver=1.0))))
        self.assertIsNone(results.ratio_to_best_peer(case()))

    def test_a_peer_that_times_itself_is_compared_with_tmajit_timed_alike(self):
        times = {**measured(tmajit=2.0, eager=3.2, jax=3.0), **measured(**{"tmajit by host": 1.5})}
        result = case(microseconds=times, by_host=["jax", "tmajit by host"])
        self.assertEqual(results.best_peer(result), ("eager", 3.2))  # 1.6 times as long; jax takes 2 times as long
        self.assertEqual(results.ratio_to_best_peer(result), 1.6)
        result["microseconds"]["tmajit by host"] = contest.summary([2.5])
        self.assertEqual(results.ratio_to_best_peer(result), 1.2)

    def test_geometric_mean(self):
        self.assertAlmostEqual(results.geometric_mean([1.0, 4.0]), 2.0)
        self.assertTrue(math.isclose(results.geometric_mean([3.0]), 3.0))
        self.assertIsNone(results.geometric_mean([]))


class Targets(unittest.TestCase):
    def find(self, report, part):
        return [target for target in targets.of(report)[0] if part in target["what"]]

    def test_mean_over_the_whole_table(self):
        mean = "geometric mean of the best peer"
        self.assertTrue(self.find(table_of(1.16), mean)[0]["met"])
        self.assertFalse(self.find(table_of(1.14), mean)[0]["met"])
        self.assertFalse(self.find(table_of(1.3, types=("u8",)), mean)[0]["met"])

    def test_a_part_of_the_table_gives_no_mean(self):
        report = table_of(1.3, rows=9)
        self.assertEqual(self.find(report, "geometric mean"), [])
        self.assertTrue(any("9 of 10" in text for text in targets.of(report)[1]))

    def test_each_row_must_beat_its_best_peer(self):
        report = table_of(1.2)
        report["results"][3]["microseconds"]["eager"] = contest.summary([1.9])
        lost = [target for target in self.find(report, "relative to the best peer (") if not target["met"]]
        self.assertEqual([target["what"] for target in lost],
                         ["peers: (3,1)->(1,0) f32, speed relative to the best peer (eager)"])

    def test_ratio_and_extra_time(self):
        report = table_of(1.2, rows=0)
        report["results"] = [
            case("1 GiB: a f32", min_ratio=0.95, microseconds=measured(tmajit=100.0, driver=94.0)),
            case("small: a f32", max_extra_us=0.3, microseconds=measured(tmajit=1.3, driver=1.05)),
            case("small: b f32", max_extra_us=0.3, microseconds=measured(tmajit=1.4, driver=1.05)),
            case("small: c f32", max_extra_us=0.3, errors={"tmajit": "no"}),
        ]
        found, unknown = targets.of(report)
        self.assertEqual([target["met"] for target in found], [False, True, False])
        self.assertIn("small: c f32", unknown)

    def test_odd_extents(self):
        report = table_of(1.2, rows=0)
        report["results"] = [case("odd: a u8", odd=True, microseconds=measured(tmajit=1.0, eager=1.7)),
                             case("odd: b u8", odd=True, microseconds=measured(tmajit=1.0, eager=1.4))]
        self.assertFalse(self.find(report, "odd extents u8")[0]["met"])
        report["results"][1]["microseconds"]["eager"] = contest.summary([1.6])
        self.assertTrue(self.find(report, "odd extents u8")[0]["met"])

    def test_planning_time_has_a_target(self):
        report = table_of(1.2)
        report["jit"] = {"first_ms": 90.0, "max_cold_ms": 60, "max_hot_us": 20,
                         "plans": [{"label": "p", "cold_ms": 59.0, "hot_us": 21.0, "choosing_us": 3.0}]}
        self.assertTrue(self.find(report, "cold plan")[0]["met"])
        self.assertFalse(self.find(report, "us of planning")[0]["met"])


class Text(unittest.TestCase):
    def test_a_row_has_every_contestant(self):
        report = table_of(1.5)
        row = table.row(report, report["results"][0])
        # 8000 bytes in 2, 1.9, 20 and 3 microseconds; ratios to the driver and the best peer.
        self.assertEqual(row.split()[3:], ["4", "4", "0", "3", "0.950", "1.50", "2.00"])
        self.assertEqual(len(row), table.header(report).rindex("us") + 2)
        step = {"kernel": "transpose", "choice": "transpose 64x64"}
        report["results"][0]["notes"] = {"tmajit": {"steps": [step, step]}}
        self.assertTrue(table.row(report, report["results"][0]).endswith("  transpose 64x64"))

    def test_a_missing_measurement_is_printed_as_a_dash(self):
        report = table_of(1.5)
        self.assertEqual(table.row(report, case()).split()[3:], ["-"] * 7)

    def test_a_row_ends_with_the_sector_bandwidth_if_it_differs(self):
        report = table_of(1.5)
        report["results"][0]["sector_bytes"] = 16000
        self.assertTrue(table.row(report, report["results"][0]).endswith("        8"))

    def test_failures_and_absences_are_named(self):
        report = table_of(1.1)
        report["absent"]["jax"] = "ImportError: none"
        for result in report["results"][:3]:
            result["errors"] = {"compile": "RuntimeError: no"}
        report["results"][4]["skipped"] = {"cupy": "no such function"}
        report["left_out"], report["why_left_out"] = 7, "--limit 1 s was over"
        text = table.whole(report)
        for part in ("no jax: ImportError: none", "cupy not measured: peers: (4,1)->(1,0) f32: no such function",
                     "compile failed: peers: (0,1)->(1,0) f32 and 2 more: RuntimeError: no", "7 cases left out",
                     "table of peers f32", "missed: table of peers f32"):
            self.assertIn(part, text)


class Chart(unittest.TestCase):
    def test_bars_of_every_row(self):
        picture = ElementTree.fromstring(chart.svg(table_of(1.25, types=("f32", "u8"))))
        bars = [node for node in picture.iter() if node.tag.endswith("rect") and "height" in node.attrib
                and node.get("height") == str(chart.BAR)]
        self.assertEqual(len(bars), 2 * targets.TABLE_ROWS * 3)
        words = [node.text for node in picture.iter() if node.tag.endswith("text")]
        self.assertIn("4 · 1.25×", words)
        self.assertIn("(3,1) → (1,0)", words)

    def test_without_the_table_there_is_no_chart(self):
        report = table_of(1.25)
        report["results"] = [case("map: 2a+1 f32", microseconds=measured(tmajit=1.0))]
        with self.assertRaises(ValueError):
            chart.svg(report)


class Nest(unittest.TestCase):
    def loops(self, shape, axes):
        return [(d.extent, d.source, d.destination) for d in nest.permutation_nest(shape, axes)]

    def test_transpose(self):
        self.assertEqual(self.loops([5, 7], [1, 0]), [(7, 1, 5), (5, 7, 1)])

    def test_dimensions_that_stay_adjacent_merge(self):
        self.assertEqual(self.loops([2, 3, 5, 7], [2, 3, 0, 1]), [(35, 1, 6), (6, 35, 1)])
        self.assertEqual(self.loops([2, 3, 5, 7], [0, 2, 1, 3]), [(2, 105, 105), (5, 7, 21), (3, 35, 7), (7, 1, 1)])

    def test_extents_of_one_vanish(self):
        self.assertEqual(self.loops([4, 1, 6], [1, 0, 2]), [(24, 1, 1)])
        self.assertEqual(self.loops([1, 1], [1, 0]), [])


if __name__ == "__main__":
    unittest.main()
