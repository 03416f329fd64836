"""run_blocks.py accepts right blocks and rejects wrong ones."""

import pathlib
import tempfile
import unittest

import run_blocks


class FirstMismatch(unittest.TestCase):
    def test_equal(self):
        self.assertIsNone(run_blocks.first_mismatch("a\nb\n", "a\nb\n"))

    def test_ellipsis_in_a_line(self):
        self.assertIsNone(run_blocks.first_mismatch("took … ms\n", "took 3.5 ms\n"))
        self.assertEqual(run_blocks.first_mismatch("took … ms\n", "took 3.5 s\n"), "took … ms")

    def test_ellipsis_of_lines(self):
        self.assertIsNone(run_blocks.first_mismatch("a\n…\nz\n", "a\nb\nc\nz\n"))
        self.assertIsNone(run_blocks.first_mismatch("…\nz\n…\n", "a\nz\nb\n"))
        self.assertEqual(run_blocks.first_mismatch("a\n…\nz\n", "a\nb\n"), "z")

    def test_more_than_expected(self):
        self.assertIsNotNone(run_blocks.first_mismatch("a\n", "a\nb\n"))

    def test_less_than_expected(self):
        self.assertEqual(run_blocks.first_mismatch("a\nb\n", "a\n"), "b")


class Check(unittest.TestCase):
    def check(self, markdown: str) -> int:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "file.cpp").write_text("int x;\n")
            document = folder / "page.md"
            document.write_text(markdown)
            return run_blocks.check(document, folder, folder, folder)

    def test_exit_status(self):
        self.assertEqual(self.check("```sh tested\ntrue\n```\n"), 0)
        self.assertEqual(self.check("```sh tested\nfalse\ntrue\n```\n"), 1)
        self.assertEqual(self.check("```sh tested exit=2\n(exit 2)\n```\n"), 0)

    def test_output(self):
        self.assertEqual(self.check("```sh tested\necho a\n```\n```text output\na\n```\n"), 0)
        self.assertEqual(self.check("```sh tested\necho a\n```\n```text output\nb\n```\n"), 1)

    def test_file(self):
        self.assertEqual(self.check("```cpp file=file.cpp\nint x;\n```\n"), 0)
        self.assertEqual(self.check("```cpp file=file.cpp\nint y;\n```\n"), 1)

    def test_part_of_a_file(self):
        with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as work:
            folder = pathlib.Path(name)
            (folder / "a.txt").write_text("if\n    x\n      y\n")
            document = folder / "page.md"
            for lines, wrong in (("x\n  y", 0), ("if\n    x", 0), ("x\ny", 1), ("if\n    y", 1)):
                document.write_text(f"```text from=a.txt\n{lines}\n```\n```sh tested\ncat a.txt\n```\n")
                self.assertEqual(run_blocks.check(document, folder, pathlib.Path(work), folder), wrong)

    def test_file_is_there_for_scripts(self):
        with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as work:
            folder = pathlib.Path(name)
            (folder / "a.txt").write_text("x\n")
            document = folder / "page.md"
            document.write_text("```text file=a.txt\nx\n```\n```sh tested\ncat a.txt\n```\n```text output\nx\n```\n")
            self.assertEqual(run_blocks.check(document, folder, pathlib.Path(work), folder), 0)

    def test_a_page_without_checked_blocks_fails(self):
        self.assertEqual(self.check("```sh\nfalse\n```\n"), 1)

    def test_an_unclosed_block_is_an_error(self):
        with self.assertRaises(ValueError):
            self.check("```sh tested\ntrue\n")


if __name__ == "__main__":
    unittest.main()
