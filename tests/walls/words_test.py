#!/usr/bin/env python3
"""Tests that tests/walls/words.py finds the phrases that it forbids, and nothing in comments of good English."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parent / "words.py"


def found(*lines: str, name: str = "text.cpp") -> list[int]:
    """The numbers of the lines that the check reports."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / name
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        done = subprocess.run([sys.executable, CHECK, path], capture_output=True, text=True, check=False)
    numbers = [int(line.removeprefix(f"{path}:").split(":")[0]) for line in done.stdout.splitlines()]
    assert done.returncode == (1 if numbers else 0), done.stderr
    return numbers


class Words(unittest.TestCase):
    def test_finds_detached_beginnings(self):
        self.assertEqual(found("/// Of a kernel the name.", "int a;  ///< What it is.", "// Who waits goes on."), [1, 2, 3])
        self.assertEqual(found("// Kernels are kept. What is left goes."), [1])

    def test_finds_vague_words(self):
        self.assertEqual(found("int a;  // that nobody reads", "// Throws likewise."), [1, 2])

    def test_accepts_good_comments_strings_and_second_lines(self):
        self.assertEqual(found("// The number of tiles", "// Of a row this is the length.", 'const char* a = "Of // nobody";'), [])
        self.assertEqual(found("int of;  ///< of a CTA", "// The least of them."), [])

    def test_reads_pages_without_their_code(self):
        page = ["## What is left", "", "Of three kernels one is slow.", "It is one", "Of them.", "```sh", "Of course", "```", "- Who waits"]
        self.assertEqual(found(*page, name="page.md"), [1, 3, 9])


if __name__ == "__main__":
    unittest.main()
